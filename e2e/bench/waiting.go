package main

import (
	"context"
	"errors"
	"maps"
	"os/exec"
	"time"

	"golang.org/x/sync/errgroup"

	"claude-supervise/e2e/usage"
)

// A waiting is a supervisor whose agent waits for a person, and beside it a program that only waits.
type waiting struct {
	run     *supervised
	idle    *exec.Cmd
	end     func()
	began   int64
	watched errgroup.Group
	over    chan struct{}
	bursts  [2]int // of run and idle
}

const (
	// settling is how long both are left alone before they are watched.
	settling = 3 * time.Second
	// glance is how often they are looked at. A wake-up is many switches of threads in a moment: what lies between two
	// looks is one.
	glance = 500 * time.Millisecond
)

func (b *bench) wait(ctx context.Context) (*waiting, error) {
	ctx, end := context.WithCancel(ctx)
	w := &waiting{end: end}
	h, err := b.home("waiting")
	if err != nil {
		return w, err
	}
	if w.run, err = h.questions(1).start(ctx, h.self, "--hold", "forever"); err != nil {
		return w, err
	}
	if _, err := w.run.until("question"); err != nil {
		return w, err
	}
	w.idle = h.command(ctx, h.floor, "idle")
	if _, err := w.idle.StdinPipe(); err != nil {
		return w, err
	}
	if err := w.idle.Start(); err != nil {
		return w, err
	}
	time.Sleep(settling)
	w.began, w.over = clock(), make(chan struct{})
	for i, pid := range w.pids() {
		w.watched.Go(func() (err error) {
			w.bursts[i], err = w.watch(pid)
			return err
		})
	}
	return w, nil
}

func (w *waiting) pids() [2]int { return [2]int{w.run.cmd.Process.Pid, w.idle.Process.Pid} }

// watch counts how often a process woke up, until it is over.
func (w *waiting) watch(pid int) (bursts int, err error) {
	looks := time.NewTicker(glance)
	defer looks.Stop()
	before, err := usage.Switches(pid)
	for err == nil {
		select {
		case <-looks.C:
		case <-w.over:
			return bursts, nil
		}
		var now map[string]int64
		if now, err = usage.Switches(pid); !maps.Equal(before, now) {
			bursts++
		}
		before = now
	}
	return bursts, err
}

// tell ends the watch: at the earliest when it has lasted for a time.
func (w *waiting) tell(ctx context.Context, b *bench, atLeast time.Duration) error {
	select {
	case <-time.After(atLeast - since(w.began, clock())):
	case <-ctx.Done():
		return ctx.Err()
	}
	close(w.over)
	if err := w.watched.Wait(); err != nil {
		return err
	}
	minutes := since(w.began, clock()).Minutes()
	var sizes [2]float64
	for i, pid := range w.pids() {
		bytes, err := usage.Memory(pid)
		if err != nil {
			return err
		}
		sizes[i] = float64(bytes) / (1 << 20)
	}
	b.table.add(figure{
		name: "waiting supervisor, wake-ups", value: float64(w.bursts[0]) / minutes, floor: float64(w.bursts[1]) / minutes,
		unit: "/min", target: 2,
	})
	b.table.add(figure{name: "waiting supervisor, memory", value: sizes[0], floor: sizes[1], unit: "MiB", target: 30})
	w.end()
	return errors.Join(ignoreExit(w.run.cmd.Wait()), ignoreExit(w.idle.Wait()))
}

// ignoreExit passes over how a process ended that we have ended.
func ignoreExit(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
