package torture

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// A ledger is what people know of the questions of one run: what they were asked, and what became of each attempt to
// answer, or to say something else. It is written down from what the clients printed, never from the program's own
// records.
type ledger struct {
	mu      sync.Mutex
	asked   map[string]asked // by the question's id, from its notice
	order   []string
	tries   map[string][]attempt
	said    []attempt // messages
	stopped bool      // a stop was acknowledged
	stopAt  time.Time
}

// An attempt is one process that answered, or said something, or tried to.
type attempt struct {
	token        string // what its answer or message holds, and no other's
	change       bool
	began, ended time.Time
	outcome      outcome
	said         string
}

// An outcome is what a client knows when it has ended.
type outcome string

const (
	acknowledged outcome = "acknowledged"
	refusedIt    outcome = "refused" // somebody else's answer stands, or is on its way
	unknown      outcome = "killed"  // it may have been kept, or not
)

func newLedger() *ledger { return &ledger{asked: map[string]asked{}, tries: map[string][]attempt{}} }

// notice writes a question down; false if it is known.
func (l *ledger) notice(id string, q asked) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.asked[id]; known {
		return false
	}
	l.asked[id] = q
	l.order = append(l.order, id)
	return true
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.order)
}

func (l *ledger) enter(id string, a attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tries[id] = append(l.tries[id], a)
}

func (l *ledger) message(a attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, a)
}

func (l *ledger) messages() []attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.said)
}

func (l *ledger) stop(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped, l.stopAt = true, at
}

// isStopped reports whether somebody has stopped the run, and knows it.
func (l *ledger) isStopped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stopped
}

// tried returns what became of a question.
func (l *ledger) tried(id string) (q asked, tries []attempt, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q, known = l.asked[id]
	return q, slices.Clone(l.tries[id]), known
}

// standing returns the tokens of which one must be the answer of a question in the end: that of the last acknowledged
// attempt, or of one that may have come after it. None means that nobody's answer was kept for certain.
func standing(tries []attempt) (possible []string, certain bool) {
	certain = slices.ContainsFunc(tries, func(a attempt) bool { return a.outcome == acknowledged })
	for _, a := range tries {
		if a.outcome == refusedIt {
			continue
		}
		// Another one that was kept after this one had ended has taken its place; a first answer takes no other's.
		replaced := slices.ContainsFunc(tries, func(b attempt) bool {
			return b.outcome == acknowledged && b.began.After(a.ended) && (b.change || !a.change)
		})
		beaten := !a.change && a.outcome == unknown && slices.ContainsFunc(tries, func(b attempt) bool {
			return b.outcome == acknowledged && !b.change && b.token != a.token
		})
		// A change needs an answer to change, so none that was given for the first time comes after it.
		changed := !a.change && slices.ContainsFunc(tries, func(b attempt) bool {
			return b.outcome == acknowledged && b.change
		})
		if !replaced && !beaten && !changed {
			possible = append(possible, a.token)
		}
	}
	return possible, certain
}

// winners returns the tokens that could have won a question against somebody who was told that they were too late.
func winners(tries []attempt) []string {
	var tokens []string
	for _, a := range tries {
		if a.outcome != refusedIt {
			tokens = append(tokens, a.token)
		}
	}
	return tokens
}

func mentions(text string, tokens []string) bool {
	return slices.ContainsFunc(tokens, func(t string) bool { return strings.Contains(text, t) })
}
