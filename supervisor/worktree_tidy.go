package supervisor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

// maxCommits bounds how many commits of a worktree are counted.
const maxCommits = 1000

// tidy looks through the worktree of an agent that is about to end. One in which nothing was left is removed with its branch.
func (e *engine) tidy(f Effect) func(context.Context) result {
	s, a := e.state, e.state.Agents[f.Agent]
	end := worktreeEnd{
		Worktree: *a.Worktree, cwd: s.folder(a.ID), keep: s.Config.KeepProcesses || s.inhabited(a),
		marker: procs.Marker{Run: e.run, Agent: a.ID, Launch: gardening},
	}
	if a.Report != nil {
		end.named = a.Report.Files
	}
	return func(ctx context.Context) result {
		ctx, cancel := context.WithTimeoutCause(ctx, tidyTime, fmt.Errorf("it took longer than %v", tidyTime))
		defer cancel()
		var w checkpoints.Worktree
		err := persistently(ctx, func() (err error) {
			w, err = end.look(ctx)
			return err
		})
		if err != nil {
			e.log.Info().Err(err).Str("agent", a.ID).Msg("worktree")
			w.Problem = firstLine(err.Error())
		}
		return result{body: Tidied{Agent: a.ID, Worktree: w}}
	}
}

// A worktreeEnd is the worktree of an agent that has done its work.
type worktreeEnd struct {
	checkpoints.Worktree
	cwd    string   // where in it the agent worked
	named  []string // files that its report names
	keep   bool     // somebody still works in it
	marker procs.Marker
}

// look says what is left in the worktree, and removes it if that is nothing. It is kept in any case of doubt.
func (w worktreeEnd) look(ctx context.Context) (checkpoints.Worktree, error) {
	kept := w.Worktree
	kept.State, kept.Tip, kept.Lacks = checkpoints.WorktreeKept, w.Branch, nil
	scratch, err := os.MkdirTemp("", scratchForWorktrees)
	if err != nil {
		return kept, err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // nobody knows of it
	s, err := openShadow(ctx, w.Repo, scratch)
	if err != nil {
		return kept, err
	}
	g := garden{shadow: s, marker: w.marker}
	if _, err := os.Lstat(w.Path); errors.Is(err, os.ErrNotExist) {
		return w.gone(ctx, g, kept)
	}
	n, err := g.open(ctx, w.Path)
	if err != nil {
		return kept, err
	}
	head, err := n.takeOver(ctx)
	if err != nil {
		return kept, err
	}
	changes, err := n.uncommitted(ctx)
	if err != nil {
		return kept, err
	}
	kept.Loose = len(changes)
	if _, branch, err := n.head(ctx); err != nil {
		return kept, err
	} else if branch != w.Branch {
		kept.Tip = branch
		if branch == "" {
			kept.Tip = head
		}
	}
	if kept.Commits, err = g.commits(ctx, head, w.Base); err != nil {
		return kept, err
	}
	tip, err := g.tip(ctx, w.Branch)
	if err != nil {
		return kept, err
	}
	if tip != "" && tip != w.Base && tip != head {
		kept.Problem = "its branch " + w.Branch + " has commits that are not checked out in it"
	}
	if kept.Loose > 0 || head != w.Base || tip != "" && tip != w.Base {
		return kept, nil
	}
	if kept.Problem, err = w.more(ctx, n); err != nil || kept.Problem != "" {
		return kept, err
	}
	if err := g.remove(ctx, w.Path); err != nil {
		return kept, err
	}
	return w.gone(ctx, g, kept)
}

// gone says what is left of a worktree whose folder is gone: its branch, if there are commits on it.
func (w worktreeEnd) gone(ctx context.Context, g garden, kept checkpoints.Worktree) (checkpoints.Worktree, error) {
	if err := g.remove(ctx, w.Path); gitWasKilled(err) { // else it was what git remembers of it, if it does
		return kept, err
	}
	kept.Path = ""
	tip, err := g.tip(ctx, w.Branch)
	if err != nil {
		return kept, err
	}
	if tip != "" && tip != w.Base {
		kept.Commits, err = g.commits(ctx, tip, w.Base)
		return kept, err
	}
	if tip != "" {
		if err := g.drop(ctx, w.Branch, tip); err != nil {
			return kept, err
		}
	}
	return checkpoints.Worktree{State: checkpoints.WorktreeRemoved, Branch: w.Branch, From: w.From, Repo: w.Repo, Base: w.Base}, nil
}

// commits counts those that a worktree has on top of the one at which it began.
func (g garden) commits(ctx context.Context, head, base string) (int, error) {
	if head == "" || head == base {
		return 0, nil
	}
	out, err := g.git(ctx, "rev-list", "--count", "--max-count="+strconv.Itoa(maxCommits), head, "^"+base)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// unwatched tells whether there are files of which the index says that git need not look at them (git-update-index(1),
// --assume-unchanged and --skip-worktree): what has changed in those it does not tell.
func (s *shadow) unwatched(ctx context.Context) (bool, error) {
	out, err := s.in(ctx, "index", nil, "ls-files", "-v", "-z")
	if err != nil {
		return false, err
	}
	for entry := range bytes.SplitSeq(out, []byte{0}) { // a letter, a space, the path
		if len(entry) > 0 && (entry[0] == 'S' || entry[0] >= 'a' && entry[0] <= 'z') {
			return true, nil
		}
	}
	return false, nil
}

// more says why a worktree without changes is kept all the same; "" if it need not be.
func (w worktreeEnd) more(ctx context.Context, n *shadow) (string, error) {
	if w.keep {
		return "processes or agents may still work in it", nil
	}
	if unwatched, err := n.unwatched(ctx); err != nil {
		return "", err
	} else if unwatched {
		return "git was told not to look at some of its files", nil
	}
	if _, err := os.Lstat(filepath.Join(n.git, "modules")); err == nil {
		return "submodules were checked out in it", nil
	}
	for _, path := range w.named {
		if !filepath.IsAbs(path) {
			path = filepath.Join(w.cwd, path)
		}
		if !under(path, w.Path) || !onDisk(w.cwd, path) {
			continue
		}
		rel, err := filepath.Rel(w.Path, path)
		if err != nil {
			return "", err
		}
		if _, err := n.in(ctx, "index", nil, "ls-files", "--error-unmatch", "-z", "--", ":(top)"+rel); gitSaysNo(err) {
			return "its report names " + plainLine(rel) + ", which git ignores", nil
		} else if err != nil {
			return "", err
		}
	}
	return "", nil
}
