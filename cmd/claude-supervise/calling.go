package main

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"claude-supervise/cmd/claude-supervise/internal/notify"
	"claude-supervise/cmd/claude-supervise/internal/terminal"
	"claude-supervise/supervisor"
)

// A caller calls a person who may be looking elsewhere: by the terminal's wake-up socket, on the desktop, and by the
// command of --notify. The zero caller calls nobody.
type caller struct {
	on      bool
	banner  []string // the command that shows a banner; nil: there is no desktop
	broken  atomic.Bool
	printer *terminal.Printer
	log     zerolog.Logger
}

// newCaller makes the caller of a session. On the desktop it calls for a run that is somebody's at a terminal, or was
// detached from there; never for one in a pipe.
func newCaller(off bool, self string, p *terminal.Printer, log zerolog.Logger) *caller {
	c := &caller{on: !off, printer: p, log: log}
	if c.on && (terminal.IsTerminal(os.Stderr) || inBackground()) && notify.HasDesktop(os.Getenv) {
		c.banner = []string{self, bannerCommand}
	}
	return c
}

// bannerPatience is how long a desktop may take to show a banner: the next question is told of only then.
const bannerPatience = 5 * time.Second

// call tells of a question. A desktop that fails or hangs is not tried again: the question is asked all the same.
func (c *caller) call(ctx context.Context, q *supervisor.Question) {
	if !c.on {
		return
	}
	c.printer.Bell()
	if c.banner == nil || c.broken.Load() {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bannerPatience, errors.New("the desktop does not take it"))
	defer cancel()
	b := notify.Banner{Title: "claude-supervise asks", Body: terminal.CleanLine(q.ID+": "+q.Text, notify.MaxBody),
		Urgent: q.Urgent}
	if q.Urgent {
		b.Title = "Urgent: " + b.Title
	}
	if err := notify.Send(ctx, c.banner, b); err != nil && !errors.Is(context.Cause(ctx), context.Canceled) {
		c.broken.Store(true)
		c.log.Info().Err(err).Msg("questions are not shown on the desktop any more")
	}
}

// announce tells the person's own command of a question, or how a run is left.
func (c *caller) announce(ctx context.Context, command []string, n supervisor.Notification) error {
	if !c.on {
		return nil
	}
	return notify.Send(ctx, command, event(n))
}
