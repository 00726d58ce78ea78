package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"claude-supervise/e2e/machine"
)

// ledgerLease is one that a busy machine does not let run out all the time by itself.
const ledgerLease = 5 * time.Second

// A blow is what befalls a worker.
type blow string

const (
	killed     blow = "killed"      // kill -9 of the whole group: power, the kernel's killer
	stopped    blow = "stood still" // SIGSTOP, and SIGCONT before or after its lease has run out
	handedBack blow = "left"        // SIGTERM, to the worker alone or, as systemd does it, to all that it has started
	deleted    blow = "deleted"     // killed, with all that its home holds and every process of it
)

// blows strikes workers at moments that the seed chooses.
type blows struct {
	*site
	seed    uint64
	most    int
	may     func(made int) bool // whether one more is due: where no run gets ahead, blows only add to what is in its way
	workers []*struck

	mu    sync.Mutex
	done  int
	of    map[blow]int
	onRun int // that struck a worker with runs
}

// A struck worker is one that is started again.
type struck struct {
	mu   sync.Mutex // held while a blow is under way
	name string
	p    *process
}

func (b *blows) made() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.done
}

// strikes strikes until there were enough blows or ctx ends, and gives the workers back alive.
func (b *blows) strikes(ctx context.Context) {
	rng := rand.New(rand.NewPCG(b.seed, 'b'))
	var all sync.WaitGroup
	for b.made() < b.most && pause(ctx, time.Duration(rng.Int64N(int64(1600*time.Millisecond)))) {
		order, roll, after := rng.Perm(len(b.workers)), rng.IntN(20), rng.Float64()
		if !b.may(b.made()) {
			continue
		}
		w := b.chosen(order)
		if w == nil {
			continue
		}
		all.Go(func() {
			defer w.mu.Unlock()
			if err := b.strike(ctx, w, roll, after); err != nil {
				b.t.Errorf("%s: %v", w.name, err)
			}
		})
	}
	all.Wait()
}

// chosen returns the first worker in an order that has a run, else the first one that is up, to strike it; nil if none
// is.
func (b *blows) chosen(order []int) (w *struck) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, i := range order {
		candidate := b.workers[i]
		if !candidate.mu.TryLock() {
			continue // it is down
		}
		busy, err := os.ReadDir(candidate.p.runsOf())
		has := err == nil && len(busy) > 0
		if w != nil && !has {
			candidate.mu.Unlock()
			continue
		}
		if w != nil {
			w.mu.Unlock()
		}
		if w = candidate; has {
			b.onRun++
			break
		}
	}
	if w != nil {
		b.done++
	}
	return w
}

// strike strikes a worker, and starts it again. after, from 0 to 1, says how long it stays down.
func (b *blows) strike(ctx context.Context, w *struck, roll int, after float64) error {
	home, what := w.p.home, killed
	switch {
	case roll < 8:
		w.p.signal(syscall.SIGKILL)
		<-w.p.done
	case roll < 13:
		what = stopped
		w.p.signal(syscall.SIGSTOP)
		pause(ctx, time.Duration(after*2.5*float64(ledgerLease)))
		w.p.signal(syscall.SIGCONT)
	case roll < 17:
		what = handedBack
		if roll == 16 {
			w.p.signal(syscall.SIGTERM)
		} else if err := w.p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		select {
		case <-w.p.done:
		case <-time.After(patience):
			return fmt.Errorf("it does not leave: %s", w.p.said)
		}
	default:
		what = deleted
		w.p.signal(syscall.SIGKILL)
		<-w.p.done
		machine.EndAll(home)
		if err := os.RemoveAll(home); err != nil {
			return err
		}
		home = b.t.TempDir()
	}
	b.mu.Lock()
	b.of[what]++
	b.mu.Unlock()
	if what == stopped && !w.p.gone() {
		return nil
	}
	pause(ctx, time.Duration(after*float64(1500*time.Millisecond)))
	return b.starts(w, home)
}

// starts starts a worker. One that the server has no time for is started again.
func (b *blows) starts(w *struck, home string) (err error) {
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Second) {
		w.p, err = b.begins(home, takesRuns, b.workerArgs(w.name, "--capacity", "6")...)
		if err == nil || !tooBusy.MatchString(err.Error()) || time.Now().After(deadline) {
			return err
		}
	}
}

// gone reports whether a process has ended, as a worker does that the server has refused for minutes.
func (p *process) gone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// runsOf is the folder of the runs that a worker has.
func (p *process) runsOf() string {
	return filepath.Join(p.home, ".local/state/claude-supervise-fleet/worker/runs")
}
