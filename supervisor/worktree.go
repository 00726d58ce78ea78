package supervisor

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/label"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/task"
)

// This file is where agents work, as far as it is decided: the root in the run's folder, a child in that of its parent
// or, under --worktree, in a git worktree of its own. That is made ready before the child is first launched (DoPlace)
// and looked through before it counts as ended (DoTidy), so that its parent is told in one go what became of it and
// where its work lies. Both effects can be done again at any time: what a crash has left half made is found by the
// names of the branch and the folder, which are the agent's own.

// placeDue reports whether an agent's folder has to be made ready before a process of it may start.
func (s State) placeDue(a *Agent) bool {
	if w := a.Worktree; s.Forked(a) { // without one it goes on only if it had begun before it was unpacked here
		return !a.Placed && (w != nil && w.Moment != nil || w == nil && s.ForkDue(a))
	}
	return a.Delegated != nil && !a.Placed &&
		(s.Config.Worktree || s.Continues(a) != nil || len(task.ContextFiles(a.Delegated.Context)) > 0)
}

// places begins to make an agent's folder ready, if that has to be done before a process of it starts.
func (d *transition) places(a *Agent) bool {
	// it has ended before
	if w := a.Worktree; w != nil && (w.State == checkpoints.WorktreeKept || w.State == checkpoints.WorktreeRemoved) {
		a.Placed = false
	}
	if !d.placeDue(a) {
		return false
	}
	a.Placing = true
	switch before := d.Continues(a); {
	case before != nil:
		w := *before.Worktree
		a.Worktree = &w
	case a.Worktree == nil && d.Config.Worktree && !d.Forked(a):
		a.Worktree = &checkpoints.Worktree{State: checkpoints.WorktreeWanted, Branch: label.Branch(a), From: d.Folder(a.ID)}
	}
	d.setStatus(a, checkpoints.Starting, "its folder is made ready")
	return true
}

// tidies begins to look through the worktree of an agent that is about to end, if it has one.
func (d *transition) tidies(a *Agent) bool {
	if a.Worktree == nil || a.Worktree.State != checkpoints.WorktreeMade {
		return false
	}
	a.Tidying = true
	d.setStatus(a, a.Status, "ends; its worktree is looked through")
	return true
}

// workplace holds an agent back while its folder is made ready, or its worktree looked through: nothing begins in one
// that may be removed.
var workplace = concern{
	name: "workplace", queues: true,
	idle: func(d *transition, of subject) bool {
		if of.Placing {
			d.setStatus(of.Agent, checkpoints.Starting, "its folder is made ready")
		}
		return of.Placing || of.Tidying
	},
	plan: func(_ State, a *Agent, _ *Launch, so []effect.Effect) []effect.Effect {
		switch {
		case a.Placing:
			return append(so, effect.Effect{Do: effect.Place, Key: "place " + a.ID, Agent: a.ID})
		case a.Tidying:
			return append(so, effect.Effect{Do: effect.Tidy, Key: "tidy " + a.ID, Agent: a.ID})
		}
		return so
	},
	tells: func(before, after State, e Event, tell notice.Teller) {
		switch e := e.(type) {
		case Placed:
			for _, text := range placedNotices(before, e) {
				tell(notice.Progress, e.Agent, notice.Notification{Text: text, Trouble: true})
			}
		case Tidied:
			if e.Worktree.State == checkpoints.WorktreeKept {
				tell(notice.Progress, e.Agent, notice.Notification{Text: keptInWords(after, e.Worktree)})
			}
		}
	},
}

// CameAlong is a worktree that was made again where the run was unpacked.
type CameAlong struct {
	Cwd      string // where in it the agent works, absolute
	Worktree checkpoints.Worktree
}

// settleIn has an agent work in its worktree as it was made again.
func (c CameAlong) settleIn(a *Agent) {
	place := checkpoints.Workplace{Cwd: c.Cwd, Placed: !a.Placing, Tidying: a.Tidying, Gone: a.Gone, Worktree: &c.Worktree}
	if a.Placing {
		a.Status, a.Reason = checkpoints.Queued, "its folder is made ready here"
	}
	a.Workplace = place
}

// placedNotices tells of a folder what the person has to know: once, where all agents of a run have the same trouble.
func placedNotices(before State, b Placed) []string {
	var told []string
	if w := b.Worktree; w != nil {
		all := w.Lacks
		if w.Problem != "" {
			all = []string{"it has no worktree of its own and works in its parent's folder: " + w.Problem}
		}
		for _, what := range all {
			known := func(a *Agent) bool {
				return a.Worktree != nil &&
					(slices.Contains(a.Worktree.Lacks, what) || w.Problem != "" && a.Worktree.Problem == w.Problem)
			}
			if !slices.ContainsFunc(before.AllAgents(), known) {
				if w.Problem == "" {
					what = "not in its worktree: " + what
				}
				told = append(told, what)
			}
		}
	}
	if len(b.Gone) > 0 {
		told = append(told, "its context names files that are not there: "+strings.Join(b.Gone, ", "))
	}
	return told
}

// keptInWords tells a person of a worktree that was kept.
func keptInWords(s State, w checkpoints.Worktree) string {
	return fmt.Sprintf("its worktree is kept (%s); to merge or drop it: claude-supervise show %s",
		label.LeftIn(&w), s.Run.ID)
}

// Placed says that an agent's folder is ready.
type Placed struct {
	Agent    string
	Cwd      string                // absolute; "": its parent's
	Worktree *checkpoints.Worktree `json:",omitempty"` // nil where none was wanted
	Gone     []string              `json:",omitempty"` // files that the context of its task names and that are nowhere
	Beyond   []string              `json:",omitempty"` // the same that are only where its worktree was made from, absolute
	Unforked string                `json:",omitempty"` // of the root of a fork: why it cannot go on from there, for people
}

var _ = kind[Placed]("placed")

func (e Placed) apply(d *transition) error {
	if a := d.Agents.Get(e.Agent); a == nil || !a.Placing {
		return unwelcome("no folder is made ready for %s", e.Agent)
	}
	a := d.agent(e.Agent)
	if w := e.Worktree; d.Forked(a) && (e.Unforked != "" || w == nil || w.State != checkpoints.WorktreeMade) {
		why, of := e.Unforked, d.Run.Forked
		switch a.Placing = false; {
		case why != "":
		case w != nil:
			why = w.Problem
		default:
			why = "the work as it was then did not come along; where " + of.Run + " is, answer it again"
		}
		d.fail(a.ID, "fork", "it cannot go on from "+of.Question+": "+why)
		return nil
	}
	if before := d.Continues(a); before != nil && e.Worktree != nil && e.Worktree.State == checkpoints.WorktreeMade {
		w := *before.Worktree
		w.State = checkpoints.WorktreeHanded
		d.agent(before.ID).Worktree = &w
	}
	a.Placing, a.Placed = false, true
	a.Cwd, a.Worktree, a.Gone, a.Beyond = e.Cwd, e.Worktree, e.Gone, e.Beyond
	return nil
}

// Tidied says what became of the worktree of an agent that is about to end.
type Tidied struct {
	Agent    string
	Worktree checkpoints.Worktree
}

var _ = kind[Tidied]("tidied")

func (e Tidied) apply(d *transition) error {
	if a := d.Agents.Get(e.Agent); a == nil || !a.Tidying {
		return unwelcome("the worktree of %s is not looked through", e.Agent)
	}
	a, w := d.agent(e.Agent), e.Worktree
	a.Tidying, a.Worktree = false, &w
	return nil
}
