package notices

import (
	"context"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
)

// ringing rings the terminal's bell.
type ringing struct {
	silent
	printer *terminal.Printer
}

func bell(p Person) (channel, error) { return ringing{printer: p.Printer}, nil }

func (b ringing) told(context.Context, *supervisor.Question) { b.printer.Bell() }
func (b ringing) parked(*supervisor.Question)                { b.printer.Bell() }

func (b ringing) left(end *ending) {
	if end != nil {
		b.printer.Bell()
	}
}
