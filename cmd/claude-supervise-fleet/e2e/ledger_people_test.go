package e2e

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// An outcome is what somebody who answered was told.
type outcome string

const (
	unknown      outcome = "unknown" // it may be kept, or not
	acknowledged outcome = "acknowledged"
	refused      outcome = "refused" // somebody else was first
)

// A try is an answer that somebody gave, and what they were told last.
type try struct {
	token, said string
	outcome     outcome
}

// A question is one that was listed.
type question struct {
	id, run, text string
	tries         []*try
}

// winner returns the answer that was acknowledged; "" if none was.
func (q *question) winner() string {
	for _, t := range q.tries {
		if t.outcome == acknowledged {
			return t.token
		}
	}
	return ""
}

// people answer what is asked, each by a command, and write down what they were told.
type people struct {
	*site
	seed uint64

	mu        sync.Mutex
	questions map[string]*question
	answering sync.WaitGroup
}

// answers looks for questions until ctx ends, and has them answered.
func (p *people) answers(ctx context.Context) {
	rng := rand.New(rand.NewPCG(p.seed, 'a'))
	atOnce := make(chan struct{}, 6) // commands: the machine is small
	for pause(ctx, 300*time.Millisecond) {
		code, out, said, err := p.runs("questions", "--json")
		if code != 0 && tooBusy.MatchString(said) {
			continue
		}
		var open []struct{ ID, Run, Question string }
		if err == nil && code == 0 {
			err = json.Unmarshal([]byte(out), &open)
		}
		if err != nil || code != 0 {
			p.t.Errorf("questions exits %d: %v: %s", code, err, said)
			return
		}
		for _, o := range open {
			if p.knows(o.ID) {
				continue
			}
			q := &question{id: o.ID, run: o.Run, text: o.Question}
			for range 1 + rng.IntN(5)/4 { // now and then two answer at once
				q.tries = append(q.tries, &try{token: newToken(rng), outcome: unknown})
			}
			p.mu.Lock()
			p.questions[q.id] = q
			p.mu.Unlock()
			delay := time.Duration(rng.Int64N(int64(1500 * time.Millisecond)))
			for _, t := range q.tries {
				p.answering.Go(func() {
					pause(ctx, delay)
					p.answer(ctx, q, t, atOnce)
				})
			}
		}
	}
	p.answering.Wait()
}

// acknowledged returns how many questions have their answer.
func (p *people) acknowledged() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range p.questions {
		if q.winner() != "" {
			n++
		}
	}
	return n
}

func (p *people) knows(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.questions[id] != nil
}

// answer answers a question until it is known what has become of the answer. The same answer given again is the same.
func (p *people) answer(ctx context.Context, q *question, t *try, atOnce chan struct{}) {
	for {
		atOnce <- struct{}{}
		code, _, said, err := p.runs("answer", q.id, t.token)
		<-atOnce
		p.mu.Lock()
		t.said = said
		switch {
		case err != nil:
			p.t.Error(err)
		case code == 0, code == 1 && strings.Contains(said, "answered before") && strings.Contains(said, t.token):
			t.outcome = acknowledged
		case code == 1 && strings.Contains(said, "answered before"):
			t.outcome = refused
		case strings.Contains(said, "no worker of the fleet answers"), tooBusy.MatchString(said):
		default:
			p.t.Errorf("answer %s %s exits %d: %s", q.id, t.token, code, said)
			err = ctx.Err()
		}
		known := t.outcome != unknown || err != nil
		p.mu.Unlock()
		if known || !pause(ctx, 500*time.Millisecond) {
			return
		}
	}
}

// pause reports whether the time has passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
