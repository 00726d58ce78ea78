package supervisor

import (
	"slices"

	"claude-supervise/checkpoints"
)

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
