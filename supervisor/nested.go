package supervisor

import (
	"fmt"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

// This file is the runs that are started inside an agent: by its Bash tool, a script, CI. Such a run has no supervisor
// of its own. It leaves a note for the run that it is in, whose supervisor makes a child of it, under the policy and
// the limits of every delegation; its process stays as a client that waits where it was started. So that the agent is
// told of the end once, the client says when it has told it (EntryNestedSeen) or has gone without (EntryNestedLeft). A
// client that was killed says nothing: it has gone at the latest when the turn, or the background work, is over in
// which it was started. From then on the end is told by a prompt, like that of every child.

// The notes of runs inside agents. That of EntryNested comes under the id of the agent that calls, the others under
// that of the agent that was asked for.
const (
	EntryNestedSeen = checkpoints.EntryNestedSeen // the end was told where the run was started; Value: why it was refused
	EntryNestedLeft = "nested_left"               // the client has gone before
)

// nestings takes the notes of runs inside agents. names has what their questions are given from outside, by the notes'
// Seq.
func (d *transition) nestings(notes []InboxEntry, names NotesNamed) {
	for _, n := range notes {
		switch n.Kind {
		case ask.EntryNested:
			if nest, ok := ask.NestingIn(n); ok && d.Agents.Get(n.Agent) != nil && d.Run.TakenOver == nil {
				d.nest(d.Agents.Get(n.Agent), nest, names[n.Seq])
			}
		case EntryNestedSeen:
			d.nestedSeen(n.Agent, n.Value)
		case EntryNestedLeft:
			d.nestedLeft(n.Agent)
		}
	}
}

// nest starts what a run inside an agent asks for, or asks the person whether to. What is refused changes nothing: the
// client finds out why by itself, so that a loop of refused runs fills no records.
func (d *transition) nest(a *Agent, nest ask.Nesting, named Naming) {
	fp, clients := nest.Fingerprint(), 0
	if l := d.Live(a.ID); nest.Waits && l != nil && l.N == nest.Launch {
		clients = 1
	}
	if c := d.SameWork(a.ID, fp); c != nil {
		d.changeNested(c, func(n *checkpoints.Nested) { n.Clients += clients })
		return
	}
	if q := d.NestedQuestion(a.ID, fp); q != nil {
		d.question(q.ID).Nested = &checkpoints.Nested{Clients: q.Nested.Clients + clients, Work: q.Nested.Work}
		return
	}
	if d.Agents.Get(nest.Agent) != nil || d.NestedRefused(a, nest.Work) != "" {
		return
	}
	if answer, _ := d.verdict(a, nest.Work); answer == Approve {
		w := nest.Work
		w.Said.Fingerprint, w.Said.Nested = fp, &checkpoints.Nested{Clients: clients}
		d.spawn(task.Child{Agent: nest.Agent, Parent: a.ID, Work: w})
		d.touch(a.ID) // which waits for it from now on, and holds no slot
		return
	}
	if len(named.IDs) != 1 || d.Questions.Get(named.IDs[0]) != nil {
		return
	}
	d.openQuestions(a.ID, questions.AskDelegation, []signals.Question{ask.Delegation(nest.Work)}, named,
		func(q *Question) {
			q.Fingerprint, q.Child, q.Nested = fp, nest.Agent,
				&checkpoints.Nested{Clients: clients, Work: text.JSON(nest)}
		})
}

// NestedRefused says why nothing is started for a run inside an agent; "" if it is, or a person decides.
func (s State) NestedRefused(a *Agent, w task.Work) string {
	for up, below := a, a; up != nil; up, below = s.Agents.Get(up.Parent), up {
		switch {
		case up.Status.Ended():
			return fmt.Sprintf("agent %s has ended (%s: %s), and nothing new is started for it", up.ID, up.Status, up.Reason)
		case up.StopWanted != "" && (up == a || !s.Outlives(below, up)):
			return fmt.Sprintf("agent %s is being stopped by %s, and nothing new is started for it", up.ID, up.StopWanted)
		}
	}
	if answer, by := s.verdict(a, w); answer != "" && answer != Approve {
		return questions.WhyDenied(answer, by)
	}
	if len(s.Undelegated(a.ID)) >= maxUndecided {
		return fmt.Sprintf("%d runs and delegations of agent %s wait for a person already. End your turn, and start fewer",
			maxUndecided, a.ID)
	}
	return ""
}

// changeNested changes what is known of the run that asked for an agent.
func (d *transition) changeNested(c *Agent, change func(*checkpoints.Nested)) {
	said, nested := *c.Delegated, *c.Delegated.Nested
	change(&nested)
	said.Nested = &nested
	d.agent(c.ID).Delegated = &said
}

// nestedSeen takes note that a client has told the end of an agent, or why none was started: no prompt says it again.
// refused is what the client has told of a refusal, "" if it was a client of a release that did not say.
func (d *transition) nestedSeen(id, refused string) {
	c := d.Agents.Get(id)
	if c == nil {
		d.refusalSeen(id, refused)
		return
	}
	if c.Delegated == nil || c.Delegated.Nested == nil {
		return
	}
	if !c.Status.Ended() {
		d.nestedLeft(id)
		return
	}
	l := d.Live(c.Parent)
	d.changeNested(c, func(n *checkpoints.Nested) {
		n.Clients = max(n.Clients-1, 0)
		if l != nil {
			n.Seen = &checkpoints.Turn{Launch: l.N, Before: l.Turns}
		}
	})
	c = d.agent(id)
	c.Delegated.Told = true // its record was copied just now
	p := d.agent(c.Parent)
	p.Outbox = slices.DeleteFunc(slices.Clone(p.Outbox), func(s checkpoints.OutboxItem) bool {
		return s.Key == c.EndKey()
	})
}

// refusalSeen takes note that a client has told why no agent was started. An answer that was changed meanwhile is not
// what it told: a prompt says it.
func (d *transition) refusalSeen(id, refused string) {
	for _, q := range d.FindQuestions(func(q *Question) bool {
		return q.Child == id && q.Nested != nil && q.State == checkpoints.QuestionAnswered && !q.Delivering
	}) {
		if refused != "" && refused != questions.WhyDenied(q.Answer, q.AnsweredBy) {
			d.question(q.ID).Nested = &checkpoints.Nested{Work: q.Nested.Work}
			continue
		}
		d.question(q.ID).State = checkpoints.QuestionDelivered
		d.agent(q.Agent).Dequeue(q.Group)
	}
}

// nestedLeft takes note that a client has gone: without another, the agent that called is told by prompts.
func (d *transition) nestedLeft(id string) {
	if c := d.Agents.Get(id); c != nil {
		if c.HasClients() {
			d.changeNested(c, func(n *checkpoints.Nested) { n.Clients-- })
			d.owed(d.Agents.Get(id))
		}
		return
	}
	for _, q := range d.FindQuestions(func(q *Question) bool { return q.Child == id && q.Nested.HasClients() }) {
		d.question(q.ID).Nested = &checkpoints.Nested{Clients: q.Nested.Clients - 1, Work: q.Nested.Work}
	}
}

// clientsGone takes note that nothing is left of what an agent has started in its turns: no client waits any more.
func (d *transition) clientsGone(agent string) {
	d.reindex()
	for _, c := range d.WithClients(agent) {
		d.changeNested(c, func(n *checkpoints.Nested) { n.Clients = 0 })
		d.owed(d.Agents.Get(c.ID))
	}
	for _, q := range d.Undelegated(agent) {
		if q.Nested.HasClients() {
			d.question(q.ID).Nested = &checkpoints.Nested{Work: q.Nested.Work}
		}
	}
}

// unseen takes back what clients have told in a turn that is lost: it is told again.
func (d *transition) unseen(agent string, turn checkpoints.Turn) {
	for _, c := range d.Children(agent) {
		if n := c.Delegated.Nested; n != nil && n.Seen != nil && *n.Seen == turn {
			d.changeNested(c, func(n *checkpoints.Nested) { n.Seen = nil })
			c = d.agent(c.ID)
			c.Delegated.Told = false
			d.owed(c)
		}
	}
}

// owed tells the end of an agent to its parent, if that has not been told and no client does.
func (d *transition) owed(c *Agent) {
	if c.Status.Ended() && !c.Delegated.Told {
		d.tellParent(d.agent(c.ID))
	}
}

// A NestedState is how far the work of a nested run has got in a state.
type NestedState struct {
	Agent    *Agent    // nil: it has not been started
	Question *Question // whether it may be started, if a person is asked that and it has not been started
	Code     int       // once the agent has ended: what a run of its own would exit with
	Refused  string    // why it was not started, in words
}

// NestedIn says how far the nested run has got in a state.
func (s State) NestedIn(n *records.NestedRequest) (end NestedState) {
	if s.Taken < n.Seq {
		return end
	}
	c, q := s.NestedFor(n)
	switch {
	case c != nil:
		n.Agent, end.Agent = c.ID, c
		if c.Status.Ended() {
			end.Code = exit.Code(s.DecisiveIn(c))
		}
	case q == nil:
		if end.Refused = s.NestedRefused(s.Agents.Get(n.Caller.Agent), n.Work); end.Refused == "" {
			end.Refused = "it was refused, as its run stood then; it may be tried again"
		}
	case q.State == Open:
		n.Agent, end.Question = q.Child, q
	case q.State == checkpoints.QuestionWithdrawn:
		n.Agent, end.Refused = q.Child, "the question whether it may start is no longer open"
	default:
		if _, ok := questions.Approved(q); ok {
			return end // its agent is made in the same step
		}
		n.Agent, end.Refused = q.Child, questions.WhyDenied(q.Answer, q.AnsweredBy)
	}
	return end
}
