package standin

import (
	"errors"
	"iter"
	"slices"
)

// A strand is what goes on beside the main conversation: a subagent in the background, and each of several calls that
// are made at once. It is a coroutine: it runs while another strand or the main conversation waits, so that all of them
// can use the agent without locks.
type strand struct {
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	cut   error // what its waits give from now on
	over  bool
	err   error // of its work
}

// begin starts work in a strand of its own. It does its first step when its agent next waits.
func (a *agent) begin(work func(*strand) error) *strand {
	s := &strand{}
	s.next, s.stop = iter.Pull(func(yield func(struct{}) bool) {
		s.yield = yield
		s.err = work(s)
		s.over = true
	})
	a.strands = append(a.strands, s)
	return s
}

// goOn lets each strand run up to where it waits, and reports whether one of them has ended. The error is that of work
// which ends the process.
func (a *agent) goOn() (moved bool, err error) {
	for _, s := range slices.Clone(a.strands) {
		s.next()
		if !s.over {
			continue
		}
		moved = true
		a.strands = slices.DeleteFunc(a.strands, func(other *strand) bool { return other == s })
		if s.err != nil && !errors.Is(s.err, errInterrupted) && !errors.Is(s.err, errDismissed) {
			return moved, s.err
		}
	}
	return moved, nil
}

// breakOff interrupts all strands and lets each come to its end. Of a subagent that a call waits for nothing more is
// told than that it has ended.
func (a *agent) breakOff() error {
	for _, s := range a.subagents {
		s.silenced = !s.background
	}
	for len(a.strands) > 0 {
		for _, s := range a.strands {
			s.cut = errInterrupted
		}
		if _, err := a.goOn(); err != nil {
			return err
		}
	}
	return nil
}

// dismiss ends all strands where they wait.
func (a *agent) dismiss() {
	for _, s := range a.strands {
		s.stop()
	}
	a.strands = nil
}
