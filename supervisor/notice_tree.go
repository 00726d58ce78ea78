package supervisor

import (
	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
)

// This file is what is told of the tree of agents: what becomes of delegations, and of children.

// treeNotices tells what a step has changed in the tree of agents. It is given the agents and questions that have
// changed.
func treeNotices(before State, agents []*Agent, changed []*Question, tell teller) {
	for _, q := range changed {
		if !questions.KindOf(q.Kind).Hands {
			continue
		}
		old := before.Questions[q.ID]
		task := WorkIn(q).Task
		if changed, ok := questions.Approved(q); ok && changed != "" {
			task = changed
		}
		n := Notification{Question: q, Task: task, Child: q.Child, AtOnce: old == nil}
		switch {
		case old == nil && q.State == checkpoints.QuestionOpen:
			n.Stage = DelegationAsked
		case q.AnsweredAt == nil, old != nil && old.AnsweredAt != nil && old.Answer == q.Answer:
			continue
		default:
			n.Stage, n.By = DelegationApproved, q.AnsweredBy
			if _, ok := questions.Approved(q); !ok {
				n.Stage = DelegationDenied
				n.Text, _ = questions.Denied(q)
			}
		}
		tell(WorkDelegated, q.Agent, n)
	}
	for _, a := range agents {
		old := before.Agents[a.ID]
		if old == a || a.Delegated == nil {
			continue
		}
		if old == nil {
			tell(WorkDelegated, a.Parent, Notification{Stage: DelegationBegun, Task: a.Task, Child: a.ID, State: a})
		}
		if a.Status.Ended() && (old == nil || !old.Status.Ended()) {
			tell(ChildDone, a.ID, Notification{State: a, Report: a.Report, Text: a.Reason})
		}
	}
}
