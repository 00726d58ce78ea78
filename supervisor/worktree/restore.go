package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"claude-supervise/procs"
	"claude-supervise/supervisor/git"
)

// A Restore makes a worktree again that came along from another machine, or from an earlier time of this one.
type Restore struct {
	Top    string // of the work tree that the run works in
	Path   string // as PathOf gives it
	Branch string
	At     string // the commit at which a branch is begun that is not there
	Empty  bool   // nothing is checked out: whoever asks puts the files in place
	Marker procs.Marker
}

// PathOf returns the folder of an agent's worktree, beside the work tree that the run works in.
func PathOf(top, agent string) (string, error) {
	folder, err := repoOf(top)
	return filepath.Join(folder, agent), err
}

// Below makes a folder in a worktree where git has none; never outside, whatever links a commit holds.
func Below(path, folder string) error {
	rel, err := filepath.Rel(path, folder)
	if err != nil || rel == "." {
		return err
	}
	_, err = below(path, rel)
	return err
}

// There reports whether something is at the path. It is an error if that is no worktree of the repository, or one of
// another branch. It changes nothing.
func (r Restore) There(ctx context.Context) (there bool, err error) {
	err = r.within(ctx, func(g repo) error {
		_, there, err = r.look(ctx, g)
		return err
	})
	return there, err
}

// Make makes the worktree, on its branch, where it is not there. What an earlier try has left half made is made whole.
// Nothing of the repository's is run.
func (r Restore) Make(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, MakeTime, fmt.Errorf("it took longer than %v", MakeTime))
	defer cancel()
	return r.within(ctx, func(g repo) error {
		n, there, err := r.look(ctx, g)
		if err != nil {
			return err
		}
		tip, err := g.tip(ctx, r.Branch)
		if err != nil {
			return err
		}
		switch {
		case there && (r.Empty || filled(n)):
			return nil
		case there:
			head, _, err := n.Head(ctx)
			if err != nil {
				return err
			}
			return fill(ctx, n, g, head)
		}
		_ = g.remove(ctx, r.Path) // what git remembers of it, if it does
		_ = os.Remove(r.Path)     // it is empty, or not there
		args := []string{r.Path, r.Branch}
		if tip == "" {
			tip, args = r.At, []string{"-b", r.Branch, r.Path, r.At}
		}
		if r.Empty {
			return g.register(ctx, r.Path, args...)
		}
		return g.add(ctx, r.Path, tip, args...)
	})
}

func (r Restore) within(ctx context.Context, do func(repo) error) error {
	s, drop, err := git.TempShadow(ctx, r.Top, scratchForWorktrees)
	if err != nil {
		return err
	}
	defer drop()
	return do(repo{Shadow: s, marker: r.Marker})
}

// look finds the worktree, if it is there.
func (r Restore) look(ctx context.Context, g repo) (*git.Shadow, bool, error) {
	if _, err := os.Lstat(r.Path); errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	} else if err != nil {
		return nil, false, err
	}
	if held, err := os.ReadDir(r.Path); err == nil && len(held) == 0 {
		return nil, false, nil // an earlier try has made it
	}
	n, err := g.open(ctx, r.Path)
	if err == nil && n.Git == n.Common {
		err = fmt.Errorf("%s is not a worktree of %s", r.Path, g.Top)
	}
	return n, true, err
}
