package pack

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// ownTrees returns the agents in whose worktrees there may be work.
func ownTrees(s supervisor.State) []*supervisor.Agent {
	return slices.DeleteFunc(s.AllAgents(), func(a *supervisor.Agent) bool { return !ownsTree(a) })
}

func ownsTree(a *supervisor.Agent) bool {
	w := a.Worktree
	return w != nil && w.Path != "" && !w.IsCopy() &&
		(w.State == checkpoints.WorktreeMade || w.State == checkpoints.WorktreeKept)
}

// leftBehind says that a worktree is not packed.
func leftBehind(a *supervisor.Agent, why string) string {
	if why != "" {
		why = ": " + why
	}
	return fmt.Sprintf("the worktree of %s is not packed: %s, branch %s%s", a.ID, a.Worktree.Path, a.Worktree.Branch, why)
}

// openTree opens a worktree, which has to be one of the repository of a work tree.
func openTree(ctx context.Context, store *git.Store, of *git.Tree, path string) (*git.Tree, error) {
	t, err := store.WorkTree(ctx, path)
	if errors.Is(err, git.ErrNoWorkTree) || err == nil && (t.Top != path || t.Common != of.Common || t.Git == t.Common) {
		return nil, fmt.Errorf("it is not a worktree of %s any more", of.Top)
	}
	return t, err
}

// A treeBundle is the work in one work tree: the run's own, for the agent "", or an agent's.
type treeBundle struct {
	agent, file string
	manifest    *git.GitManifest
}

// writeTrees writes the bundles of work trees.
func writeTrees(p *packer, trees []treeBundle) error {
	for _, t := range trees {
		name := treesPrefix + t.agent + treesSuffix
		if t.agent == "" {
			name = bundleName
		}
		if err := p.fileAt(t.file, name); err != nil {
			return err
		}
	}
	return nil
}

// gatherTrees puts the work in the worktrees of a run into bundles of at most left bytes, beside the one of its own
// work in a work tree.
func (p *packing) gatherTrees(ctx context.Context, store *git.Store, of *git.Tree, left int64, m *manifest) error {
	for _, a := range ownTrees(p.state) {
		t, err := openTree(ctx, store, of, a.Worktree.Path)
		if err != nil {
			p.told = append(p.told, leftBehind(a, err.Error()))
			continue
		}
		t.Brought = brings(m.Git)
		var got git.Captured
		if got, left, err = p.bundle(ctx, t, a.ID, left); err != nil {
			return fmt.Errorf("the worktree of %s: %w", a.ID, err)
		}
		p.told = append(p.told, ofTree(a, got.Told)...)
		if m.Worktrees == nil {
			m.Worktrees = map[string]*git.GitManifest{}
		}
		m.Worktrees[a.ID] = got.To
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

// A treeCapturer takes the work in one work tree again and again: the run's own, by the name "", or an agent's.
type treeCapturer struct {
	*git.Tree
	path  string
	got   git.Captured
	stamp string // of the moment in which it was taken; "": it may have changed since without a trace
}

// A treeMark is what a snapshot has of a work tree.
type treeMark struct {
	commit string
	got    git.Captured
}

// captureTrees takes the work in this moment: the run's own, and beside it that in the worktrees of its agents.
func (t *Taker) captureTrees(ctx context.Context, got *capturedRun) error {
	trees := append([]*supervisor.Agent{nil}, ownTrees(got.state)...)
	found := make([]*treeCapturer, len(trees))
	found[0] = t.trees[""]
	for i, a := range trees[1:] {
		i++
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
	for i, a := range trees {
		group.Go(func() error {
			why[i] = t.captureTree(within, found[i], a, a != nil && !got.state.Inhabited(a))
			if a == nil || errors.Is(why[i], git.ErrTooLarge) {
				return why[i]
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	t.trees, got.trees = map[string]*treeCapturer{"": found[0]}, map[string]git.Captured{"": found[0].got}
	got.told = append(got.told, found[0].got.Told...)
	for i, a := range trees[1:] {
		i++
		if why[i] != nil {
			got.told = append(got.told, leftBehind(a, why[i].Error()))
			continue
		}
		t.trees[a.ID], got.trees[a.ID] = found[i], found[i].got
		got.told = append(got.told, ofTree(a, found[i].got.Told)...)
	}
	return nil
}

// captureTree takes the work in one work tree; a is nil for the run's own. Of one that its agent has left, and in which
// nobody works, only git's own files are looked at: it may be one of hundreds.
func (t *Taker) captureTree(ctx context.Context, c *treeCapturer, a *supervisor.Agent, left bool) (err error) {
	if c.Tree == nil {
		if c.Tree, err = openTree(ctx, t.store, t.trees[""].Tree, c.path); err != nil {
			return err
		}
	}
	if _, err := os.Lstat(filepath.Join(c.Top, ".git")); err != nil {
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

// preparedTrees is what of the work trees a snapshot gets: a bundle of each that has changed since the one that it
// rests on.
type preparedTrees struct {
	marks     map[string]treeMark
	manifests map[string]*git.GitManifest
	bundles   []treeBundle
}

// prepareTrees makes the bundles. Together they may be as large as the work may be.
func (t *Taker) prepareTrees(ctx context.Context, got capturedRun, on *base) (preparedTrees, error) {
	p := preparedTrees{marks: map[string]treeMark{}, manifests: map[string]*git.GitManifest{}}
	size := int64(0)
	for _, agent := range slices.Sorted(maps.Keys(got.trees)) { // the run's own first
		now, c := got.trees[agent], t.trees[agent]
		var before treeMark
		if on != nil {
			before = on.trees[agent]
		}
		if before.commit != "" && now.Same(before.got) {
			p.marks[agent], p.manifests[agent] = before, before.got.To
			continue
		}
		p.manifests[agent] = now.To
		if agent != "" {
			c.Brought = brings(got.trees[""].To)
		}
		file, name, err := c.Bundle(ctx, now, before.commit, time.Now().UTC())
		var info os.FileInfo
		if err == nil {
			info, err = os.Stat(file)
		}
		if err == nil {
			if size += info.Size(); size > t.MaxWork && agent != "" {
				err = git.TooLarge(size, t.MaxWork, []string{"the worktree of " + agent})
			}
		}
		if err != nil && agent != "" && !errors.Is(err, git.ErrTooLarge) {
			err = fmt.Errorf("the worktree of %s: %w", agent, err)
		}
		if err != nil {
			return p, err
		}
		p.marks[agent] = treeMark{name, now}
		p.bundles = append(p.bundles, treeBundle{agent, file, now.To})
	}
	return p, nil
}
