package client

import (
	"context"
	"time"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// Say leaves a message for an agent, or for the root of the run that id names. It is kept until the agent has read it;
// it does not wait for that. The error is ErrEnded if the run or that agent has ended, and NoSuchID reports whether id
// names none.
func (c Client) Say(ctx context.Context, id, text, by string) error {
	run, agent, err := view.RunNamed(ctx, c.Store, id)
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
	_, err = c.Leave(ctx, supervisor.InboxEntry{Run: run, Kind: supervisor.EntryMessage, Agent: agent, Value: text, By: by,
		At: time.Now().UTC()})
	return err
}
