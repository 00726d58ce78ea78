package worktree

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/text"
)

// maxCommits bounds how many commits of a worktree are counted.
const maxCommits = 1000

// A WorktreeEnd is the worktree of an agent that has done its work.
type WorktreeEnd struct {
	checkpoints.Worktree
	Cwd    string   // where in it the agent worked
	Named  []string // files that its report names
	Keep   bool     // somebody still works in it
	Marker procs.Marker

	Moments *git.Store // where Moment is kept; nil if there is none
}

// Look says what is left in the worktree, and removes it if that is nothing. It is kept in any case of doubt.
func (w WorktreeEnd) Look(ctx context.Context) (checkpoints.Worktree, error) {
	if w.IsCopy() {
		return w.lookCopy(ctx)
	}
	kept := w.Worktree
	kept.State, kept.Tip, kept.Lacks = checkpoints.WorktreeKept, w.Branch, nil
	s, drop, err := git.TempShadow(ctx, w.Repo, scratchForWorktrees)
	if err != nil {
		return kept, err
	}
	defer drop()
	g := repo{Shadow: s, marker: w.Marker}
	if _, err := os.Lstat(w.Path); errors.Is(err, os.ErrNotExist) {
		return w.gone(ctx, g, kept)
	}
	n, err := g.open(ctx, w.Path)
	if err != nil {
		return kept, err
	}
	head, err := n.TakeOver(ctx)
	if err != nil {
		return kept, err
	}
	changes, err := n.Uncommitted(ctx)
	if err != nil {
		return kept, err
	}
	kept.Loose = len(changes)
	if _, branch, err := n.Head(ctx); err != nil {
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
func (w WorktreeEnd) gone(ctx context.Context, g repo, kept checkpoints.Worktree) (checkpoints.Worktree, error) {
	if err := g.remove(ctx, w.Path); git.GitWasKilled(err) { // else it was what git remembers of it, if it does
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
	return checkpoints.Worktree{State: checkpoints.WorktreeRemoved, Branch: w.Branch, From: w.From,
		Repo: w.Repo, Base: w.Base, Moment: w.Moment}, nil
}

// commits counts those that a worktree has on top of the one at which it began.
func (g repo) commits(ctx context.Context, head, base string) (int, error) {
	if head == "" || head == base {
		return 0, nil
	}
	out, err := g.git(ctx, "rev-list", "--count", "--max-count="+strconv.Itoa(maxCommits), head, "^"+base)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// unwatched reports whether there are files of which the index says that git need not look at them
// (git-update-index(1), --assume-unchanged and --skip-worktree): what has changed in those it does not tell.
func unwatched(ctx context.Context, s *git.Shadow) (bool, error) {
	out, err := s.In(ctx, "index", nil, "ls-files", "-v", "-z")
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
func (w WorktreeEnd) more(ctx context.Context, n *git.Shadow) (string, error) {
	if w.Keep {
		return "processes or agents may still work in it", nil
	}
	if unwatched, err := unwatched(ctx, n); err != nil {
		return "", err
	} else if unwatched {
		return "git was told not to look at some of its files", nil
	}
	if _, err := os.Lstat(filepath.Join(n.Git, "modules")); err == nil {
		return "submodules were checked out in it", nil
	}
	files := &FileSearch{Cwd: w.Cwd}
	for _, path := range w.Named {
		if !filepath.IsAbs(path) {
			path = filepath.Join(w.Cwd, path)
		}
		if !text.Under(path, w.Path) {
			continue
		}
		if there, err := files.OnDisk(ctx, path); err != nil {
			return "", err
		} else if !there {
			continue
		}
		rel, err := filepath.Rel(w.Path, path)
		if err != nil {
			return "", err
		}
		if _, err := n.In(ctx, "index", nil, "ls-files", "--error-unmatch", "-z", "--",
			":(top)"+rel); git.GitSaysNo(err) {
			return "its report names " + text.PlainLine(rel) + ", which git ignores", nil
		} else if err != nil {
			return "", err
		}
	}
	return "", nil
}
