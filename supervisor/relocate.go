package supervisor

import (
	"fmt"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/text"
)

// relocate has the run work in a folder that was renamed or moved, with all that was in it; "": nothing was. What else
// lay below a folder that has another name now moves along: the folders of agents, and their worktrees, which are
// beside the run's own. Agents whose conversations tell of the old place are told.
func (d *transition) relocate(to string) {
	from := d.Run.Cwd
	if to == "" || to == from {
		return
	}
	r := d.run()
	r.Cwd = to
	now := text.Renamed(from, to)
	for _, a := range d.AllAgents() {
		if a.Cwd == "" && a.Worktree == nil {
			continue
		}
		a = d.agent(a.ID)
		a.Cwd = now(a.Cwd)
		if a.Worktree != nil {
			w := *a.Worktree
			w.Path, w.Repo, w.From = now(w.Path), now(w.Repo), now(w.From)
			a.Worktree = &w
		}
	}
	d.tellMoved(func(a *Agent) string {
		return prompts.Renamed(from, to, d.Folder(a.ID))
	})
}

// tellMoved tells each agent that has a conversation and may go on with it.
func (d *transition) tellMoved(say func(a *Agent) string) {
	for _, a := range d.AllAgents() {
		begun := slices.ContainsFunc(d.Launches.Get(a.ID), func(l *Launch) bool { return l.Begun })
		if begun && (!a.Status.Ended() || a.Revivable() || d.failed(a)) {
			a := d.agent(a.ID)
			key := fmt.Sprintf("moved %d.%d", d.Run.Epoch, len(a.Outbox))
			a.Enqueue(checkpoints.OutboxItem{Key: key, Text: say(a), At: d.at})
		}
	}
}
