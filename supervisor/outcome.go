package supervisor

import "claude-supervise/checkpoints"

// Open gives the questions that wait for an answer, oldest first.
func (o Outcome) Open() []*Question { return o.State.questions(isOpen) }

// Unsuccessful gives the agents that have ended without success, but for the one whose end is that of the run, and those that
// another one has gone on from.
func (o Outcome) Unsuccessful() []*Agent {
	var as []*Agent
	told := o.State.decisive()
	for _, a := range o.State.agents() {
		if a != told && a.Delegated != nil && a.ContinuedBy == "" && a.Status.Ended() && a.Status != checkpoints.Succeeded {
			as = append(as, a)
		}
	}
	return as
}

// Worktrees gives the agents that have left work in a worktree of theirs.
func (o Outcome) Worktrees() []*Agent {
	var as []*Agent
	for _, a := range o.State.agents() {
		if a.Worktree != nil && a.Worktree.State == checkpoints.WorktreeKept {
			as = append(as, a)
		}
	}
	return as
}

// Merge gives the commands that take over what an agent has left in its worktree, in order.
func (o Outcome) Merge(a *Agent) []string {
	merge, _ := a.Worktree.Commands(o.State.takesOver(a))
	return merge
}
