package supervisor

import (
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

// This file is the time-out case of the protocols document (002): of work that takes longer than its estimate a
// person is asked once what is to become of it.

// OverrunQuestion asks what becomes of an agent that takes longer than its estimate.
func (s State) OverrunQuestion(a *Agent) signals.Question {
	return ask.Overrun(a, s.Doing(a), s.Abilities().TakesInput)
}

// overruns hold nobody back: an agent works on while a person is asked what becomes of it.
var overruns = concern{
	name:    "overruns",
	decided: (*transition).decideOverrun,
	plan: func(_ State, a *Agent, _ *Launch, so []effect.Effect) []effect.Effect {
		if a.Overdue != nil && !a.ToldOverdue {
			so = append(so, effect.Effect{Do: effect.Overdue, Key: "overdue " + a.ID, Agent: a.ID, Until: *a.Overdue})
		}
		return so
	},
	tells: func(_, after State, e Event, tell notice.Teller) {
		if e, ok := e.(Overdue); ok && (len(e.IDs) == 0 || after.Questions.Get(e.IDs[0]) == nil) { // else it is asked
			tell(notice.Progress, e.Agent,
				notice.Notification{Text: ask.OverdueInWords(after.Agents.Get(e.Agent)), Trouble: true})
		}
	},
}

// decideOverrun does what a person has answered to how long an agent takes. What is said to it goes into its turn.
func (d *transition) decideOverrun(id string) {
	for _, q := range d.FindQuestionsOf(id, func(q *Question) bool {
		return q.Kind == questions.AskOverrun && q.State == checkpoints.QuestionAnswered
	}) {
		q = d.question(q.ID)
		q.State = checkpoints.QuestionDelivered
		word, words, _ := strings.Cut(q.Answer, ":")
		word, words = strings.ToLower(strings.TrimSpace(word)), strings.TrimSpace(words)
		switch {
		case q.Declined, q.Skipped, word == questions.GoOnIt && words == "":
			continue
		case word == questions.StopIt:
			d.stop(InboxEntry{Agent: id, By: q.AnsweredBy})
			continue
		}
		d.agent(id).Enqueue(checkpoints.OutboxItem{Key: "overrun " + d.AnswerKey([]*Question{q}),
			From: fromUser, At: d.at, Text: prompts.Overrun(d.Agents.Get(id).Estimate, q.Answer, word, words)})
	}
}

// Overdue says that an agent's work takes longer than its estimate. It names the question about it; a run of an earlier
// release has none.
type Overdue struct {
	Agent string
	Naming
}

var _ = kind[Overdue]("overdue")

// apply takes note that an agent's work takes longer than its estimate, and asks what becomes of it. Where questions
// are refused, the person is told only.
func (e Overdue) apply(d *transition) error {
	a := d.Agents.Get(e.Agent)
	if a == nil || a.Overdue == nil || a.ToldOverdue || a.Status.Ended() {
		return unwelcome("the work of %s is not overdue", e.Agent)
	}
	d.agent(e.Agent).ToldOverdue = true
	if len(e.IDs) == 1 && d.Config.Policy != conf.Fail && a.StopWanted == "" {
		d.openQuestions(a.ID, questions.AskOverrun, []signals.Question{d.OverrunQuestion(a)}, e.Naming,
			func(q *Question) { q.Fingerprint = "overrun " + a.ID })
	}
	return nil
}
