package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"claude-supervise/cmd/internal/terminal"
)

// leavingPatience is how long whoever reads the output may take for the rest of it after a Ctrl-C.
const leavingPatience = time.Second

// following shows what goes on until it is over or the person has seen enough. To leave is the ordinary end of looking,
// so it is no error and no exit code of a run.
func following(ctx context.Context, show func(context.Context, *terminal.Printer) error) error {
	ctx, stop, err := untilLeft(ctx)
	if err != nil {
		return err
	}
	defer stop()
	p := terminal.NewPrinter(os.Stdout, os.Stderr, terminal.Look{Getenv: os.Getenv})
	defer context.AfterFunc(ctx, func() { _ = p.Close(ctx) })() // who waits for a reader that stands still must not
	err = errors.Join(show(ctx, p), p.Close(ctx))
	if ctx.Err() == nil && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), leavingPatience)
	defer cancel()
	_ = p.Close(rest) // nobody minds
	return nil
}

// untilLeft gives a context that ends when the person has seen enough: by Ctrl-C, or because whoever reads our output
// (head, less) or the terminal is gone.
func untilLeft(ctx context.Context) (context.Context, func(), error) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, release := signal.NotifyContext(ctx, ends...)
	ctx, cancel := context.WithCancel(ctx)
	stop, err := terminal.WhenUnread(os.Stdout, cancel)
	if err != nil {
		cancel()
		release()
		return nil, nil, err
	}
	return ctx, func() { stop(); cancel(); release() }, nil
}
