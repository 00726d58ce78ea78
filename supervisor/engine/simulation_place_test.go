package engine

import (
	"context"
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/task"
)

// placeRules are of where agents work.
var placeRules = []rule{
	{"an agent works when its folder is ready, and until it is looked through", foldersAreReady},
	{"a fork works in a folder of its own", forksAreReady},
	{"a worktree has one agent", worktreesAreOwn},
	{"the findings of a run are merged before it is left", findingsAreMerged},
}

func (e *simEngine) place(_ context.Context, s supervisor.State, f effect.Effect) supervisor.Placed {
	a := s.Agents.Get(f.Agent)
	b := supervisor.Placed{Agent: a.ID, Cwd: a.Cwd, Worktree: a.Worktree}
	e.waits(f.Key, func() {
		if b.Worktree != nil {
			w := *b.Worktree
			if e.w.one(4) {
				w = checkpoints.Worktree{State: checkpoints.WorktreeNone, Branch: w.Branch, From: w.From,
					Problem: "no space left on device"}
			} else {
				if w.State != checkpoints.WorktreeKept {
					w.Path, w.Repo, w.Base = "/worktrees/"+a.ID, "/work", "c0ffee"
				}
				w.State, b.Cwd = checkpoints.WorktreeMade, w.Path
			}
			b.Worktree = &w
		}
		if b.Unforked = e.w.layFork(s, a); b.Unforked != "" {
			return
		}
		if a.Delegated != nil && e.w.one(2) {
			b.Gone = task.ContextFiles(a.Delegated.Context)
		}
	})
	return b
}

func (e *simEngine) tidy(_ context.Context, s supervisor.State, f effect.Effect) supervisor.Tidied {
	tree := *s.Agents.Get(f.Agent).Worktree
	e.waits(f.Key, func() {
		tree.State = checkpoints.WorktreeRemoved
		if e.w.one(2) {
			tree.State, tree.Tip, tree.Commits = checkpoints.WorktreeKept, tree.Branch, 1
		}
	})
	return supervisor.Tidied{Agent: f.Agent, Worktree: tree}
}

func (e *simEngine) merge(_ context.Context, _ supervisor.State, f effect.Effect) (b supervisor.Merged) {
	e.waits(f.Key, func() {
		if e.w.one(8) {
			b = supervisor.Merged{Problem: "no space left on device", Again: true}
		}
	})
	return b
}

func foldersAreReady(w *simulation, before, after supervisor.State, _ supervisor.Happened) string {
	for id, a := range after.Agents.All() {
		switch {
		case (a.Placing || a.Tidying) && (after.Live(id) != nil || w.alive(id) > 0):
			return id + " has a process"
		case a.Tidying && a.Status.Ended():
			return id + " has ended before its worktree was looked through"
		case a.Status.Ended() && a.Worktree != nil && a.Worktree.State == checkpoints.WorktreeMade:
			return id + " has ended and left its worktree as it was"
		case after.Config.Worktree && a.Delegated != nil && len(after.Launches.Get(id)) > len(before.Launches.Get(id)) &&
			(!a.Placed || a.Worktree == nil):
			return id + " is launched, and nobody has made its folder ready"
		}
	}
	return ""
}

func worktreesAreOwn(_ *simulation, _, after supervisor.State, _ supervisor.Happened) string {
	paths := map[string]string{}
	for id, a := range after.Agents.All() {
		if w := a.Worktree; w != nil && w.State == checkpoints.WorktreeMade {
			if other := paths[w.Path]; other != "" {
				return fmt.Sprintf("%s and %s work in %s", other, id, w.Path)
			}
			paths[w.Path] = id
		}
	}
	return ""
}

func findingsAreMerged(_ *simulation, _, after supervisor.State, e supervisor.Happened) string {
	if _, left := e.Event.(supervisor.Left); left && after.Run.Left == records.LeavingEnded &&
		(after.Agents.Len() > 1 || after.Agents.Get(after.Run.Root).Subagents) &&
		(after.Run.Merged == nil || !after.Run.Merged.Done) {
		return fmt.Sprintf("%+v", after.Run.Merged)
	}
	return ""
}
