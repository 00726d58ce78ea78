package torture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/e2e/machine"
	"claude-supervise/supervisor/questions"
)

// check holds what the day has left against the ledgers.
func (d *day) check() {
	for _, r := range d.runs {
		r.check()
		if r.failed {
			r.tell()
		}
	}
}

func (r *run) check() {
	id := r.known()
	if id == "" {
		r.wrong("it never was")
		return
	}
	record := r.record()
	if record == nil {
		return
	}
	var questions []checkpoints.Question
	err := r.read(func(ctx context.Context, s *checkpoints.Store) (err error) {
		questions, err = s.Questions(ctx, checkpoints.QuestionFilter{Run: id})
		return err
	})
	if err != nil {
		r.wrong("%v", err)
		return
	}
	c, err := r.conversation()
	if err != nil {
		r.wrong("%v", err)
		return
	}
	r.checkEnd(record)
	ended := record.Status == checkpoints.Succeeded
	for _, q := range questions {
		r.checkQuestion(q, c, ended)
	}
	r.checkMessages(c, ended)
	r.checkAsked(questions, ended)
	r.checkWork(c, ended, slices.ContainsFunc(questions, func(q checkpoints.Question) bool { return q.Answer == "allow" }))
	switch complaints, err := os.ReadFile(filepath.Join(r.terminal, "twice")); {
	case err == nil:
		r.wrong("two processes of its agent lived at once:\n%s", complaints)
	case !errors.Is(err, fs.ErrNotExist):
		r.wrong("%v", err)
	}
	if left := machine.Marked(id); len(left) > 0 {
		r.wrong("processes %v are left", left)
	}
}

// checkEnd checks how the run ended, and that each of its supervisors owned it by itself: their number is that of the
// epochs, but for those that were killed before they could speak, and for stops, which own it for a while.
func (r *run) checkEnd(record *checkpoints.Run) {
	stopped := r.ledger.isStopped()
	switch {
	case record.EndedAt == nil:
		r.wrong("it is %s (%s), not ended", record.Status, record.Reason)
	case stopped && record.Status != checkpoints.Stopped && record.EndedAt.After(r.ledger.stopAt):
		r.wrong("it was stopped at %s, and %s at %s", r.ledger.stopAt.Format(time.RFC3339Nano), record.Status,
			record.EndedAt.Format(time.RFC3339Nano))
	case record.Status == checkpoints.Stopped && r.plan.stopAfter > 0:
	case record.Status != checkpoints.Succeeded:
		r.wrong("it has %s: %s", record.Status, record.Reason)
	}
	if r.plan.stopAfter == 0 && (record.Epoch < r.won || record.Epoch > r.won+r.silent) {
		r.wrong("it had %d supervisors; %d were heard of, %d more were killed early", record.Epoch, r.won, r.silent)
	}
}

// checkQuestion checks that a question has the answer that its people know of, and that this one has reached the agent,
// once, and no other has.
func (r *run) checkQuestion(q checkpoints.Question, c *conversation, ended bool) {
	spec, tries, noticed := r.ledger.tried(q.ID)
	if !noticed {
		if ended {
			r.wrong("question %s (%s) had no notice", q.ID, q.Text)
		}
		return
	}
	possible, certain := standing(tries)
	switch {
	case q.Answer == "" && certain && ended: // what is answered of a stopped run goes nowhere
		r.wrong("question %s is %s, though its answer was acknowledged: %v", q.ID, q.State, possible)
	case q.Answer != "" && !mentions(q.Answer, possible):
		r.wrong("the answer of question %s is %q; people know of %v", q.ID, q.Answer, possible)
	case ended && q.State != checkpoints.QuestionDelivered:
		r.wrong("question %s of a run that has succeeded is %s", q.ID, q.State)
	}
	for _, a := range tries {
		if a.outcome == refusedIt && !a.change && !mentions(a.said, winners(tries)) &&
			!(r.plan.stopAfter > 0 && strings.Contains(a.said, "withdrawn")) {
			r.wrong("who answered question %s too late was not told whose answer stands: %s", q.ID, a.said)
		}
	}
	for _, token := range spec.tokens {
		n, won := c.times(token), strings.Contains(q.Answer, token)
		switch {
		case won && n == 1:
			r.total.add(delivered)
		case won && (ended || n > 1):
			r.wrong("the answer %q to question %s has reached the agent %d times", q.Answer, q.ID, n)
		case !won && n > 0:
			r.wrong("%q has reached the agent, the answer of question %s is %q", token, q.ID, q.Answer)
		}
	}
}

// checkMessages checks that what was said has reached the agent, once; of a stopped run it may go nowhere.
func (r *run) checkMessages(c *conversation, ended bool) {
	for _, a := range r.ledger.messages() {
		n := c.times(a.token)
		if n > 1 || n == 1 && a.outcome == refusedIt || n == 0 && a.outcome == acknowledged && ended {
			r.wrong("the message %s (%s: %s) has reached the agent %d times", a.token, a.outcome, a.said, n)
		}
	}
}

// checkAsked checks that each question of the plan was asked once, whatever was killed. A permission may have been asked
// for again, since what it allows is one call, and that may have been lost; and any question by an agent that has read a
// message while it was being stopped.
func (r *run) checkAsked(rows []checkpoints.Question, ended bool) {
	stopped := r.ledger.isStopped()
	for _, s := range r.plan.steps {
		for _, q := range s.questions {
			n := 0
			for _, row := range rows {
				if spec, ok := r.planned(row.Text); ok && spec.text == q.text {
					n++
				}
			}
			if n == 0 && ended || n > 1 && q.kind != questions.AskPermission && !stopped {
				r.wrong("%q was asked %d times", q.text, n)
			}
		}
	}
}

// checkWork checks that each step was done to its end once. A command that was cut off may have taken effect or not,
// and is run again.
func (r *run) checkWork(c *conversation, ended, allowed bool) {
	list, err := os.ReadFile(filepath.Join(r.cwd(), "done.txt"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.wrong("%v", err)
	}
	for i := range r.plan.steps {
		lines := 0
		for line := range strings.Lines(string(list)) {
			if strings.TrimSpace(line) == workLine(i) {
				lines++
			}
		}
		calls, whole := c.made(workCommand(i))
		if whole > 1 || ended && whole != 1 || lines < whole || lines > calls {
			r.wrong("%s stands in done.txt %d times; the command was run %d times, %d of them to its end",
				workLine(i), lines, calls, whole)
		}
	}
	if _, err := os.Stat(filepath.Join(r.cwd(), "leave.txt")); err == nil && !allowed || errors.Is(err, fs.ErrNotExist) &&
		allowed && ended {
		r.wrong("leave.txt: %v, and leave given: %v", err, allowed)
	}
}

// tell prints all that is known of the run: what the program remembers, what people did, what the agent heard.
func (r *run) tell() {
	const most = 400 // characters of a line
	var b strings.Builder
	line := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		b.WriteString(strings.TrimSpace(text[:min(len(text), most)]) + "\n")
	}
	line("%s is run %s of day %d, seed %d: hold %s, on question %s, stopped after %d", r.plan.name, r.known(), r.n, r.seed,
		r.plan.hold, r.plan.policy, r.plan.stopAfter)
	b.WriteString("What people did:\n")
	for _, id := range r.ledger.order {
		q, tries, _ := r.ledger.tried(id)
		line("%s %s", id, q.text)
		for _, a := range tries {
			line("  %s–%s change=%v %s %s: %s", a.began.Format("05.000"), a.ended.Format("05.000"), a.change, a.token, a.outcome,
				a.said)
		}
	}
	b.WriteString("The history:\n")
	err := r.read(func(ctx context.Context, s *checkpoints.Store) error {
		events, err := s.Events(ctx, r.known(), 0)
		for _, e := range events {
			line("%4d %s %s %s", e.Seq, e.At.Format("05.000"), e.Type, e.Doc)
		}
		return err
	})
	c, unread := r.conversation()
	if err := errors.Join(err, unread); err != nil {
		line("%v", err)
	}
	b.WriteString("The conversation:\n")
	for _, text := range c.lines {
		line("%s", text)
	}
	r.t.Log(b.String())
}
