package terminal

// Marks has the terminal's title say that something is asked (OSC 0), and its tab or task bar show it (OSC 9;4), for as
// long as that is. Both have words of ours alone. It does nothing where questions are not drawn in place. It is called
// before Run.
func (p *Prompter) Marks(on bool) { p.marks = on }

// The titles of terminals lie on a stack, of which a terminal that has none knows only the title that is set last.
const (
	keepTitle = "\x1b[22;2t"
	backTitle = "\x1b[23;2t"
	askMark   = "\x1b]9;4;4;100\x1b\\" // in the colour of what waits
	noMark    = "\x1b]9;4;0\x1b\\"
	askTitle  = "\x1b]0;? claude-supervise asks\x1b\\"
	restTitle = "\x1b]0;claude-supervise\x1b\\"
)

// mark has the terminal show whether something is asked.
func (a *promptState) mark(asks bool) {
	if !a.marks || a.styles == nil || a.marked == asks {
		return
	}
	a.marked = asks
	if asks {
		a.out.aside(keepTitle + askTitle + askMark)
		return
	}
	a.out.aside(noMark + restTitle + backTitle)
}

// aside writes to the terminal what moves nothing on it.
func (p *Printer) aside(sequence string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.enqueue(piece{prompted, sequence})
}
