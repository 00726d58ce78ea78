package supervisor

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/signals"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/text"
)

// This file is what is said to agents that they have not asked for: by a person who is attached to the run, and by
// other agents. It lasts like an answer. What a person says, and what an agent says to one whose work it has started,
// goes into the turn that is under way, if there is one; what other agents say waits for the receiver's next turn.

// message takes what a person says to an agent.
func (d *transition) message(n InboxEntry) {
	id := n.Agent
	if id == "" {
		id = d.Run.Root
	}
	if a := d.Agents.Get(id); a == nil || a.Group || a.Status.Ended() {
		return // its end was saved before: who left it was told so, or sees it
	}
	d.agent(id).Enqueue(checkpoints.OutboxItem{Key: d.KeyOf(fmt.Sprintf("message %d", n.Seq), n.At),
		Text: prompts.PersonSays(n.Value), From: fromUser, At: n.At})
}

// maxUnread is how much may wait to be said to an agent before other agents are refused: it is saved with each event,
// and one that calls without end must not make the run slower and slower.
const maxUnread = 50

// pass hands a message of an agent on, and says what became of it.
func (d *transition) pass(from *Agent, sub *checkpoints.Subagent, sig signals.Signal, key string) (reply string,
	isError bool) {
	to := strings.TrimSpace(sig.Field("to"))
	receiver := d.Agents.Get(to)
	switch {
	case listen.ToPerson(to):
		return "The person sees it. No answer will come: to get one, ask.", false
	case to == from.ID && sub == nil:
		return "That is you.", true
	case receiver == nil:
		return fmt.Sprintf("There is no agent %s in this run. There are: %s; and \"user\".", to, d.AgentList()), true
	case receiver.Group:
		return fmt.Sprintf("%s is nothing but its tasks, and reads nothing.", to), true
	case receiver.Status.Ended():
		return fmt.Sprintf("Agent %s has ended (%s); nothing was sent.", to, receiver.Status), true
	case len(receiver.Outbox) >= maxUnread:
		return fmt.Sprintf(
				"%d messages wait for agent %s already; nothing was sent. Do not send more before it has read them.",
				maxUnread, to),
			true
	}
	below := d.Below(receiver, from.ID)
	if sig.Field("stop") == "true" {
		return d.stopBelow(from, receiver, below, sig.Field("text"))
	}
	key += " from " + from.ID
	said := checkpoints.OutboxItem{Key: key, Text: prompts.AgentSays(from, sig.Field("text")), From: from.ID, At: d.at}
	if !below {
		d.agent(to).Enqueue(said)
		return "It is kept for " + to + ", who reads it at its next turn.", false
	}
	said.Text += "\n\nYou do this agent's work: where its message changes your task, the message holds."
	d.agent(to).Enqueue(said)
	return "It goes to " + to + ", into the turn that is under way if there is one.", false
}

// stopBelow stops an agent, and what it has started, for one whose work it does. From then on it counts for nothing:
// who has stopped it answers for the work.
func (d *transition) stopBelow(from, a *Agent, below bool, why string) (reply string, isError bool) {
	if !below {
		return "You have not started agent " + a.ID + ": only who has may stop it.", true
	}
	said := *a.Delegated
	said.Independence = checkpoints.Optional
	d.agent(a.ID).Delegated = &said
	d.stop(InboxEntry{Agent: a.ID, By: fmt.Sprintf("agent %s (%s)", from.ID, text.Line(why, text.MaxNamed))})
	return "Agent " + a.ID + " is stopped, and what it has started. It is not waited for.", false
}

// steers reports whether something does not wait for the end of an agent's turn: a person says it, as the answer to a
// question that does not stop the work, or an agent whose work it does.
func (s State) steers(a *Agent, say checkpoints.OutboxItem) bool {
	return say.From == fromUser || s.aside(say) || s.Below(a, say.From)
}

// steering is what is said into the turn of an agent.
var steering = concern{name: "steering", live: func(d *transition, of subject) bool {
	d.flushNow(of.Agent, of.launch)
	return false
}}

// flushNow says what does not wait for the end of a turn, nor for the answer to a question. A release that would show
// it twice gets it when the turn has ended, with all else.
func (d *transition) flushNow(a *Agent, l *Launch) {
	steers := func(s checkpoints.OutboxItem) bool { return !s.AfterTurn && d.steers(a, s) && !d.ShownWithAnswer(s) }
	if !slices.ContainsFunc(a.Outbox, steers) ||
		l.Phase.InTurn() && !claude.ReleaseOf(l.Version).TakesMidTurn || l.Phase == checkpoints.LaunchTurnDue ||
		d.toBegin(l) {
		return
	}
	var keys, texts []string
	var now, later []checkpoints.OutboxItem
	var groups []string
	for _, s := range a.Outbox {
		if !steers(s) {
			later = append(later, s)
			continue
		}
		now, keys = append(now, s), append(keys, s.Key)
		if s.Group == "" {
			texts = append(texts, s.Text)
			continue
		}
		group := d.Group(s.Group)
		if group[0].State != checkpoints.QuestionDelivered {
			groups = append(groups, s.Group)
		}
		texts = append(texts, d.asideText(group, l))
	}
	a.Outbox = later
	d.begin(a, l, delivering{key: strings.Join(keys, "+"), text: strings.Join(texts, "\n\n"), groups: groups,
		messages: now, now: true})
}

// toBegin reports whether a prompt has still to begin its turn in a launch. What is said beside it could overtake it,
// and the agent would go on without what that tells it.
func (d *transition) toBegin(l *Launch) bool {
	return len(d.FindDeliveries(l.Agent, func(v *Delivery) bool {
		return v.Launch == l.N && v.Prompt() &&
			!v.Now && (v.Unsent() || v.State == checkpoints.DeliverySent)
	})) > 0
}

// EntryMessage is the kind of what a person says to an agent.
const (
	EntryMessage = checkpoints.EntryMessage
	fromUser     = "user"
)
