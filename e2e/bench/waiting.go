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

// A waiting is a supervisor of each program whose agent waits for a person, and beside them a program that only waits.
type waiting struct {
	runs    []*supervised
	idle    *exec.Cmd
	end     func()
	began   int64
	watched errgroup.Group
	over    chan struct{}
	bursts  []int // of the runs, then of idle
}

const (
	// settling is how long all are left alone before they are watched.
	settling = 3 * time.Second
	// glance is how often they are looked at. A wake-up is many switches of threads in a moment, which may have a look in
	// the middle: what lies between two looks, or in two such times in a row, is one.
	glance = 500 * time.Millisecond
)

func (b *bench) wait(ctx context.Context) (*waiting, error) {
	ctx, end := context.WithCancel(ctx)
	w := &waiting{end: end}
	homes, err := b.homes("waiting")
	if err != nil {
		return w, err
	}
	for _, h := range homes {
		run, err := h.questions(1).start(ctx, h.self, "--hold", "forever")
		if err != nil {
			return w, err
		}
		if _, err := run.until("question"); err != nil {
			return w, err
		}
		w.runs = append(w.runs, run)
	}
	w.idle = homes[0].command(ctx, b.floor, "idle")
	if _, err := w.idle.StdinPipe(); err != nil {
		return w, err
	}
	if err := w.idle.Start(); err != nil {
		return w, err
	}
	time.Sleep(settling)
	w.began, w.over = clock(), make(chan struct{})
	w.bursts = make([]int, len(w.pids()))
	for i, pid := range w.pids() {
		w.watched.Go(func() (err error) {
			w.bursts[i], err = w.watch(pid)
			return err
		})
	}
	return w, nil
}

// pids returns the supervisors' processes, and idle's last.
func (w *waiting) pids() []int {
	var pids []int
	for _, run := range w.runs {
		pids = append(pids, run.Cmd.Process.Pid)
	}
	return append(pids, w.idle.Process.Pid)
}

// watch counts how often a process woke up, until it is over.
func (w *waiting) watch(pid int) (bursts int, err error) {
	looks := time.NewTicker(glance)
	defer looks.Stop()
	before, err := usage.Switches(pid)
	counted := false // with the look before
	for err == nil {
		select {
		case <-looks.C:
		case <-w.over:
			return bursts, nil
		}
		var now map[string]int64
		now, err = usage.Switches(pid)
		counted = !maps.Equal(before, now) && !counted
		if counted {
			bursts++
		}
		before = now
	}
	return bursts, err
}

// report ends the watch, at the earliest when it has lasted for a time, and adds its figures.
func (w *waiting) report(ctx context.Context, b *bench, atLeast time.Duration) error {
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
	var rates, sizes []samples
	for i, pid := range w.pids() {
		bytes, err := usage.Memory(pid)
		if err != nil {
			return err
		}
		rates = append(rates, samples{float64(w.bursts[i]) / minutes})
		sizes = append(sizes, samples{float64(bytes) / (1 << 20)})
	}
	idle := len(w.runs)
	b.table.add(figure{name: "waiting supervisor, wake-ups", unit: "/min", values: rates[:idle], floor: rates[idle],
		target: 1})
	b.table.add(figure{name: "waiting supervisor, memory", unit: "MiB", values: sizes[:idle], floor: sizes[idle],
		target: 20})
	w.end()
	err := ignoreExit(w.idle.Wait())
	for _, run := range w.runs {
		err = errors.Join(err, ignoreExit(run.Cmd.Wait()))
	}
	return err
}

// ignoreExit passes over how a process ended that we have ended.
func ignoreExit(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
