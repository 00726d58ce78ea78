package supervisor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
)

// This file is what is said to agents that they have not asked for: by a person who is attached to the run, and by other
// agents. It lasts like an answer. What a person says goes into the turn that is under way, if there is one; what an agent
// says waits for the receiver's next turn.

const (
	noteMessage = checkpoints.NoteMessage
	fromUser    = "user"
)

// Say leaves a message for an agent, or for the root of the run that id names. It is kept until the agent has read it; it does
// not wait for that. The error is ErrEnded if the run or that agent has ended, and NoSuchID tells whether id names none.
func (c Client) Say(ctx context.Context, id, text, by string) error {
	run, agent, err := runNamed(ctx, c.Store, id)
	if err != nil {
		return err
	}
	if agent == "" {
		r, err := c.Store.Run(ctx, run)
		if err != nil {
			return err
		}
		agent = r.Root
	}
	at(c.At, beforeNote+noteMessage)
	_, err = c.Store.Leave(ctx, Note{Run: run, Kind: noteMessage, Agent: agent, Value: text, By: by, At: time.Now().UTC()})
	if err != nil {
		return err
	}
	at(c.At, afterNote+noteMessage)
	return c.ring(ctx, run)
}

// message takes what a person says to an agent.
func (d *draft) message(n Note) {
	id := n.Agent
	if id == "" {
		id = d.Run.Root
	}
	if a := d.Agents[id]; a == nil || a.Group || a.Status.Ended() {
		return // its end was saved before: who left it was told so, or sees it
	}
	toSay(d.agent(id), checkpoints.Saying{Key: fmt.Sprintf("message %d", n.Seq), Text: personSays(n.Value), From: fromUser, At: n.At})
}

// maxUnread is how much may wait to be said to an agent before other agents are refused: it is saved with each event, and one that
// calls without end must not make the run slower and slower.
const maxUnread = 50

// toPerson tells whether a message is for the person, who sees all that agents say.
func toPerson(to string) bool {
	switch strings.ToLower(strings.TrimSpace(to)) {
	case "", "user", "person", "human", "parent", "supervisor", "main":
		return true
	}
	return false
}

// pass hands a message of an agent on, and says what became of it.
func (d *draft) pass(from *Agent, sub *checkpoints.Subagent, sig signals.Signal, key string, at time.Time) (reply string, isError bool) {
	to := strings.TrimSpace(sig.Field("to"))
	receiver := d.Agents[to]
	switch {
	case toPerson(to):
		return "The person sees it. No answer will come: to get one, ask.", false
	case to == from.ID && sub == nil:
		return "That is you.", true
	case receiver == nil:
		return fmt.Sprintf("There is no agent %s in this run. There are: %s; and \"user\".", to, d.agentList()), true
	case receiver.Group:
		return fmt.Sprintf("%s is nothing but its tasks, and reads nothing.", to), true
	case receiver.Status.Ended():
		return fmt.Sprintf("Agent %s has ended (%s); nothing was sent.", to, receiver.Status), true
	case len(receiver.Sayings) >= maxUnread:
		return fmt.Sprintf("%d messages wait for agent %s already; nothing was sent. Do not send more before it has read them.", maxUnread, to), true
	}
	key += " from " + from.ID
	toSay(d.agent(to), checkpoints.Saying{Key: key, Text: agentSays(from, sig.Field("text")), From: from.ID, At: at})
	return "It is kept for " + to + ", who reads it at its next turn.", false
}

// agentList names the agents of the run that still live.
func (s State) agentList() string {
	var ids []string
	for _, a := range s.agents() {
		if !a.Status.Ended() {
			ids = append(ids, a.ID)
		}
	}
	return strings.Join(ids, ", ")
}

// speakNow says what does not wait for the end of a turn, nor for the answer to a question. A release that would show it twice
// gets it when the turn has ended, with all else.
func (d *draft) speakNow(a *Agent, l *Launch, at time.Time) {
	if !slices.ContainsFunc(a.Sayings, ofUser) ||
		l.Turn && !procs.ReleaseOf(l.Version).TakesMidTurn || l.TurnDue || d.toBegin(l) {
		return
	}
	var keys, texts []string
	var now, later []checkpoints.Saying
	for _, s := range a.Sayings {
		if !ofUser(s) {
			later = append(later, s)
			continue
		}
		now = append(now, s)
		keys, texts = append(keys, s.Key), append(texts, s.Text)
	}
	a.Sayings = later
	d.begin(a, l, delivering{key: strings.Join(keys, "+"), text: strings.Join(texts, "\n\n"), messages: now, now: true}, at)
}

// toBegin tells whether a prompt has still to begin its turn in a launch. What is said beside it could overtake it, and the agent
// would go on without what that tells it.
func (d *draft) toBegin(l *Launch) bool {
	return len(d.deliveries(l.Agent, func(v *Delivery) bool {
		return v.Launch == l.N && v.Tool == nil && !v.Now && (v.State == checkpoints.DeliveryPending || v.State == checkpoints.DeliverySent)
	})) > 0
}

func ofUser(s checkpoints.Saying) bool { return s.From == fromUser }

// sayAgain puts messages that have not been read back to the front of what is to be said.
func (d *draft) sayAgain(agent string, messages []checkpoints.Saying) {
	if len(messages) > 0 {
		a := d.agent(agent)
		a.Sayings = slices.Concat(messages, a.Sayings)
	}
}

func personSays(text string) string {
	return "## MESSAGE FROM THE USER\n\n" + text
}

// agentSays quotes an agent, so that no line of its message can pass for a heading of ours: for an answer, or a word of the user.
func agentSays(from *Agent, text string) string {
	lines := strings.FieldsFunc(newlines.Replace(text), func(r rune) bool { return r == '\n' })
	return fmt.Sprintf("## MESSAGE FROM AGENT %s\n\n> %s\n\n(It works on: %s)", from.ID, strings.Join(lines, "\n> "), firstLine(from.Task))
}
