package desk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/questions"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/cmd/internal/web"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/view"
)

// ElsewhereWords say of the question whether a command may run where it is answered.
const ElsewhereWords = "A command runs on the worker's machine, as the worker: whether it may is answered there."

// Asked is a question as a person is asked it here: a path in an answer is one of the worker's machine, where alone it
// can be looked for.
func Asked(q view.QuestionView) view.QuestionView {
	if q.Validate == "path" {
		q.Validate = ""
	}
	return q
}

// Card is a question as the page shows it. An answer cannot be changed: the fleet has given it to a worker.
func Card(q view.QuestionView) web.Card {
	c := questions.Card(Asked(q))
	c.Changeable = false
	if c.Terminal {
		c.Elsewhere = ElsewhereWords
	}
	return c
}

// PageActions is what the page does.
func (d *Desk) PageActions() web.Actions {
	return web.Actions{Answer: d.answerPage, Stop: func(ctx context.Context, id string) (string, error) {
		text, err := d.StopRun(ctx, id)
		return text, refusal(err)
	}}
}

func (d *Desk) answerPage(ctx context.Context, id string, a web.Answer) (note string, err error) {
	if a.Change {
		return "", &web.Refusal{Status: http.StatusConflict,
			Text: "an answer that a fleet has kept cannot be changed; nothing was changed"}
	}
	f := questions.Flags{Program: Program, Skip: a.Skip, AllLike: a.AllLike, Decline: a.Decline}
	given, err := d.answer(ctx, id, f, a.By+", served by "+d.who, func(q view.QuestionView) (string, error) {
		return f.PageValue(q, a, os.TempDir(), nil)
	})
	return given, refusal(err)
}

// Answer gives a question what a person has replied in a form. What it returns says what became of it.
func (d *Desk) Answer(ctx context.Context, id string, r terminal.Reply) (string, error) {
	return d.Reply(ctx, id, r, questions.Flags{})
}

// Reply is Answer with what was given on the command line beside it.
func (d *Desk) Reply(ctx context.Context, id string, r terminal.Reply, f questions.Flags) (string, error) {
	f.Program = Program
	switch {
	case r.Change:
		return "", errors.New("an answer that a fleet has kept cannot be changed; nothing was changed")
	case r.Decline:
		f.Decline = &r.Text
	case r.Text == "":
		f.Skip = true
	}
	note, err := d.answer(ctx, id, f, d.who, func(q view.QuestionView) (string, error) {
		if r.Decline {
			return f.Reason(q, "", r.Text, true)
		}
		return r.Text, f.Fits(q)
	})
	if note == "" {
		note = id + " is answered."
	}
	return note, err
}

// answer gives an open question the answer that read makes of what was given. The note says what is to be known beside
// that it is kept; "" for nothing. *client.TakenError if another answer came first.
func (d *Desk) answer(ctx context.Context, id string, f questions.Flags, by string,
	read func(view.QuestionView) (string, error)) (note string, err error) {
	q, err := d.Question(ctx, id)
	switch {
	case err != nil:
		return "", err
	case q.Answer != nil:
		return "", taken(q)
	case q.State != supervisor.Open:
		return "", &web.Refusal{Status: http.StatusConflict,
			Text: id + " is no longer asked: nobody waits for its answer; nothing was kept"}
	case q.Kind == supervisor.AskCommand:
		return "", &web.Refusal{Status: http.StatusForbidden, Text: ElsewhereWords + " Nothing was kept."}
	}
	a := flow.Answer{Question: q.ID, By: by, At: time.Now().UTC(), AllLike: f.AllLike, Skip: f.Skip,
		Decline: f.Decline != nil}
	if a.Text, err = read(Asked(q)); err != nil {
		return "", err
	}
	answered, err := d.runs.Answer(ctx, q.Run, a)
	var refused *fleet.RefusedError
	if errors.As(err, &refused) && refused.Kind == flow.ErrTaken && refused.First != nil {
		a = *refused.First
	} else if err != nil {
		return "", err
	}
	q = answeredAs(q, a)
	d.mu.Lock()
	d.closes(closing{QuestionView: q, at: d.clock(), here: true})
	d.mu.Unlock()
	if refused != nil {
		return "", taken(q)
	}
	if !answered.Given {
		note = "It is kept; the worker that continues with " + q.Run + " gets it."
	}
	return note, nil
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

// StopRun stops the run that an id names, or whose first agent it names. What it returns says what becomes of it.
func (d *Desk) StopRun(ctx context.Context, id string) (becomes string, err error) {
	l, err := d.listed(ctx, id)
	if err != nil {
		return "", err
	}
	if a, is := l.Agent(id); is && a.Parent != "" {
		return "", &web.Refusal{Status: http.StatusConflict, Command: Program + " stop " + l.ID,
			Text: "a fleet stops whole runs; nothing was stopped. To stop the run of " + id}
	}
	err = d.runs.Stop(ctx, l.ID, d.who)
	var refused *fleet.RefusedError
	if l.ExitCode != nil || errors.As(err, &refused) && refused.Kind == flow.ErrEnded {
		return l.ID + " has already ended.", nil
	}
	return l.ID + " is being stopped.", err
}

// refusal makes of what a fleet refuses something that the page refuses.
func refusal(err error) error {
	var misused exitcode.UsageError
	var unread *terminal.Refusal
	var refused *fleet.RefusedError
	var none *fleet.NoRunError
	switch {
	case errors.As(err, &misused), errors.As(err, &unread):
		return web.Refused("%v", err)
	case errors.As(err, &none):
		return &web.Refusal{Status: http.StatusNotFound, Text: err.Error()}
	case errors.As(err, &refused) && refused.Kind == flow.ErrRefused:
		return web.Refused("%v", err)
	case errors.As(err, &refused):
		return &web.Refusal{Status: http.StatusConflict, Text: err.Error()}
	case errors.Is(err, fleet.ErrNoWorker), errors.Is(err, fleet.ErrAway):
		return &web.Refusal{Status: http.StatusServiceUnavailable, Text: fmt.Sprint(err)}
	}
	return err
}
