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
	// a person wants it stopped: interrupt its turn, then SIGTERM. The latter alone of a Spec.Command, and where a
	// request waits for a person: at an interrupt the CLI writes that they have refused the call, and tells an MCP server
	// that they have cancelled
	Stop
	Kill // at once

	// KeepProcesses is or'ed to Finish: what the agent left running stays.
	KeepProcesses Ending = 1 << 7
)

// Patience is how long each step of the ladder is given.
type Patience struct {
	Finish    time.Duration // from the end of input to the end of the process
	Interrupt time.Duration // until the turn is over
	Term      time.Duration // from SIGTERM to the end, also for what is swept
}

var defaultPatience = Patience{Finish: 10 * time.Second, Interrupt: 3 * time.Second, Term: 5 * time.Second}

// End ends the process and everything that it has started, and returns when nothing of it is left and Exit has been
// handed over. It may be called again, at the same time and after Exit; it has to be called after Exit, since a
// process that ends by itself leaves its own behind. When ctx is done no patience is left: everything is killed.
//
// After Finish it gives the processes that the agent had left running. They are ended too unless KeepProcesses is set,
// or as far as the system lets us (Survivor.Alive).
func (p *Process) End(ctx context.Context, how Ending) []Survivor {
	keep := how&KeepProcesses != 0
	how &^= KeepProcesses
	s := sweep{marker: p.Spec.Marker, since: p.id.start, patience: p.Patience.Term}
	// Afterwards, with the process gone, not all that ties them to it is left.
	_, _ = p.belonging(&s)
	p.escalate(ctx, how)
	defer p.group.Wait()

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
	p.launch.Leave(ctx, how)
	if how != Kill {
		p.signal(unix.SIGTERM, p.launch.Group)
		if p.Gone(ctx, p.Patience.Term) {
			return
		}
	}
	p.signal(unix.SIGKILL, true)
	<-p.exited
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
