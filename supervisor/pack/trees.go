package pack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/git"
)

// Agents that work in git worktrees of their own have them packed as the work of the run is: what is checked out, what
// was added, and the files as they are on disk, without those that git ignores. What is on other branches stays behind,
// as it does of the run's own repository. One that cannot be read is left out, and that is said: its agent goes on in
// the run's folder.

// ownTrees gives the agents in whose worktrees there may be work.
func ownTrees(s supervisor.State) []*supervisor.Agent {
	return slices.DeleteFunc(s.AllAgents(), func(a *supervisor.Agent) bool { return !ownsTree(a) })
}

func ownsTree(a *supervisor.Agent) bool {
	w := a.Worktree
	return w != nil && w.Path != "" && (w.State == checkpoints.WorktreeMade || w.State == checkpoints.WorktreeKept)
}

// leftBehind says that a worktree is not packed.
func leftBehind(a *supervisor.Agent, why string) string {
	if why != "" {
		why = ": " + why
	}
	return fmt.Sprintf("the worktree of %s is not packed: %s, branch %s%s", a.ID, a.Worktree.Path, a.Worktree.Branch, why)
}

// openTree makes a shadow of a worktree, which has to be one of the repository of s.
func openTree(ctx context.Context, s *git.Shadow, path, scratch string) (*git.Shadow, error) {
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return nil, err
	}
	n, err := git.OpenShadow(ctx, path, scratch)
	if errors.Is(err, git.ErrNoWorkTree) || err == nil && (n.Top != path || n.Common != s.Common || n.Git == n.Common) {
		return nil, fmt.Errorf("it is not a worktree of %s any more", s.Top)
	}
	return n, err
}

// A treeBundle is the work in one worktree.
type treeBundle struct {
	agent, file string
	manifest    *git.GitManifest
}

// writeTrees writes the bundles of worktrees.
func writeTrees(p *packer, trees []treeBundle) error {
	for _, t := range trees {
		root, err := os.OpenRoot(filepath.Dir(t.file))
		if err != nil {
			return err
		}
		err = p.file(root, filepath.Base(t.file), treesPrefix+t.agent+treesSuffix)
		if err := errors.Join(err, root.Close()); err != nil {
			return err
		}
	}
	return nil
}

// gatherTrees puts the work in the worktrees of a run into bundles, beside the one of its own work in s.
func (p *packing) gatherTrees(ctx context.Context, s *git.Shadow, bundle string, m *manifest) error {
	info, err := os.Stat(bundle)
	if err != nil {
		return err
	}
	left := p.MaxWork - info.Size()
	for _, a := range ownTrees(p.state) {
		n, err := openTree(ctx, s, a.Worktree.Path, filepath.Join(p.scratch, a.ID))
		if err != nil {
			p.told = append(p.told, leftBehind(a, err.Error()))
			continue
		}
		n.Brought = brings(m.Git)
		file, g, told, err := n.Bundle(ctx, p.Without, left, p.at)
		if err != nil {
			return fmt.Errorf("the worktree of %s: %w", a.ID, err)
		}
		if info, err = os.Stat(file); err != nil {
			return err
		}
		left -= info.Size()
		p.trees = append(p.trees, treeBundle{a.ID, file, g})
		p.told = append(p.told, ofTree(a, told)...)
		if m.Worktrees == nil {
			m.Worktrees = map[string]*git.GitManifest{}
		}
		m.Worktrees[a.ID] = g
	}
	return nil
}

func brings(g *git.GitManifest) []string {
	if g == nil || g.Head == "" {
		return nil
	}
	return []string{g.Head}
}

// ofTree says of which worktree something is told.
func ofTree(a *supervisor.Agent, told []string) []string {
	told = slices.Clone(told)
	for i := range told {
		told[i] = "in the worktree of " + a.ID + ": " + told[i]
	}
	return told
}

// A treeCapturer takes the work in one worktree again and again.
type treeCapturer struct {
	git.Capturer
	path  string
	got   git.Captured
	stamp string // of the moment in which it was taken; "": it may have changed since without a trace
}

// A treeMark is what a snapshot has of a worktree.
type treeMark struct {
	commit string
	got    git.Captured
}

// captureWork takes the work in this moment: the run's own, and beside it that in the worktrees of its agents.
func (t *Taker) captureWork(ctx context.Context, got *capturedRun) error {
	g, inGit := t.work.(*gitCapturer)
	var trees []*supervisor.Agent
	if inGit {
		trees = ownTrees(got.state)
	}
	found := make([]*treeCapturer, len(trees))
	for i, a := range trees {
		if found[i] = t.trees[a.ID]; found[i] == nil || found[i].path != a.Worktree.Path {
			if found[i] != nil {
				t.last = nil // it rests on what is of another folder
			}
			found[i] = &treeCapturer{path: a.Worktree.Path}
		}
	}
	why := make([]error, len(trees))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(max(runtime.NumCPU(), 2))
	group.Go(func() (err error) {
		got.work, err = t.work.capture(within)
		return err
	})
	for i, a := range trees {
		group.Go(func() error {
			why[i] = t.captureTree(within, g, found[i], a, !got.state.Inhabited(a))
			if errors.Is(why[i], git.ErrTooLarge) {
				return why[i]
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	got.told = append(got.told, got.work.told...)
	if !inGit {
		for _, a := range ownTrees(got.state) {
			got.told = append(got.told, leftBehind(a, ""))
		}
	}
	t.trees, got.trees = map[string]*treeCapturer{}, map[string]git.Captured{}
	for i, a := range trees {
		if why[i] != nil {
			got.told = append(got.told, leftBehind(a, why[i].Error()))
			continue
		}
		t.trees[a.ID], got.trees[a.ID] = found[i], found[i].got
		got.told = append(got.told, ofTree(a, found[i].got.Told)...)
	}
	return nil
}

// captureTree takes the work in one worktree. Of one that its agent has left, and in which nobody works, only git's own
// files are looked at: it may be one of hundreds.
func (t *Taker) captureTree(ctx context.Context, g *gitCapturer, c *treeCapturer, a *supervisor.Agent,
	left bool) (err error) {
	if c.Shadow == nil {
		if c.Shadow, err = openTree(ctx, g.c.Shadow, c.path, filepath.Join(g.dir, "worktrees", a.ID)); err != nil {
			return err
		}
		c.Limit = t.MaxWork
	}
	if _, err := os.Lstat(filepath.Join(c.path, ".git")); err != nil {
		return errors.New("it is gone")
	}
	stamp := ""
	if left && a.Worktree.State == checkpoints.WorktreeKept {
		if stamp = stampOf(c.Git); stamp == c.stamp && stamp != "" {
			return nil
		}
	}
	c.got, err = c.Capture(ctx)
	if c.stamp = stamp; err != nil {
		c.stamp = ""
	}
	return err
}

// stampOf is another one where something was committed, added or checked out in a worktree; "" if that is not known.
func stampOf(dir string) string {
	var b strings.Builder
	for _, name := range []string{"index", "HEAD", "logs/HEAD"} {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return ""
		}
		fmt.Fprintf(&b, "%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
	}
	return b.String()
}

// preparedTrees is what of the worktrees a snapshot gets: a bundle of each that has changed since the one that it rests
// on.
type preparedTrees struct {
	marks     map[string]treeMark
	manifests map[string]*git.GitManifest
	bundles   []treeBundle
}

// prepareTrees makes the bundles. size is how large that of the run's own work is, in bytes: together they may be as
// large as the work may be.
func (t *Taker) prepareTrees(ctx context.Context, got capturedRun, on *base, size int64) (preparedTrees, error) {
	p := preparedTrees{marks: map[string]treeMark{}, manifests: map[string]*git.GitManifest{}}
	for _, a := range ownTrees(got.state) {
		now, there := got.trees[a.ID]
		if !there {
			continue
		}
		var before treeMark
		if on != nil {
			before = on.trees[a.ID]
		}
		if before.commit != "" && now.Same(before.got) {
			p.marks[a.ID], p.manifests[a.ID] = before, before.got.To
			continue
		}
		p.manifests[a.ID] = now.To
		c := t.trees[a.ID]
		c.Brought = brings(got.work.git.To)
		file, name, err := c.Bundle(ctx, now, before.commit, time.Now().UTC())
		if err != nil {
			return p, fmt.Errorf("the worktree of %s: %w", a.ID, err)
		}
		info, err := os.Stat(file)
		if err != nil {
			return p, err
		}
		if size += info.Size(); size > t.MaxWork {
			return p, git.TooLarge(size, t.MaxWork, []string{"the worktree of " + a.ID})
		}
		p.marks[a.ID] = treeMark{name, now}
		p.bundles = append(p.bundles, treeBundle{a.ID, file, now.To})
	}
	return p, nil
}
