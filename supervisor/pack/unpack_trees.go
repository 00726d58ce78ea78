package pack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/label"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/worktree"
)

// A treeWork makes the worktree of an agent again: beside the work tree in which the run goes on, where the run itself
// would have made it, on the branch that was made for it. The file chooses neither the place nor the branch.
type treeWork struct {
	agent   string
	to      *git.GitManifest
	bundles []bundle
	path    string
	branch  string
	scratch string
	was     checkpoints.Worktree // as the file has it
	along   supervisor.CameAlong
}

// planTrees finds what is to be done for the worktrees of agents, and checks that it can be; it changes nothing.
func (u *unpacking) planTrees(ctx context.Context) error {
	m := u.archive.manifest
	paths := map[string]bool{}
	for _, agent := range slices.Sorted(maps.Keys(m.Worktrees)) {
		t, err := u.planTree(ctx, agent, m.Worktrees[agent])
		if err != nil {
			return fmt.Errorf("the worktree of %s: %w", agent, err)
		}
		if paths[t.path] {
			return notPack("two agents have the worktree %.100q", t.path)
		}
		paths[t.path] = true
		u.trees = append(u.trees, t)
	}
	for _, t := range u.trees { // once it is known where all of them are
		t.along = u.placed(ctx, t)
		u.told = append(u.told, fmt.Sprintf("worktree of %s: %s, branch %s", t.agent, t.path, t.branch))
	}
	return nil
}

func (u *unpacking) planTree(ctx context.Context, agent string, g *git.GitManifest) (*treeWork, error) {
	a := u.before.Agents.Get(agent)
	if a == nil || !ownsTree(a) {
		return nil, notPack("its run has no such worktree")
	}
	of := label.AgentOfBranch(u.before.Run.ID, a.Worktree.Branch)
	if u.before.Agents.Get(of) == nil {
		return nil, notPack("its branch is %.100q", a.Worktree.Branch)
	}
	if len(u.archive.trees[agent]) == 0 {
		return nil, notPack("it lacks its work")
	}
	t := &treeWork{agent: agent, to: g, branch: a.Worktree.Branch, was: *a.Worktree,
		scratch: filepath.Join(u.scratch, "worktree-"+agent)}
	var err error
	if t.bundles, err = u.archive.bundleHeaders(u.archive.trees[agent]); err != nil {
		return nil, err
	}
	if t.path, err = worktree.PathOf(u.git.Top, of); err != nil {
		return nil, err
	}
	if err := os.Mkdir(t.scratch, 0o700); err != nil {
		return nil, err
	}
	return t, u.checkTree(ctx, t)
}

// checkTree holds the bundles against the manifest, and against what is here.
func (u *unpacking) checkTree(ctx context.Context, t *treeWork) error {
	w := &gitWork{Shadow: u.git.Shadow, to: t.to, bundles: t.bundles, work: t.bundles[len(t.bundles)-1].ref}
	if w.Format != t.to.Format {
		return notPack("its objects are named by %.20q", t.to.Format)
	}
	if err := w.unbundle(ctx, w.Env("none"), u.MaxWork); err != nil { // beside what the run's own work has brought
		return err
	}
	if err := w.parents(ctx); err != nil {
		return err
	}
	there, err := u.restoring(t).There(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w; move it away, or unpack in another clone", errNotClean, err)
	}
	if there {
		p, err := u.planTreeFiles(ctx, t, "looked", false)
		if err != nil {
			return err
		}
		return p.files.root.Close()
	}
	tip, err := git.GitsWord(w.Own(ctx, "rev-parse", "--quiet", "--verify", "refs/heads/"+t.branch+"^{commit}"))
	if err != nil || tip == "" {
		return err
	}
	if !u.kept(ctx, tip, t.to.Head) {
		return fmt.Errorf("%w: there is a branch %s with other commits; rename it, or unpack in another clone", errNotClean,
			t.branch)
	}
	return nil
}

// kept reports whether a commit can still be reached once a branch is moved from it to head: from head, what is checked
// out in the clone, or a remote.
func (u *unpacking) kept(ctx context.Context, commit, head string) bool {
	if _, err := u.git.In(ctx, "none", nil, "merge-base", "--is-ancestor", commit, head); err == nil {
		return true
	}
	out, err := u.git.Own(ctx, "rev-list", "--max-count=1", commit, "--not", "HEAD", "--remotes")
	return err == nil && len(out) == 0
}

// restoring is how the worktree is made, at the commit that the clone is at: what it has other than that is put in
// place like all work.
func (u *unpacking) restoring(t *treeWork) worktree.Restore {
	r := worktree.Restore{Top: u.git.Top, Path: t.path, Branch: t.branch, At: u.git.here,
		Marker: procs.Marker{Run: u.before.Run.ID, Agent: t.agent, Launch: worktree.MarkerName}}
	if r.Empty = r.At == ""; r.Empty {
		r.At = t.to.Head
	}
	return r
}

// planTreeFiles finds what is to be done in a worktree that is there. brought: the objects are in the clone.
func (u *unpacking) planTreeFiles(ctx context.Context, t *treeWork, scratch string, brought bool) (*gitWork, error) {
	scratch = filepath.Join(t.scratch, scratch)
	if err := os.Mkdir(scratch, 0o700); err != nil {
		return nil, err
	}
	w := &gitWork{to: t.to, before: u.git.bundles, bundles: t.bundles, work: t.bundles[len(t.bundles)-1].ref,
		brought: brought}
	var err error
	if w.Shadow, err = git.OpenShadow(ctx, t.path, scratch); err != nil {
		return nil, err
	}
	branch := ""
	if w.here, branch, err = w.Head(ctx); err != nil {
		return nil, err
	}
	if err := errors.Join(w.unbundle(ctx, w.Env("none"), u.MaxWork), w.parents(ctx)); err != nil {
		return nil, err
	}
	if w.moved = w.here != t.to.Head; w.moved {
		w.branch = branch == t.branch && u.kept(ctx, w.here, t.to.Head)
	}
	if _, err := os.Lstat(filepath.Join(w.Git, "index")); err == nil {
		w.from = w.here
	}
	return w, w.compare(ctx, u.MaxWork)
}

// restore makes a worktree, and puts its work in place. What an earlier try that was cut short has done counts as done.
func (u *unpacking) restore(ctx context.Context, t *treeWork) error {
	objects := &gitWork{Shadow: u.git.Shadow, to: t.to, bundles: t.bundles}
	if err := objects.unbundle(ctx, []string{"GIT_DIR=" + u.git.Common}, u.MaxWork); err != nil {
		return err
	}
	if err := u.restoring(t).Make(ctx); err != nil {
		return err
	}
	w, err := u.planTreeFiles(ctx, t, "put", true)
	if err != nil {
		return err
	}
	if err := w.do(ctx, u.MaxWork); err != nil {
		return err
	}
	return worktree.Below(t.path, t.along.Cwd)
}

// placed returns the worktree as it is here.
func (u *unpacking) placed(ctx context.Context, t *treeWork) supervisor.CameAlong {
	w := checkpoints.Worktree{State: t.was.State, Branch: t.branch, Path: t.path, Repo: u.git.Top,
		From: u.there(t.was.From), Base: t.was.Base, Lacks: t.was.Lacks, Problem: text.FirstLine(t.was.Problem),
		Loose: min(max(t.was.Loose, 0), git.MaxEntries), Commits: min(max(t.was.Commits, 0), git.MaxEntries)}
	if w.State == checkpoints.WorktreeKept {
		w.Tip = t.branch
	}
	if !git.IsObjectName(w.Base) {
		w.Base = t.to.Head
	} else if _, err := u.git.In(ctx, "none", nil, "merge-base", "--is-ancestor", w.Base, t.to.Head); err != nil {
		w.Base = t.to.Head // it is of commits that did not come along
	}
	c := supervisor.CameAlong{Cwd: u.there(u.before.Agents.Get(t.agent).Cwd), Worktree: w}
	if !text.Under(c.Cwd, t.path) {
		c.Cwd = t.path
	}
	return c
}

// there returns where a folder of the run is here, in a worktree or in the run's own; the latter where it is in
// neither.
func (u *unpacking) there(folder string) string {
	for _, t := range u.trees {
		if rel, within := localIn(t.was.Path, folder); within {
			return filepath.Join(t.path, rel)
		}
	}
	rel, _ := localIn(u.before.Run.Cwd, folder)
	return filepath.Join(u.cwd, rel)
}

// localIn returns the path of a folder in another one, as records have both.
func localIn(dir, folder string) (rel string, within bool) {
	rel, err := filepath.Rel(dir, folder)
	if err != nil || folder == "" || !filepath.IsLocal(rel) || text.PlainLine(rel) != rel {
		return "", false
	}
	return rel, true
}

// cameAlong returns the worktrees by agent.
func (u *unpacking) cameAlong() map[string]supervisor.CameAlong {
	if len(u.trees) == 0 {
		return nil
	}
	all := map[string]supervisor.CameAlong{}
	for _, t := range u.trees {
		all[t.agent] = t.along
	}
	return all
}
