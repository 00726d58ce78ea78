package supervisor

import (
	"fmt"
	"slices"

	"claude-supervise/checkpoints"
)

// enqueue puts something among what waits to be said to an agent; false if it is there already, or another with the
// same answers.
func enqueue(a *Agent, s checkpoints.OutboxItem) bool {
	if slices.ContainsFunc(a.Outbox, func(o checkpoints.OutboxItem) bool {
		return o.Key == s.Key || s.Group != "" && o.Group == s.Group
	}) {
		return false
	}
	a.Outbox = append(slices.Clip(a.Outbox), s)
	return true
}

// dequeue takes the answers of a group from what waits to be said to an agent.
func dequeue(a *Agent, group string) {
	a.Outbox = slices.DeleteFunc(slices.Clone(a.Outbox), func(s checkpoints.OutboxItem) bool { return s.Group == group })
}

// sayAgain puts messages that have not been read back to the front of what is to be said.
func (d *transition) sayAgain(agent string, messages []checkpoints.OutboxItem) {
	if len(messages) > 0 {
		a := d.agent(agent)
		a.Outbox = slices.Concat(messages, a.Outbox)
	}
}

// EntryMessage is the kind of what a person says to an agent.
const (
	EntryMessage = checkpoints.EntryMessage
	fromUser     = "user"
)

// childKey is the key under which a parent is told of the end of a child: of each of its ends, should it be revived. It
// may come to another end without having been launched again.
func childKey(c *Agent) string { return fmt.Sprintf(childKeys+"%s %d", c.ID, c.EndedAt.UnixNano()) }

// childKeys is what all these keys begin with, and no others.
const childKeys = "child "
