package torture

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"time"

	"claude-supervise/supervisor/questions"
)

// readMessage reads the events of a supervisor. A question's notice brings people to answer it.
func (r *run) readMessage(ctx context.Context, s *supervisor) {
	for {
		e, err := s.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			r.wrong("%v", err)
			continue
		}
		s.messages++
		r.is(e.Run)
		if strings.HasPrefix(e.Text, "cannot save the state") { // no disk is full here, and everybody gets their turn
			r.wrong("%s", e.Text)
		}
		if e.Type == "question" {
			r.noticed(ctx, e.Question.ID, e.Question.Question)
		}
		r.sign()
	}
}

// noticed brings people to a question that was not seen before, and one who stops the run if it is time.
func (r *run) noticed(ctx context.Context, id, text string) {
	q, ok := r.planned(text)
	if !ok {
		r.wrong("it asks %q, which is not in its plan", text)
		return
	}
	if q.kind == questions.AskPermission { // it may be asked for again
		rng := r.rng("permission " + id)
		for i := range q.tokens {
			q.tokens[i] = token(rng)
		}
	}
	if !r.ledger.notice(id, q) {
		return
	}
	r.total.add(questioned)
	r.mu.Lock()
	r.open++
	r.agentKills = 0
	r.mu.Unlock()
	r.people.Go(func() { r.race(ctx, id, q) })
	if rng := r.rng("message " + q.text); rng.IntN(4) == 0 {
		r.people.Go(func() { r.say(ctx, rng, token(r.rng("message "+id))) })
	}
	if r.ledger.count() == r.plan.stopAfter {
		r.people.Go(func() { r.stop(ctx) })
	}
}

func (r *run) planned(text string) (asked, bool) {
	for _, s := range r.plan.steps {
		for _, q := range s.questions {
			if q.text == text || q.kind == questions.AskPermission && strings.HasPrefix(text, "Allow Write") {
				return q, true
			}
		}
	}
	return asked{}, false
}

// race lets three people answer a question at once, again until one of them knows that it is answered, and now and then
// others change that.
func (r *run) race(ctx context.Context, id string, q asked) {
	var settled sync.Once
	settle := func() {
		settled.Do(func() {
			r.mu.Lock()
			r.open--
			r.mu.Unlock()
			r.rouse()
		})
	}
	defer settle()
	rng := r.rng("race " + q.text)
	for known := false; !known && r.alive(ctx); {
		var all sync.WaitGroup
		var mu sync.Mutex
		for who := range answerers {
			own, delay := rand.New(rand.NewPCG(rng.Uint64(), 0)), upTo(rng, 50*time.Millisecond)
			if who == answerers-1 && rng.IntN(3) == 0 {
				delay += upTo(rng, time.Second) // late
			}
			all.Go(func() {
				if !pause(ctx, delay) || r.answer(ctx, own, id, q, who) == unknown {
					return
				}
				settle()
				mu.Lock()
				known = true
				mu.Unlock()
			})
		}
		all.Wait()
	}
	for who := answerers; who < clients && rng.IntN(3) == 0; who++ {
		if pause(ctx, upTo(rng, 50*time.Millisecond)) && r.alive(ctx) {
			r.answer(ctx, rng, id, q, who)
		}
	}
}

func (r *run) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *run) alive(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return ctx.Err() == nil && !r.over
}

// answer is one client that answers a question, or changes its answer, and is killed now and then.
func (r *run) answer(ctx context.Context, rng *rand.Rand, id string, q asked, who int) outcome {
	a := attempt{token: q.tokens[who], change: who >= answerers}
	args, value := []string{"answer", id}, a.token
	if a.change {
		args = append(args, "--change")
	}
	switch {
	case q.kind == questions.AskBlocker:
		value = "resolved: " + a.token
	case q.kind == questions.AskPermission && who%answerers == 0:
		value, a.token = "allow", "allow"
	case q.kind == questions.AskPermission:
		value = "deny " + a.token
	}
	a.began = time.Now()
	code, said := r.client(ctx, rng, append(args, value)...)
	a.ended, a.said = time.Now(), said
	switch code {
	case -1:
		a.outcome = unknown
	case 0:
		a.outcome = acknowledged
		if !strings.Contains(said, a.token) {
			r.wrong("the answer %q to %s is acknowledged as: %s", value, id, said)
		}
		r.total.add(map[bool]string{false: answers, true: changes}[a.change])
	case 1:
		a.outcome = refusedIt
		r.total.add(tooLate)
	default:
		r.wrong("%q exits %d: %s", args, code, said)
	}
	r.ledger.enter(id, a)
	return a.outcome
}

// say says something to the agent that it has not asked for.
func (r *run) say(ctx context.Context, rng *rand.Rand, text string) {
	if !pause(ctx, upTo(rng, 300*time.Millisecond)) || !r.alive(ctx) {
		return
	}
	a := attempt{token: text, began: time.Now()}
	code, said := r.client(ctx, rng, "attach", r.known(), a.token)
	a.ended, a.said = time.Now(), said
	switch {
	case code == -1:
		a.outcome = unknown
	case code == 0:
		a.outcome = acknowledged
		r.total.add(messages)
	case code == 1 && strings.Contains(said, "already ended"):
		a.outcome = refusedIt
	default:
		r.wrong("attach exits %d: %s", code, said)
	}
	r.ledger.message(a)
}

// stop stops the run, again until that is acknowledged.
func (r *run) stop(ctx context.Context) {
	rng := r.rng("stop " + r.plan.name)
	for pause(ctx, upTo(rng, 200*time.Millisecond)) && r.alive(ctx) {
		r.stopping.Lock()
		code, said := r.client(ctx, rng, "stop", r.known())
		r.stopping.Unlock()
		if code == -1 {
			continue
		}
		if code != 0 {
			r.wrong("stop exits %d: %s", code, said)
		}
		if !strings.Contains(said, "already ended") {
			r.total.add(stops)
			r.ledger.stop(time.Now())
		}
		r.rouse()
		return
	}
}

// client runs a command as a person would, and kills it now and then. The code of one that was killed is -1.
func (r *run) client(ctx context.Context, rng *rand.Rand, args ...string) (code int, said string) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = r.dir, r.Env, &out, &out
	switch err := cmd.Start(); {
	case errors.Is(err, context.Canceled): // the run had ended before
		return -1, ""
	case err != nil:
		r.wrong("%v", err)
		return -1, ""
	}
	if rng.IntN(8) == 0 && r.total.left() > 0 {
		pause(ctx, upTo(rng, 30*time.Millisecond))
		_ = cmd.Process.Kill() // what came of it, its end tells
	}
	_ = cmd.Wait()
	if code = cmd.ProcessState.ExitCode(); code == -1 && ctx.Err() == nil {
		r.total.add(killedClient)
	}
	return code, out.String()
}
