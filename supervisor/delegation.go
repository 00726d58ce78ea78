package supervisor

import (
	"fmt"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

// This file is the delegation protocol (002, Protocol 4). A delegation is a question of its own kind: the person
// answers it, or the policy and the limits do, in the person's place. So it lasts, is decided once, and what was
// decided reaches the agent once, like any other answer.

// maxUndecided is how many delegations of one agent may be undecided, or decided and not yet told, at one time.
const maxUndecided = 50

// delegate takes a delegation that an agent asks for, by a signal or, where call is not nil, by a call of our tool.
func (d *transition) delegate(a *Agent, n Named, call *checkpoints.ToolCall) error {
	l, fp := d.last(a.ID), ask.Fingerprint(n.Signal)
	if call != nil {
		fp = ask.FingerprintOf(*call)
	}
	w := task.Asked(n.Signal)
	w.Said.Fingerprint = fp
	refuse := func(key, text string) error {
		if call != nil {
			l.AnswerAtOnce(checkpoints.Reply{Request: call.Request, Text: text, IsError: true})
			return nil
		}
		if !a.Enqueue(checkpoints.OutboxItem{Key: fmt.Sprintf("%s %d.%d", key, l.N, l.Turns), Text: text, At: d.at}) {
			return unwelcome("it was told so already")
		}
		return nil
	}
	if c := d.SameWork(a.ID, fp); c != nil {
		if call == nil {
			return unwelcome("the same delegation as that of %s", c.ID)
		}
		l.AnswerAtOnce(checkpoints.Reply{Request: call.Request, Text: prompts.UnderWay(c)})
		return nil
	}
	if call != nil && l.LacksType(w.Said.Type) { // else the verdict is kept, which bounds how often it is asked
		return refuse("type", prompts.UnknownType(w.Said.Type, l.AgentTypes))
	}
	undecided := d.Undelegated(a.ID)
	for _, q := range undecided {
		if q.Fingerprint == fp && q.Tool == nil && call == nil && !d.BegunAnswer(q) {
			return unwelcome("the same delegation as question %s", q.ID)
		}
	}
	if len(undecided) >= maxUndecided {
		return refuse("flood", prompts.TooManyDelegations(maxUndecided))
	}
	answer, by := d.verdict(a, w)
	if answer != "" {
		n.Presets = []conf.Preset{{Value: answer, By: by}}
	}
	d.openQuestions(a.ID, questions.AskDelegation, []signals.Question{ask.Delegation(w)}, n.Naming,
		func(q *Question) {
			q.Fingerprint, q.Signal, q.Tool, q.Child = fp, text.JSON(n.Signal), call, n.Child
		})
	return nil
}

// verdict decides a delegation by the limits and the policy, and says who has; "" where a person decides.
func (s State) verdict(a *Agent, w task.Work) (answer, by string) {
	no := func(by, why, alternative string) (string, string) {
		return Deny + " " + why + " " + questions.Instead + " " + alternative, by
	}
	policy := s.Config.Delegate.At(a.Depth + 1)
	switch same := s.TaskAbove(a, w.Task); {
	case w.Task == "":
		return no("claude-supervise", "It names no task: new_task_description is empty.",
			"Delegate again with a whole task, or do it yourself.")
	case s.Launch(a.ID).LacksType(w.Said.Type):
		return no("claude-supervise", prompts.NoSuchType(w.Said.Type, s.Launch(a.ID).AgentTypes), prompts.AskForAnother)
	case policy == conf.DenyDelegations:
		return no("--delegate deny", "This supervisor starts no further agents.",
			"Do the part that you need yourself; put the rest under recommendations in your report.")
	case same != "":
		return no("claude-supervise", "This is the task of "+same+" already: nobody would do it.",
			"Do it yourself, or delegate a part of it.")
	case a.FinishBy > 0:
		return no("the budget", "It is used up, and you were told to finish up.",
			"Name it under recommendations in your report.")
	case s.Config.MaxDepth > 0 && a.Depth >= s.Config.MaxDepth:
		return no("--max-depth", fmt.Sprintf("Agents may be %d deep, and you are at that depth.", s.Config.MaxDepth),
			"Do it yourself.")
	case s.Config.MaxAgents > 0 && s.Agents.Len() >= s.Config.MaxAgents:
		return no("--max-agents", fmt.Sprintf("A run may have %d agents, and this one has.", s.Config.MaxAgents),
			"Do it yourself, or continue an ended agent's work yourself.")
	}
	if why := s.unresumable(a, w.Resume); why != "" {
		return no("claude-supervise", why, "Delegate it without resume, with all that the agent needs to know.")
	}
	if policy == conf.AutoDelegations {
		return Approve, "--delegate auto"
	}
	return "", ""
}

// unresumable says why an agent cannot have the work of another continued; "" if it can, or none is named.
func (s State) unresumable(a *Agent, id string) string {
	before := s.Agents.Get(id)
	switch {
	case id == "":
		return ""
	case before == nil || !s.Below(before, a.ID):
		return fmt.Sprintf("There is no agent %s that you have started.", text.FirstLine(id))
	case !before.Status.Ended():
		return fmt.Sprintf("Agent %s is still at work (%s).", id, before.Status)
	case before.ContinuedBy != "":
		return fmt.Sprintf("Agent %s is continued by %s already.", id, before.ContinuedBy)
	}
	return ""
}

// delegations hold nobody back: what is approved is started, and its end waited for as that of a child.
var delegations = concern{name: "delegations", decided: (*transition).approveChildren}

// approveChildren starts what was approved, once, and stops what is denied after all.
func (d *transition) approveChildren(agent string) {
	for _, q := range d.FindQuestionsOf(agent, func(q *Question) bool {
		return q.Child != "" && q.State == checkpoints.QuestionAnswered
	}) {
		w, start := d.delegated(q)
		c := d.Agents.Get(q.Child)
		switch {
		case start && c == nil:
			w.Said.Question = q.ID
			d.spawn(task.Child{Agent: q.Child, Parent: agent, Work: w})
			if len(q.Told) > 0 {
				d.agent(q.Child).Outbox, d.question(q.ID).Told = q.Told, nil
			}
			blocks := w.Said.Independence == checkpoints.Blocks && d.Held(q) == nil
			if blocks || q.Nested.HasClients() {
				d.question(q.ID).State = checkpoints.QuestionDelivered // it waits for the child, whose end says all
			}
		case !start && c != nil && !c.Status.Ended():
			d.agent(c.ID).StopWanted = q.AnsweredBy + ", who has denied it after all"
			d.touch(c.ID)
		}
	}
}

// unspawn takes back the agents that were approved and have not begun: they are asked about anew.
func (d *transition) unspawn() {
	for _, a := range slices.Backward(d.AllAgents()) {
		if a.Delegated == nil || a.Status.Ended() || len(d.Launches.Get(a.ID)) > 0 {
			continue
		}
		q := d.Questions.Get(a.Delegated.Question)
		if q == nil || q.Child != a.ID || d.Agents.Get(q.Agent).Status.Ended() || d.leads(a) {
			continue
		}
		for _, said := range a.Outbox { // once it is approved again it is told
			if said.From == fromUser {
				q = d.question(q.ID)
				q.Told = append(slices.Clip(q.Told), said)
			}
		}
		d.Agents.Delete(a.ID)
		delete(d.touched, a.ID)
		d.indexAnew()
		for _, before := range d.AllAgents() {
			if before.ContinuedBy == a.ID {
				d.agent(before.ID).ContinuedBy = ""
			}
		}
	}
}

// leads reports whether anything in the run hangs on an agent, other than its parent.
func (s State) leads(a *Agent) bool {
	for other := range s.Agents.Values() {
		if other.Parent == a.ID || other.Delegated != nil && slices.Contains(other.Delegated.After, a.ID) ||
			other.Exceeds == a.ID {
			return true
		}
	}
	for q := range s.Questions.Values() {
		if q.Agent == a.ID {
			return true
		}
	}
	return len(s.FindDeliveries(a.ID, func(*Delivery) bool { return true })) > 0
}
