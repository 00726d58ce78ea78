package supervisor

import (
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/records"
)

// This file is what becomes of a subagent that has asked a person when its process has ended before its work. The
// subagent has gone with it, and so have those that had started it and wait for its result; the CLI does not bring them
// back. The main conversation is told the answer that it had waited for, or that it had its answer, and what to do
// (prompts/subagent.go). Left alone, the main conversation would begin that task anew, and a person be asked again.

// SubagentStarted says that an agent has started its first subagent, by a call of Agent or Task.
type SubagentStarted struct {
	Agent  string
	Launch int
}

var _ = kind[SubagentStarted]("subagent_started")

func (e SubagentStarted) apply(d *transition) error {
	return d.onLaunch(e.Agent, e.Launch, func(*Launch) { d.agent(e.Agent).Subagents = true })
}

func (SubagentStarted) mayBeLost() bool { return true }

// lookedUp takes what was found of subagents that have asked.
func (d *transition) lookedUp(found map[string]checkpoints.Subagent) {
	for id, sub := range found {
		for _, q := range d.Group(id) {
			if q = d.question(q.ID); q.Tool == nil {
				q.From = &sub
				continue
			}
			call := *q.Tool
			call.From = &sub
			q.Tool = &call
		}
	}
}

// interruptedSubagents had their answers and were interrupted at their work: an agent is told of them before its next
// launch.
var interruptedSubagents = concern{name: "interrupted subagents", idle: (*transition).sayInterrupted}

func (d *transition) sayInterrupted(of subject) bool {
	a := of.Agent
	if of.launch != nil && surveyDue(a, of.launch) || d.Uncertain(a.ID) {
		return false // its transcript is read first
	}
	for _, q := range d.FindQuestionsOf(a.ID, func(q *Question) bool {
		return q.Index == 0 && records.Interrupted(q) && q.State == checkpoints.QuestionDelivered
	}) {
		a.Enqueue(checkpoints.OutboxItem{Key: "interrupted " + q.Group, Group: q.Group, At: d.at})
	}
	return false
}

// toldInterrupted takes note that the agent is being told of the interruption of a subagent and of those above it.
func (d *transition) toldInterrupted(group []*Question) {
	for _, q := range group {
		if records.Interrupted(q) {
			call := *q.Tool
			call.From = call.From.Told()
			d.question(q.ID).Tool = &call
		}
	}
}

// fromSubagent returns the subagent that a group of questions came from, nil if it came from the main conversation.
func fromSubagent(group []*Question) *checkpoints.Subagent {
	if group[0].Tool == nil {
		return nil
	}
	return group[0].Tool.From
}

// revives reports whether subagents of the agent can be revived in its next launch. Those that were at work when
// --max-budget-usd was reached cannot: the CLI takes them for stopped, and refuses messages to them.
func (s State) revives(agent string, l *Launch) bool {
	for _, before := range slices.Backward(s.Launches.Get(agent)) {
		if before.Version != "" {
			return l.Resume && before.End != endBudget && claude.ReleaseOf(before.Version).RevivesSubagents
		}
	}
	return false
}

// answerForSubagent gives a group of questions that a subagent has asked in its own words its answers.
func (s State) answerForSubagent(group []*Question, sub *checkpoints.Subagent, l *Launch) string {
	same := l.StartedAt != nil && !group[0].AskedAt.Before(*l.StartedAt) && claude.ReleaseOf(l.Version).RevivesSubagents
	return prompts.ForSubagent(s.answerText(group), sub, sub.ID != "" && (same || s.revives(l.Agent, l)))
}
