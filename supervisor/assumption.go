package supervisor

import (
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// This file is the question that does not stop the work (Question.Assumed): its agent is told at once that it is asked,
// and goes on under its assumption. The answer is said into its turn, or by the next launch. Until then the agent does
// not count as done: with nothing left to do it waits, held or parked, as for any question.

// assuming keeps an agent from its end, with nothing left to do, while something that it has assumed is open.
var assuming = concern{
	name: "assuming", holds: true,
	live: func(d *transition, of subject) bool {
		of.open = d.Assuming(of.ID)
		if len(of.open) > 0 {
			d.wait(of)
		}
		return len(of.open) > 0
	},
	idle: func(d *transition, of subject) bool {
		open := d.Assuming(of.ID)
		if len(open) == 0 || !d.toldAll(of) {
			return false
		}
		d.idleStatus(of.Agent, of.launch, open)
		return true
	},
}

// restsAssuming reports whether an agent with a process has nothing left to do but to wait for what it has assumed.
func (d *transition) restsAssuming(a *Agent, l *Launch) bool {
	return !l.Phase.InTurn() && l.Phase != checkpoints.LaunchTurnDue && l.Turns > 0 && len(l.Alive()) == 0 &&
		len(a.Outbox) == 0 && !a.GoOn && !d.reads(l) && len(d.Open(a.ID)) == 0 && len(d.Assuming(a.ID)) > 0
}

// mayAssume has a question that is about to be asked wait after all, where its agent could not be told of the answer at
// its work, and leaves out what it would affect outside of its folder. Of both the person is told.
func (d *transition) mayAssume(q *Question) {
	if q.Assumed == nil {
		return
	}
	say := func(format string, args ...any) {
		q.Context = strings.TrimSpace(q.Context + "\n" + fmt.Sprintf(format, args...))
	}
	if !d.Abilities().TakesInput {
		say("It would go on under an assumption (%s), but nothing can be said to it at its work: it waits.", q.Assumed.Text)
		q.Assumed = nil
		return
	}
	var inside []string
	for _, path := range q.Assumed.Affects {
		if rel, ok := text.Inside(d.Folder(q.Agent), path); ok {
			inside = append(inside, rel)
		} else {
			say("What it affects in %s is not looked at: that is outside of its folder.", text.Line(path, text.MaxNamed))
		}
	}
	q.Assumed.Affects = inside
}

// assume asks the question of a call that does not wait for the answer, and returns what the call reads at once. One
// that is asked already is not asked again: the process that had asked it may have been lost with the reply. Where the
// answer is there at once, the call waits for it, as one that blocks: done is false.
func (d *transition) assume(e Called) (reply string, isError, done bool) {
	q := e.Signal.Questions[0]
	if q.Assumption == "" {
		return prompts.AssumesNothing, true, true
	}
	call, fp := e.Call, ask.FingerprintOf(e.Call)
	if same := d.FindQuestionsOf(e.Agent, func(q *Question) bool {
		return q.Fingerprint == fp && q.Assumed != nil &&
			(q.IsOpen() || q.State == checkpoints.QuestionAnswered && !d.BegunAnswer(q))
	}); len(same) > 0 {
		return prompts.Assuming(same[0]), false, true
	}
	kind, qs := ParseQuestions(e.Signal)
	d.openQuestions(e.Agent, kind, qs, e.Naming, func(q *Question) {
		q.Fingerprint, q.Signal, q.From = fp, text.JSON(e.Signal), call.From
	})
	asked := d.question(e.IDs[0])
	if asked.Assumed != nil && asked.State != checkpoints.QuestionAnswered {
		return prompts.Assuming(asked), false, true
	}
	asked.Assumed, asked.From, asked.Tool = nil, nil, &call
	return "", false, false
}

// blocks reports whether an agent waits for the answer to a signal's questions.
func blocks(sig signals.Signal) bool { return !sig.GoesOn() || len(sig.Questions) == 0 }

// mustLook reports whether what was made under an assumption is to be looked for before the agent is told that it was
// wrong.
func mustLook(q *Question) bool { return questions.VerdictOf(q) == questions.Corrected }

// judged takes what an answer makes of an assumption before it is said. What the agent has reported under one that is
// wrong counts no more. One that holds needs no words where the agent has reported success, and is at rest: done is
// true.
func (d *transition) judged(a *Agent, q *Question) (done bool) {
	switch l := d.Live(a.ID); {
	case !questions.WorksOn(q) || a.Report == nil:
	case mustLook(q), questions.KindOf(q.Kind).Refused && questions.Allowed(q):
		a = d.agent(a.ID)
		a.Report, a.ReportRequested, a.ToldMissing = nil, false, false
	case a.Report.Status == "success" && (l == nil || !l.Phase.InTurn() && !d.reads(l)) && len(a.Outbox) == 0 && !a.GoOn:
		q = d.question(q.ID)
		q.State = checkpoints.QuestionDelivered
		q.Remark = joinRemarks(q.Remark, "its agent had reported, and goes by it already")
		return true
	}
	return false
}

// aside reports whether something that is to be said is the answer to a question that does not stop the work.
func (s State) aside(o checkpoints.OutboxItem) bool {
	if o.Group == "" {
		return false
	}
	group := s.Group(o.Group)
	return len(group) > 0 && questions.WorksOn(group[0])
}

// asideText is the answer to a question that did not stop the work, which a subagent may have asked.
func (s State) asideText(group []*Question, l *Launch) string {
	if sub := group[0].From; sub != nil {
		reached := sub.ID != "" && claude.ReleaseOf(l.Version).RevivesSubagents
		return prompts.AsideBySubagent(group[0], s.answerText(group), sub, reached)
	}
	return s.answerText(group)
}
