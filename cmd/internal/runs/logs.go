package runs

import (
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

// A LogForm is in which form the lines of a log are printed: as the agent printed them, as JSON, or else in words.
type LogForm struct{ Raw, AsJSON bool }

// Print prints a line of the log.
func (f LogForm) Print(p *terminal.Printer, l view.LogLine) error {
	switch {
	case f.Raw && l.Line == nil:
		return nil
	case f.Raw:
		return p.Raw(l.Line)
	case f.AsJSON:
		for _, r := range l.Remarks() {
			if err := p.JSON(r); err != nil {
				return err
			}
		}
		return nil
	}
	for _, text := range l.Said() {
		if err := p.Result(text); err != nil {
			return err
		}
	}
	return nil
}
