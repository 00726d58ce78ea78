package supervisor

import (
	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/records"
)

// This file has the work kept as it is when an agent asks, so that the question can be answered differently later
// (fork.go): begun once the question is shown, and finished, or given up, before its answer is said. By that of a
// question that does not stop the work it is found what was deleted under its assumption; its answer waits for none.

// keepingWork is why an answer is not said yet while that is under way.
const keepingWork = "the work is kept as it is at the question"

// momentDue reports whether the work is still to be kept as it is at the questions of a call, given by the first.
func (s State) momentDue(first *Question) bool {
	return first.Index == 0 && first.Moment == "" && first.NoMoment == "" && !first.Delivering &&
		(first.State == checkpoints.QuestionOpen || first.State == checkpoints.QuestionAnswered) &&
		(ask.ForksAt(first) == nil || first.Assumed != nil && first.IsOpen()) && !s.Agents.Get(first.Agent).Status.Ended()
}

// moments keeps the work as it is at questions.
var moments = concern{
	name: "moments",
	planRun: func(s State) (plan []effect.Effect) {
		if s.Run.Leaving == records.LeavingInterrupted || s.Run.TakenOver != nil {
			return nil
		}
		for _, q := range s.FindPending(s.momentDue) {
			plan = append(plan, effect.Effect{Do: effect.Moment, Key: "moment " + q.ID, Agent: q.Agent, Question: q.ID})
		}
		return plan
	},
}

// besides says what else was at work when an agent asked, that no fork has; "" if nothing was.
func (s State) besides(agent string) string {
	for _, c := range s.Children(agent) {
		if !c.Status.Ended() {
			return "an agent that it had started was at work then"
		}
	}
	if l := s.Launch(agent); l != nil && len(l.Background) > 0 {
		return "it had work in the background then"
	}
	return ""
}

// MomentKept says how the work was kept as it is at a question, or why it was not.
type MomentKept struct {
	Question string // the first of its call
	Moment   string `json:",omitempty"`
	Problem  string `json:",omitempty"` // for people
}

var _ = kind[MomentKept]("moment")

func (e MomentKept) apply(d *transition) error {
	q := d.Questions.Get(e.Question)
	if q == nil || !d.momentDue(q) {
		return unwelcome("the work is not kept at %s any more", e.Question)
	}
	q = d.question(q.ID)
	switch why := d.besides(q.Agent); {
	case why != "":
		q.NoMoment = why
	case e.Moment == "" && e.Problem == "":
		q.NoMoment = "nothing was kept"
	default:
		q.Moment, q.NoMoment = e.Moment, e.Problem
	}
	return nil
}
