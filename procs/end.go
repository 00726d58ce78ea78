package procs

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// An Ending is how a process is to end. All but Kill are gentle first and climb to Kill when that does not help.
type Ending uint8

// The endings.
const (
	Finish Ending = iota // it has no work left: close its input; a Spec.Command is waited for
	Park                 // it waits for a person: SIGTERM, which keeps its conversation as it is
	Stop                 // a person wants it stopped: interrupt its turn, then SIGTERM; of a Spec.Command the latter alone
	Kill                 // at once

	// KeepProcesses is or'ed to Finish: what the agent left running stays.
	KeepProcesses Ending = 1 << 7
)

// patience is how long each step of the ladder is given.
type patience struct {
	finish    time.Duration // from the end of input to the end of the process
	interrupt time.Duration // until the turn is over
	term      time.Duration // from SIGTERM to the end, also for what is swept
}

var defaultPatience = patience{finish: 10 * time.Second, interrupt: 3 * time.Second, term: 5 * time.Second}

// End ends the process and everything that it has started, and returns when nothing of it is left and Exit has been
// handed over. It may be called again, at the same time and after Exit; it has to be called after Exit, since a
// process that ends by itself leaves its own behind. When ctx is done no patience is left: everything is killed.
//
// After Finish it gives the processes that the agent had left running. They are ended too unless KeepProcesses is set,
// or as far as the system lets us (Survivor.Alive).
func (p *Process) End(ctx context.Context, how Ending) []Survivor {
	keep := how&KeepProcesses != 0
	how &^= KeepProcesses
	p.parking.Store(how == Park)
	s := sweep{marker: p.spec.Marker, since: p.id.start, patience: p.patience.term}
	// Afterwards, with the process gone, not all that ties them to it is left.
	_, _ = p.belonging(&s)
	p.escalate(ctx, how)
	defer func() { <-p.done }()

	if how == Kill {
		s.patience = 0
	}
	if how == Finish && keep {
		left, _ := s.find() // a table that cannot be read has nobody to name
		return left
	}
	left, _ := s.run(ctx)
	if how == Finish {
		return left
	}
	return nil
}

// escalate takes the ladder from the step of how upwards, until the process has ended.
func (p *Process) escalate(ctx context.Context, how Ending) {
	switch how {
	case Finish:
		_ = p.stdin.closeWithin(p.patience.finish)
		if p.gone(ctx, p.patience.finish) {
			return
		}
	case Stop:
		// A child that does not take it gets the next step all the same.
		if p.stdin.writeWithin(interrupt, p.patience.interrupt) == nil {
			p.turnOver(ctx, p.patience.interrupt)
		}
	}
	if how != Kill {
		p.askSpending()
		// A shell that waits for a program attends to its signals only when that has ended.
		p.signal(unix.SIGTERM, p.spec.isCommand())
		if p.gone(ctx, p.patience.term) {
			return
		}
	}
	p.signal(unix.SIGKILL, true)
	<-p.exited
}

// turnOver waits until no turn is under way, the process has ended, d has passed or ctx is done.
func (p *Process) turnOver(ctx context.Context, d time.Duration) {
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-p.turn.over():
	case <-p.exited:
	case <-ctx.Done():
	case <-limit.C:
	}
}

// signal signals the process, or its whole group, unless it is gone.
func (p *Process) signal(sig unix.Signal, group bool) {
	p.reaping.Lock()
	defer p.reaping.Unlock()
	if p.reaped {
		return
	}
	pid := p.id.pid
	if group {
		pid = -pid
	}
	_ = unix.Kill(pid, sig) // ours, and not reaped: it can only have ended
}

// belonging lets the sweep find the process and all that belongs to it at this moment.
func (p *Process) belonging(s *sweep) ([]process, error) {
	p.reaping.Lock()
	defer p.reaping.Unlock()
	if p.reaped {
		return nil, os.ErrProcessDone
	}
	// As long as it is not reaped its session's number is its own.
	s.session = p.id.pid
	defer func() { s.session = 0 }()
	return s.members()
}
