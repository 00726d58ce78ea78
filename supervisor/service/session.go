package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/sessions"
	"claude-supervise/supervisor/view"
)

// fitsSession refuses what a question of an outside session does not take beside its answer.
func fitsSession(program string, q view.QuestionView, a Answer) error {
	switch {
	case a.Skip && !q.Optional || a.SkipRest:
		return Refused("question %s is required and cannot be skipped; `%s answer %s --decline WHY` refuses it", q.ID,
			program, q.ID)
	case a.AllLike:
		return Refused("question %s belongs to no run, so there are none like it; leave --all-like out", q.ID)
	case len(a.Images) > 0:
		return Refused("a session reads the words of an answer alone; leave the images out")
	case a.Change:
		return &Refusal{Reason: Closed, Text: "the answer of a session is with it at once, and cannot be changed; " +
			"nothing was kept"}
	}
	return nil
}

// replyToSession is Reply to a question of an outside session. The answer is with claude when it returns.
func replyToSession(ctx context.Context, c client.Client, of *sessions.Ask, q *checkpoints.Question,
	a Answer) (Kept, error) {
	k, d := Kept{Question: view.OfSession(of, q)}, c.Dirs
	s := k.Question.Session
	switch {
	case q.State != checkpoints.QuestionOpen && q.AnsweredAt != nil:
		return k, &client.TakenError{Question: q.ID, Answer: q.Answer, By: q.AnsweredBy}
	case !of.Waiting():
		return k, &Refusal{Reason: Closed, Text: "question " + q.ID + " is open no more: " + k.Question.Remark}
	case of.Far():
		return k, &Refusal{Reason: Elsewhere, Text: "question " + q.ID + " is asked on another machine, and answered there"}
	case of.State == sessions.Ended && a.Decline != nil:
		if err := byAPerson(ctx); err != nil {
			return k, err
		}
		k.Text, k.Also = *a.Decline, "It is not listed any more. The session had ended, and is not told."
		return k, sessions.Dismiss(d, of)
	case of.Mode != sessions.ModeAsk && of.State != sessions.Ended:
		return k, &Refusal{Reason: Elsewhere, Text: "question " + q.ID + " is answered where it is asked alone: " + s.Where()}
	}
	var err error
	if k.Text, err = Judge(program, k.Question, a, questions.Place{}); err != nil {
		return k, err
	}
	if of.State == sessions.Ended {
		return goOn(ctx, c, of, k, a)
	}
	with := sessions.Given{Answer: k.Text, Decline: a.Decline != nil, Skip: a.Skip, By: a.By}
	err = sessions.Give(ctx, d, of, q.ID, with)
	var before *sessions.TakenError
	var agent *sessions.AgentError
	switch {
	case errors.As(err, &before):
		return k, &client.TakenError{Question: q.ID, Answer: before.Answer, By: before.By}
	case errors.As(err, &agent):
		return k, &Refusal{Reason: Elsewhere, Text: err.Error()}
	case errors.Is(err, sessions.ErrGone):
		if now, _ := sessions.Find(d, q.ID); now != nil && now.State == sessions.Ended {
			return goOn(ctx, c, now, k, a)
		}
		return k, &Refusal{Reason: Closed, Text: "question " + q.ID + " was closed meanwhile: its screen has answered, or " +
			"its session has ended"}
	case err != nil:
		return k, err
	}
	k.Also = s.Where() + " has it."
	if word, _ := questions.Decision(k.Text); word == questions.AllowRun && s.Suggested != "" {
		k.Also += "\nNot asked about again: " + s.Suggested
	}
	return k, nil
}

// SentFrom returns a context of what is done for who has sent a request by TCP, to this address of this process: they
// are looked at before they answer for a session.
func SentFrom(ctx context.Context, who string, to net.Addr) context.Context {
	return sessions.From(ctx, who, to)
}

// byAPerson refuses what this process does for an agent. Of a session that has ended no hook looks who answers.
func byAPerson(ctx context.Context) error {
	if why := sessions.Below(ctx); why != "" {
		return &Refusal{Reason: Elsewhere, Text: (&sessions.AgentError{Why: why}).Error()}
	}
	return nil
}

// goOn answers a question with which its session has ended: a run takes the session up, and the answer waits for it.
func goOn(ctx context.Context, c client.Client, of *sessions.Ask, k Kept, a Answer) (Kept, error) {
	if err := byAPerson(ctx); err != nil {
		return k, err
	}
	id := k.Question.ID
	if word, _ := questions.Decision(k.Text); word == questions.AllowRun {
		return k, Refused("the session that asks %s has ended, and nothing can be permitted for good in it: type allow", id)
	}
	if err := takeUp(ctx, c, of); err != nil {
		return k, &Refusal{Reason: Closed, Text: fmt.Sprintf("the session that asks %s has ended, and cannot be taken up "+
			"here: %v. To open it again: cd %s && claude --resume %s. To have it listed no more: %s answer %s --decline WHY",
			id, err, of.Cwd, of.Session, program, id)}
	}
	k, err := Reply(ctx, c, id, a)
	if err == nil {
		k.Also = strings.TrimSpace(k.Also + "\nIts session goes on in the run " + k.Question.Run + ", without a screen. " +
			"Once that has ended: cd " + of.Cwd + " && claude --resume " + of.Session)
	}
	return k, err
}
