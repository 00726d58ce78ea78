package view

import (
	"context"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
)

// An Away is what has happened while a person did not look. The zero value: they did, or nothing has.
type Away struct {
	Since    time.Time // when they looked last
	Answered int       // questions that others have answered, for them or for themselves
	Asked    int       // questions that were asked, and are open
	Waiting  int       // all questions that are open
	Done     int       // runs that have ended as they should, or in part
	Failed   int       // those that have ended otherwise, but for
	Stopped  int       // those that somebody has stopped
	CostUSD  float64   // of all runs that have ended
}

// Happened reports whether there is anything to be told.
func (a Away) Happened() bool { return a.Answered+a.Asked+a.Done+a.Failed+a.Stopped > 0 }

// Away returns what has happened since a moment. What a person has answered on a terminal of this machine, or by the
// page, is not news, nor what a rule of theirs has.
func (r Reader) Away(ctx context.Context, since time.Time) (Away, error) {
	a := Away{Since: since}
	err := asOne(ctx, r.Store.AsOne, func(ctx context.Context) error {
		runs, err := r.Store.RunsSince(ctx, since)
		if err != nil {
			return err
		}
		for _, run := range runs {
			if err := r.answeredSince(ctx, run.ID, &a); err != nil {
				return err
			}
			if run.EndedAt == nil {
				continue
			}
			switch run.Status {
			case checkpoints.Succeeded, checkpoints.Partial:
				a.Done++
			case checkpoints.Stopped:
				a.Stopped++
			default:
				a.Failed++
			}
			agents, err := r.Store.Agents(ctx, run.ID)
			if err != nil {
				return err
			}
			for _, of := range agents {
				a.CostUSD += of.CostUSD
			}
		}
		return nil
	})
	if err != nil {
		return Away{}, err
	}
	open, err := r.Questions(ctx)
	if err != nil {
		return Away{}, err
	}
	beside, _, _ := r.OfNoRun(ctx, nil) // that files cannot be read, others say
	open = append(open, beside...)
	a.Waiting = len(open)
	for _, q := range open {
		if q.AskedAt.After(since) {
			a.Asked++
		}
	}
	return a, nil
}

// answeredSince counts what others have answered in a run.
func (r Reader) answeredSince(ctx context.Context, run string, a *Away) error {
	qs, err := r.Store.Questions(ctx, checkpoints.QuestionFilter{Run: run})
	for i := range qs {
		q := &qs[i]
		if q.AnsweredAt != nil && q.AnsweredAt.After(a.Since) && byOthers(q) {
			a.Answered++
		}
	}
	return err
}

func byOthers(q *supervisor.Question) bool {
	return !q.ByRule && q.State != checkpoints.QuestionWithdrawn &&
		!strings.HasPrefix(q.AnsweredBy, questions.OnTerminal) && !strings.HasPrefix(q.AnsweredBy, questions.ByPage)
}
