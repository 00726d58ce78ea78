package terminal

// Bell rings the terminal's bell, if stderr is one. It moves nothing on the screen.
func (p *Printer) Bell() {
	if p.err.terminal == nil {
		return
	}
	p.aside("\a")
}
