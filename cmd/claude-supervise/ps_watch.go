package main

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/oklog/run"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

// watchRuns lists the runs, and again whenever they change, until the person has seen enough.
func watchRuns(ctx context.Context, r view.Reader, l listing) error {
	if screen := terminal.NewScreen(os.Stdout, os.Getenv); screen != nil && !l.asJSON {
		return watchInPlace(ctx, r, l, screen)
	}
	return following(ctx, func(ctx context.Context, p *terminal.Printer) error {
		shown, began := "", time.Now()
		return r.Watch(ctx, l.all, func(runs []view.RunView) error {
			if !l.asJSON {
				// All ages as of one instant: that they grow is no change.
				text := l.text(p.Width(), l.of(runs), began)
				if text == shown {
					return nil
				}
				shown = text
			}
			return l.print(p, runs)
		})
	})
}

// watchInPlace draws the list over the one before. Ages grow once a second.
func watchInPlace(ctx context.Context, r view.Reader, l listing, screen *terminal.Screen) error {
	ctx, stop, err := untilLeft(ctx)
	if err != nil {
		return err
	}
	defer stop()
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	seen := make(chan []view.RunView)
	var actors run.Group
	actors.Add(func() error {
		return r.Watch(ctx, l.all, func(runs []view.RunView) error {
			select {
			case seen <- runs:
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
		return draw(ctx, l, screen, seen)
	}, func(error) { leave() })
	return actors.Run()
}

// draw owns the screen until ctx ends.
func draw(ctx context.Context, l listing, screen *terminal.Screen, seen <-chan []view.RunView) error {
	resized, continued := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(resized)
	defer signal.Stop(continued)
	second := time.NewTicker(time.Second)
	defer second.Stop()
	var runs []view.RunView
	for known := false; ; {
		select {
		case runs = <-seen:
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
		text := strings.TrimRight(l.text(screen.Width(), l.of(runs), time.Now()), "\n")
		if err := screen.Draw(text + "\n(q leaves; the runs go on)"); err != nil {
			return err
		}
	}
}
