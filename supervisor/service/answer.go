package service

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/filedrop"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/sessions"
	"claude-supervise/supervisor/view"
)

// An Answer is what a person gives to a question: one of Typed, Chosen, Values, Form, Decline and Skip.
type Answer struct {
	Typed    *string           // as it was typed
	Chosen   *string           // as a prompt has made it of what was typed, by the terms of the question
	Values   []string          // several options, each as it would be typed
	Form     *questions.Filled // that was filled in
	Decline  *string           // why there will be none
	Skip     bool              // the agent goes on without one,
	SkipRest bool              // or without the optional questions that were asked with it
	Change   bool              // it takes the place of the answer given before
	AllLike  bool              // it is that of every question of the run that is alike
	By       string            // who, for people
	Images   []client.Picture  // that belong to it

	Named  Named // how the question was meant
	Screen bool  // the person sits at a terminal, and can have looked at the question there
}

// Named is how a question was meant.
type Named int

// The ways to mean a question.
const (
	NamedByID   Named = iota
	NamedByRun        // it is the only one of the run or agent that was named
	NamedByNone       // it is the only one that is open
)

// Kept is an answer that was kept.
type Kept struct {
	Question view.QuestionView // as it was before
	Text     string            // the answer as it is kept, or why it is declined
	Skipped  []string          // the questions that were left out with it
	Failed   error             // what was to follow from it, and did not; nil: all has
	Also     string            // what was kept beside it, in lines for people
	Alone    bool              // nobody supervises the run,
	Note     string            // and what becomes of the answer then, for people; "": it is on its way
}

// Replied is the answer that a reply at a prompt is: to none a question is skipped.
func Replied(text string, decline, change bool) Answer {
	a := Answer{Change: change, Screen: true}
	switch {
	case decline:
		a.Decline = &text
	case text == "":
		a.Skip = true
	default:
		a.Chosen = &text
	}
	return a
}

// Reply gives a question the answer that a person gives, in the inbox of its run, or where its script looks for it.
// The first stands: the error is then a *client.TakenError that says whose. A *questions.Refusal or a *Refusal says why
// it is none; the question stays open.
func Reply(ctx context.Context, c client.Client, id string, a Answer) (Kept, error) {
	q, err := view.FindQuestion(ctx, c.Store, id)
	if view.NoSuchID(err) {
		if of, asked := sessions.Find(c.Dirs, id); asked != nil {
			return replyToSession(ctx, c, of, asked, a)
		}
	}
	if err != nil {
		return Kept{}, err
	}
	k := Kept{Question: c.Reader().View(q)}
	if questions.KindOf(q.Kind).Runs && !a.Screen {
		return k, &Refusal{Reason: Elsewhere, Command: view.AnswerCommand(q),
			Text: "a command runs as you: whether it may is answered on a terminal"}
	}
	at, err := c.PlaceOf(ctx, q)
	if err != nil {
		return k, err
	}
	if k.Text, err = Judge(program, k.Question, a, at); err != nil {
		return k, err
	}
	if err := keep(ctx, c, q, k.Text, a); err != nil {
		return k, err
	}
	k.Skipped, k.Failed = skipRest(ctx, c, q, a)
	k.Also = alsoKept(k, a)
	if q.Run != "" && !c.Supervised(ctx, q.Run) {
		k.Alone = true
		k.Note = "The answer is kept; nobody supervises the run. To continue, run: " + program + " resume " + q.Run
	}
	return k, nil
}

// program is how a person calls the program of one machine.
const program = "claude-supervise"

func keep(ctx context.Context, c client.Client, q *supervisor.Question, value string, a Answer) error {
	var err error
	if q.Run == "" && len(a.Images) > 0 {
		return &client.ImagesRefusal{Question: q.ID, Reason: ask.ScriptAsks}
	}
	if q.Run == "" {
		err = filedrop.Put(q, value, a.By, a.Change)
	} else {
		err = c.Answer(ctx, q.ID, client.Answer{
			Text: value, Skip: a.Skip, Decline: a.Decline != nil, Change: a.Change, AllLike: a.AllLike, By: a.By,
			Images: a.Images,
		})
	}
	var refused *questions.Refusal
	switch {
	case errors.As(err, &refused) && a.Chosen == nil: // else it is still in view
		return fmt.Errorf("%w; question %s stays open", err, q.ID)
	case err != nil && refused == nil && q.Run == "": // another answer lies there, or the script has gone
		return &Refusal{Reason: Conflict, Text: err.Error()}
	}
	return err
}

// skipRest goes on without the questions that were asked with q and are still open. It gives their ids.
func skipRest(ctx context.Context, c client.Client, q *supervisor.Question, a Answer) (skipped []string, err error) {
	if !a.SkipRest {
		return nil, nil
	}
	open, err := view.OpenQuestions(ctx, c.Store)
	if err != nil {
		return nil, err
	}
	for _, other := range open {
		if other.Group != q.Group || other.ID == q.ID || !other.Optional {
			continue
		}
		if err := c.Answer(ctx, other.ID, client.Answer{Skip: true, By: a.By}); err != nil {
			return skipped, fmt.Errorf("%s is answered, and %s is not skipped: %w", q.ID, other.ID, err)
		}
		skipped = append(skipped, other.ID)
	}
	return skipped, nil
}

// alsoKept says what was kept with an answer.
func alsoKept(k Kept, a Answer) string {
	var also []string
	for _, p := range a.Images {
		also = append(also, fmt.Sprintf("with the image %s (%.1f kB)", p.Name, float64(len(p.Data))/1e3))
	}
	if len(k.Skipped) > 0 {
		also = append(also, "skipped with it: "+strings.Join(k.Skipped, ", "))
	}
	if a.AllLike {
		also = append(also, "So is every question of "+k.Question.Run+
			" that is like it, now and later, until this answer is changed.")
	}
	if k.Question.Run == "" {
		also = append(also, "The answer is kept; the script that asks will take it.")
	}
	asked := supervisor.Question{Kind: k.Question.Kind}
	asked.Rule = k.Question.AllowRule
	if given := questions.GivenRule(&asked, k.Text); given != "" && a.Decline == nil {
		also = append(also, "Not asked about again in this run: "+given,
			"To revoke it: "+program+" permissions "+k.Question.Run)
	}
	return strings.Join(also, "\n")
}
