package supervisor

import (
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/prompts"
)

// finish ends an agent. Answers that have not reached it are kept in its outbox, should a person revive it.
func (d *transition) finish(a *Agent, status Status, reason string) {
	at := d.at
	if d.tidies(a) {
		return
	}
	d.withdraw(a.ID)
	d.voidGrants(a.ID)
	d.abandon(a)
	a.NotBefore, a.LimitedBy, a.HoldUntil, a.QueuedAt, a.EndedAt = nil, "", nil, nil, &at
	d.setStatus(a, status, reason)
	d.orphan(a)
	d.tellParent(a)
}

// orphan stops what an agent has started and that still lives when the agent itself ends: nobody would hear of it.
// Where a person has stopped the agent alone, the next agent above it does.
func (d *transition) orphan(a *Agent) {
	above := d.Survivor(a)
	for _, c := range d.Children(a.ID) {
		switch {
		case c.Status.Ended():
		case a.StopOnly && above != nil:
			d.adopt(c, above)
		case c.StopWanted == "":
			d.agent(c.ID).StopWanted = a.EndInWords()
			d.touch(c.ID)
		}
	}
}

// tellParent puts the end of a child among what is to be said to its parent, unless clients tell it where they were
// started.
func (d *transition) tellParent(c *Agent) {
	if p := d.Agents.Get(c.Parent); p != nil && !p.Status.Ended() && !p.Group && !c.Delegated.Nested.HasClients() {
		said := *c.Delegated
		said.Told = true
		c.Delegated = &said
		d.touch(p.ID)
		if d.InPool(c) {
			return
		}
		d.agent(p.ID).Enqueue(checkpoints.OutboxItem{Key: c.EndKey(), From: c.ID, At: d.at,
			Text: d.childEnded(c) + prompts.ResumeStep(c)})
	}
}

// adopt puts an agent under another, which hears of its end. It goes on where it works.
func (d *transition) adopt(c, above *Agent) {
	folder := d.Folder(c.ID)
	c = d.agent(c.ID)
	if d.Move(c, above.ID); d.Folder(c.ID) != folder {
		c.Cwd = folder
	}
	d.touch(c.ID)
	d.touch(above.ID)
}

// concern has those reconciled that an agent's end concerns: its parent, and what comes after it.
func (d *transition) concern(a *Agent) {
	if a.Parent != "" {
		d.touch(a.Parent)
	}
	for id, other := range d.Agents.All() {
		if other.Delegated != nil && slices.Contains(other.Delegated.After, a.ID) {
			d.touch(id)
		}
	}
}

// withdraw closes the agent's questions that nobody needs to answer any more.
func (d *transition) withdraw(agent string) {
	for _, q := range d.FindQuestionsOf(agent, (*checkpoints.Question).IsOpen) {
		d.question(q.ID).State = checkpoints.QuestionWithdrawn
	}
}
