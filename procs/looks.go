package procs

import "sync"

// looks lets all who want a look at the same time share one, as a group commit does. A look of one's own sees whatever
// is there when one asks; so one takes part in the next look that begins, never in the one that is under way. Who asks
// while none is looks at once.
//
// A look is made by the first of those who take part in it, in its own goroutine. Nobody waits for more than the rest
// of one look and a whole one. No context ends a look or the wait for it, just as none ends a look of one's own: it
// takes milliseconds, and who has no patience left still has to find what to kill.
type looks[Q, A any] struct {
	look func(asked []Q) A
	turn sync.Mutex // held by who looks

	asking sync.Mutex // held for a moment only
	next   *shared[Q, A]
}

// A shared look is one that has not begun, or whose answer is waited for.
type shared[Q, A any] struct {
	asked  []Q
	answer A
	done   chan struct{}
}

func (l *looks[Q, A]) ask(q Q) A {
	s, first := l.join(q)
	if !first {
		<-s.done
		return s.answer
	}
	l.turn.Lock()
	defer l.turn.Unlock()
	l.asking.Lock()
	l.next = nil // who asks from here on may have a reason that this look does not see
	l.asking.Unlock()
	s.answer = l.look(s.asked)
	close(s.done)
	return s.answer
}

// join adds to the look that comes next, and reports whether the caller has to make it.
func (l *looks[Q, A]) join(q Q) (s *shared[Q, A], first bool) {
	l.asking.Lock()
	defer l.asking.Unlock()
	if l.next == nil {
		l.next, first = &shared[Q, A]{done: make(chan struct{})}, true
	}
	l.next.asked = append(l.next.asked, q)
	return l.next, first
}
