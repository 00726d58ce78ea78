package runs

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/oklog/run"

	"claude-supervise/cmd/internal/terminal"
)

// watch lists the runs, and again whenever they change, until the person has seen enough.
func (l Listing) watch(ctx context.Context, watch watcher) error {
	if screen := terminal.NewScreen(os.Stdout, os.Getenv); screen != nil && !l.AsJSON {
		return l.watchInPlace(ctx, watch, screen)
	}
	return terminal.Following(ctx, func(ctx context.Context, p *terminal.Printer) error {
		shown, began := "", time.Now()
		return watch(ctx, func(now listed) error {
			if !l.AsJSON {
				// All ages as of one instant: that they grow is no change.
				text := now.text(p.Width(), began)
				if text == shown {
					return nil
				}
				shown = text
			}
			return now.print(p, l.of(now.runs))
		})
	})
}

// watchInPlace draws the list over the one before. Ages grow once a second.
func (l Listing) watchInPlace(ctx context.Context, watch watcher, screen *terminal.Screen) error {
	ctx, stop, err := terminal.UntilLeft(ctx)
	if err != nil {
		return err
	}
	defer stop()
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	seen := make(chan listed)
	var actors run.Group
	actors.Add(func() error {
		return watch(ctx, func(now listed) error {
			select {
			case seen <- now:
			case <-ctx.Done():
			}
			return nil
		})
	}, func(error) { leave() })
	quiet := make(chan struct{}) // closed: a key is not shown, and may be asked for
	if terminal.IsTerminal(os.Stdin) {
		actors.Add(func() error {
			return terminal.AwaitKey(ctx, os.Stdin, "qQ", func() { close(quiet) })
		}, func(error) { leave() })
	} else {
		close(quiet)
	}
	actors.Add(func() error {
		select {
		case <-quiet:
		case <-ctx.Done():
		}
		return draw(ctx, screen, seen)
	}, func(error) { leave() })
	return actors.Run()
}

// draw owns the screen until ctx ends.
func draw(ctx context.Context, screen *terminal.Screen, seen <-chan listed) error {
	resized, continued := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(resized)
	defer signal.Stop(continued)
	second := time.NewTicker(time.Second)
	defer second.Stop()
	var last listed
	for known := false; ; {
		select {
		case last = <-seen:
			known = true
		case <-second.C:
		case <-resized:
		case <-continued:
			screen.Forget()
		case <-ctx.Done():
			return nil
		}
		if !known {
			continue
		}
		text := strings.TrimRight(last.text(screen.Width(), time.Now()), "\n")
		if err := screen.Draw(text + "\n(q leaves; the runs continue)"); err != nil {
			return err
		}
	}
}
