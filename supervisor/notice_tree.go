package supervisor

import (
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// This file is what is told of the tree of agents: what becomes of delegations, and of children.

// The types of notice of the tree.
const (
	WorkDelegated NotificationType = "delegation" // Stage, Task; of the agent that delegates
	ChildDone     NotificationType = "child_done" // State; of the child
)

// Stage is how far a delegation has got.
type Stage string

// The stages of a delegation. What a task file states begins without being asked for.
const (
	DelegationAsked    Stage = "asked"
	DelegationApproved Stage = "approved"
	DelegationDenied   Stage = "denied"
	DelegationBegun    Stage = "begun" // the child is there; it may wait for a slot, or for others
)

// treeNotices tells what a step has changed in the tree of agents. It is given the agents and questions that have
// changed.
func treeNotices(before State, agents []*Agent, changed []*Question,
	tell func(NotificationType, string, Notification)) {
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

// Who names an agent for people in a few words, where a run has several; "" where it has one.
func (s State) Who(agent string) string {
	a := s.Agents[agent]
	if a == nil || len(s.Agents) < 2 {
		return ""
	}
	return Who(a)
}

// What of an agent's id, and of its task, names it in a line, in bytes.
const (
	whoID   = len("a-7Qm2")
	whoTask = 24
)

// Who names an agent for people in a few words: as a task file does, else by the start of its id, which commands take,
// and that of its task.
func Who(a *Agent) string {
	switch {
	case a.Delegated == nil:
		return "root"
	case a.Delegated.Name != "":
		return a.Delegated.Name
	}
	task := strings.Join(strings.Fields(text.FirstLine(a.Task)), " ")
	if cut := text.Truncate(task, whoTask); cut != task {
		task = strings.TrimSpace(cut) + "…"
	}
	return a.ID[:min(whoID, len(a.ID))] + " " + task
}
