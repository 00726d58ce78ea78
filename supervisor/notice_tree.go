package supervisor

import (
	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/questions"
)

// This file is what is told of the tree of agents: what becomes of delegations, and of children.

// treeNotices tells what a step has changed in the tree of agents. It is given the agents and questions that have
// changed.
func treeNotices(before State, agents []*Agent, changed []*Question, tell notice.Teller) {
	for _, q := range changed {
		if !questions.KindOf(q.Kind).Hands {
			continue
		}
		old := before.Questions.Get(q.ID)
		task := ask.WorkIn(q).Task
		if changed, ok := questions.Approved(q); ok && changed != "" {
			task = changed
		}
		n := notice.Notification{Question: q, Task: task, Child: q.Child, AtOnce: old == nil}
		switch {
		case old == nil && q.State == checkpoints.QuestionOpen:
			n.Stage = notice.DelegationAsked
		case q.AnsweredAt == nil, old != nil && old.AnsweredAt != nil && old.Answer == q.Answer:
			continue
		default:
			n.Stage, n.By = notice.DelegationApproved, q.AnsweredBy
			if _, ok := questions.Approved(q); !ok {
				n.Stage = notice.DelegationDenied
				n.Text, _ = questions.Denied(q)
			}
		}
		tell(notice.WorkDelegated, q.Agent, n)
	}
	for _, a := range agents {
		old := before.Agents.Get(a.ID)
		if old == a || a.Delegated == nil {
			continue
		}
		if old == nil {
			tell(notice.WorkDelegated, a.Parent, notice.Notification{Stage: notice.DelegationBegun, Task: a.Task, Child: a.ID,
				State: a})
		}
		if a.Status.Ended() && (old == nil || !old.Status.Ended()) {
			tell(notice.ChildDone, a.ID, notice.Notification{State: a, Report: a.Report, Text: a.Reason})
		}
	}
}
