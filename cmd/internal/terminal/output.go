package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Print shows what a command has found, on stdout and stderr. An error says that it could not be written.
func Print(show func(*Printer) error) error {
	p := NewPrinter(os.Stdout, os.Stderr, Look{Getenv: os.Getenv})
	err := show(p)
	if closing := p.Close(context.Background()); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("cannot write the output: %w", err)
	}
	return err
}

// WhileWorking shows on a terminal how far something has got that may take long.
func WhileWorking(text string, do func(progress func(done, total int64)) error) error {
	p := NewPrinter(os.Stdout, os.Stderr, Look{Getenv: os.Getenv})
	w := p.Working(text)
	err := do(w.Set)
	w.Done()
	return errors.Join(err, p.Close(context.Background()))
}

// LeavingPatience is how long whoever reads the output may take for the rest of it after a Ctrl-C.
const LeavingPatience = time.Second

// Following shows what goes on until it is over or the person has seen enough. To leave is the ordinary end of looking,
// so it is no error and no exit code of a run.
func Following(ctx context.Context, show func(context.Context, *Printer) error) error {
	ctx, stop, err := UntilLeft(ctx)
	if err != nil {
		return err
	}
	defer stop()
	p := NewPrinter(os.Stdout, os.Stderr, Look{Getenv: os.Getenv})
	defer context.AfterFunc(ctx, func() { _ = p.Close(ctx) })() // who waits for a reader that stands still must not
	err = errors.Join(show(ctx, p), p.Close(ctx))
	if ctx.Err() == nil && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), LeavingPatience)
	defer cancel()
	_ = p.Close(rest) // nobody minds
	return nil
}

// UntilLeft returns a context that ends when the person has seen enough: by Ctrl-C, or because the reader of our output
// (head, less) or the terminal is gone.
func UntilLeft(ctx context.Context) (context.Context, func(), error) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, release := signal.NotifyContext(ctx, ends...)
	ctx, cancel := context.WithCancel(ctx)
	stop, err := WhenUnread(os.Stdout, cancel)
	if err != nil {
		cancel()
		release()
		return nil, nil, err
	}
	return ctx, func() { stop(); cancel(); release() }, nil
}
