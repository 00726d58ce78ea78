package desk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/cmd/internal/web"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// ElsewhereWords say of the question whether a command may run where it is answered.
const ElsewhereWords = "A command runs on the worker's machine, as the worker: whether it may is answered there."

// askedHere is a question as a person is asked it here: a path in an answer is one of the worker's machine, where alone
// it can be looked for.
func askedHere(q view.QuestionView) view.QuestionView {
	if q.Validate == "path" {
		q.Validate = ""
	}
	return q
}

// Placed is a question as a terminal asks it.
func Placed(q view.QuestionView) terminal.Question { return asking.Placed(askedHere(q)) }

// Card is a question as the page shows it. An answer cannot be changed: the fleet has given it to a worker.
func Card(q view.QuestionView) web.Card {
	c := asking.Card(askedHere(q))
	c.Changeable = false
	if c.Terminal {
		c.Elsewhere = ElsewhereWords
	}
	return c
}

// Answer answers an open question. Others are told who serves the page, or has the board. *client.TakenError
// if another answer came first.
func (d *Desk) Answer(ctx context.Context, id string, given service.Answer) (k service.Kept, err error) {
	if given.Change {
		return k, &service.Refusal{Reason: service.Conflict,
			Text: "an answer that a fleet has kept cannot be changed; nothing was changed"}
	}
	if len(given.Images) > 0 {
		return k, &client.ImagesRefusal{Question: id, Reason: "a fleet carries the words of an answer alone"}
	}
	q, err := d.Question(ctx, id)
	k.Question = q
	switch {
	case err != nil:
		return k, err
	case q.Answer != nil:
		return k, taken(q)
	case q.State != supervisor.Open:
		return k, &service.Refusal{Reason: service.Conflict,
			Text: id + " is no longer asked: nobody waits for its answer; nothing was kept"}
	case questions.KindOf(q.Kind).Runs:
		return k, &service.Refusal{Reason: service.Elsewhere, Text: ElsewhereWords + " Nothing was kept."}
	}
	if k.Text, err = service.Judge(Program, askedHere(q), given, terminal.OnDisk(os.TempDir())); err != nil {
		return k, err
	}
	by := d.who
	if given.By != "" {
		by = given.By + ", served by " + d.who
	}
	a := flow.Answer{Question: q.ID, Text: k.Text, By: by, At: time.Now().UTC(), AllLike: given.AllLike,
		Skip: given.Skip, Decline: given.Decline != nil}
	answered, err := d.fleet.Answer(ctx, q.Run, a)
	var refused *fleet.RefusedError
	if errors.As(err, &refused) && refused.Kind == flow.ErrTaken && refused.First != nil {
		a = *refused.First
	} else if err != nil {
		return k, err
	}
	q = answeredAs(q, a)
	d.mu.Lock()
	d.closes(closing{QuestionView: q, at: d.clock(), here: true})
	d.mu.Unlock()
	switch k.Question = q; {
	case refused != nil:
		return k, taken(q)
	case answered.Given:
		k.Also = q.ID + " is answered."
	default:
		k.Note = "It is kept; the worker that continues with " + q.Run + " gets it."
	}
	return k, nil
}

// A takenError is a *client.TakenError in the words of a fleet, which changes no answer.
type takenError struct{ client.TakenError }

// Error says whose answer stands.
func (e *takenError) Error() string {
	how := "was answered before"
	switch {
	case e.Skipped:
		how = "was skipped before"
	case e.Declined:
		how = "was declined before"
	}
	return strings.TrimSuffix(fmt.Sprintf("%s %s, by %s at %s: %s", e.Question, how, e.By, view.Clock(e.At),
		terminal.CleanLine(e.Answer, 200)), ": ")
}

// Unwrap gives it as those know it who show it in parts.
func (e *takenError) Unwrap() error { return &e.TakenError }

func taken(q view.QuestionView) error {
	e := &takenError{client.TakenError{Question: q.ID, By: q.AnsweredBy, Answer: *q.Answer, Skipped: q.Skipped,
		Declined: q.Declined}}
	if q.AnsweredAt != nil {
		e.At = *q.AnsweredAt
	}
	return e
}

// Stop stops the run that an id names, or whose first agent it names. Others are told who serves the page or has the
// board.
func (d *Desk) Stop(ctx context.Context, id, _ string) (becomes string, err error) {
	l, err := d.listed(ctx, id)
	if err != nil {
		return "", err
	}
	if a, is := l.Agent(id); is && a.Parent != "" {
		return "", &service.Refusal{Reason: service.Conflict, Command: Program + " stop " + l.ID,
			Text: "a fleet stops whole runs; nothing was stopped. To stop the run of " + id}
	}
	err = d.fleet.Stop(ctx, l.ID, d.who)
	var refused *fleet.RefusedError
	if l.ExitCode != nil || errors.As(err, &refused) && refused.Kind == flow.ErrEnded {
		return l.ID + " has already ended.", nil
	}
	return l.ID + " is being stopped.", err
}
