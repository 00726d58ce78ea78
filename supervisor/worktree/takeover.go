package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/text"
)

// Merging is done as the person who asked for it: with their name, their signature, their filters. What an agent has
// left in its worktree chooses none of that, and runs nothing:
//
//   - The git folder is the one that git has made. A .git that was put in its place, with a configuration that names
//     programs, is refused.
//   - A .gitattributes of the branch can say which of the person's filters and merge drivers see what. Where there are
//     any, a branch that changes one is refused: the person looks first, and merges by hand.
//   - No hook and no file system monitor runs.
//   - What is merged is the commit that was looked at: a tag of the branch's name is not taken for it.
//
// A merge that conflicts is taken back.

// A Takeover is a worktree that was kept, and the work tree that takes over what is left in it.
type Takeover struct {
	checkpoints.Worktree
	Into string // a folder in that work tree
}

// A ConflictError says that a merge was taken back, and in which files both sides had changed the same lines.
type ConflictError struct {
	Files []string
	Into  string
	Tip   string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("both sides have changed %s. The merge was undone, and nothing has changed in %s. "+
		"To resolve it by hand: git -C %[2]s merge %s", listFirst(e.Files), e.Into, e.Tip)
}

// person is git as the person runs it, in one work tree.
type person struct{ *git.Shadow }

// Merge commits what lies loose in the worktree to its branch, and merges that. It says what has become of it.
func (t Takeover) Merge(ctx context.Context) (string, error) {
	if t.IsCopy() {
		return "", fmt.Errorf("%s is a copy of a folder without git: keep takes over what has changed in it", t.Path)
	}
	s, drop, err := git.TempShadow(ctx, t.Repo, scratchForWorktrees)
	if err != nil {
		return "", err
	}
	defer drop()
	g := repo{Shadow: s}
	i, err := g.shadow(ctx, t.Into)
	if err == nil && i.Common != g.Common {
		err = fmt.Errorf("%s is not a work tree of %s (any more)", t.Into, t.Repo)
	}
	if err != nil {
		return "", err
	}
	into := person{i}
	programs, err := into.programs(ctx)
	if err != nil {
		return "", err
	}
	tip := t.Tip
	if _, err := os.Lstat(t.Path); err != nil { // the person has removed it: what was committed is on the branch
		t.Loose = 0
	}
	if t.Loose > 0 {
		if tip, err = t.commit(ctx, g, programs); err != nil {
			return "", err
		}
	} else if len(tip) != len(t.Base) || strings.Trim(tip, "0123456789abcdef") != "" {
		// which is its short name where a tag has the same
		if tip, err = g.tip(ctx, strings.TrimPrefix(t.Tip, "heads/")); err == nil && tip == "" {
			err = fmt.Errorf("its branch %s is gone", t.Tip)
		}
		if err != nil {
			return "", err
		}
	}
	changed, err := g.Differences(ctx, t.Base, tip)
	if err != nil {
		return "", err
	}
	for file := range changed {
		if strings.EqualFold(path.Base(file), ".gitattributes") && len(programs) > 0 {
			return "", t.chooses(file, programs)
		}
	}
	return t.merge(ctx, into, tip)
}

// commit commits all that lies loose in the worktree, and gives the commit.
func (t Takeover) commit(ctx context.Context, g repo, programs []string) (string, error) {
	n, err := g.open(ctx, t.Path)
	if err == nil && n.Git == n.Common {
		err = fmt.Errorf("%s is no longer a worktree of its own", t.Path)
	}
	if err != nil {
		return "", err
	}
	if len(programs) > 0 {
		if err := t.looseAttributes(ctx, n, programs); err != nil {
			return "", err
		}
	}
	p := person{n}
	if _, err := p.run(ctx, "add", "--all", "--", ":/"); err != nil {
		return "", err
	}
	_, err = p.run(ctx, "diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv")
	if git.GitSaysNo(err) { // else it was committed since
		_, err = p.run(ctx, "commit", "--quiet", "--no-verify", "--message", "work of "+t.Branch)
	}
	if err != nil {
		return "", err
	}
	head, _, err := n.Head(ctx)
	return head, err
}

// looseAttributes is an error if the worktree has a .gitattributes that is not committed, or may have one.
func (t Takeover) looseAttributes(ctx context.Context, n *git.Shadow, programs []string) error {
	if _, err := n.TakeOver(ctx); err != nil {
		return err
	}
	if hidden, err := unwatched(ctx, n); err != nil || hidden {
		return errors.Join(err, t.byHand("git was told not to look at some of its files"))
	}
	const everywhere = ":(top,glob,icase)**/.gitattributes"
	for _, args := range [][]string{
		{"diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=all", "HEAD"},
		{"ls-files", "-z", "--others"}, // whether they are ignored does not matter to git either
	} {
		out, err := n.In(ctx, "index", nil, append(args, "--", everywhere)...)
		if err != nil {
			return err
		}
		if file, _, found := strings.Cut(string(out), "\x00"); found {
			return t.chooses(file, programs)
		}
	}
	return nil
}

func (t Takeover) chooses(file string, programs []string) error {
	return t.byHand(fmt.Sprintf("it changes %s, which chooses what your %s are run on", text.PlainLine(file),
		listFirst(programs)))
}

// listFirst lists names, of many the first.
func listFirst(names []string) string {
	const most = 3
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// byHand refuses to do it.
func (t Takeover) byHand(why string) error {
	merge, _ := t.Commands(t.Into)
	return fmt.Errorf("%s. Look at it, and merge by hand: %s", why, strings.Join(merge, " && "))
}

// merge merges a commit.
func (t Takeover) merge(ctx context.Context, into person, tip string) (string, error) {
	before, branch, err := into.Head(ctx)
	if err != nil {
		return "", err
	}
	if branch == "" {
		branch = "the commit that is checked out"
	}
	pending, err := into.merging(ctx)
	if err != nil {
		return "", err
	}
	if pending != "" {
		return "", fmt.Errorf("a merge is under way in %s: finish it first, or undo it with git merge --abort", into.Top)
	}
	_, failed := into.run(ctx, "merge", "--quiet", "--no-edit", "--no-stat", "-m", "Merge branch '"+t.Tip+"'", tip)
	if failed != nil {
		return "", into.takeBack(ctx, tip, failed, t)
	}
	after, _, err := into.Head(ctx)
	if err == nil && after == before {
		return "All of it is in " + branch + " of " + into.Top + " already.", nil
	}
	return fmt.Sprintf("Merged into %s of %s.", branch, into.Top), err
}

// merging returns the commit that is being merged, "" if none is.
func (p person) merging(ctx context.Context) (string, error) {
	return git.GitsWord(p.Own(ctx, "rev-parse", "--quiet", "--verify", "MERGE_HEAD"))
}

// takeBack ends a merge that has failed.
func (p person) takeBack(ctx context.Context, tip string, failed error, t Takeover) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), TidyTime)
	defer cancel()
	if begun, err := p.merging(ctx); err != nil || begun != tip {
		return errors.Join(failed, err) // git has refused to begin
	}
	out, err := p.Own(ctx, "ls-files", "--unmerged", "-z")
	if err != nil {
		return errors.Join(failed, err)
	}
	var files []string
	for entry := range strings.SplitSeq(string(out), "\x00") { // mode, object and stage, a tab, the path
		if _, file, found := strings.Cut(entry, "\t"); found && !slices.Contains(files, text.PlainLine(file)) {
			files = append(files, text.PlainLine(file))
		}
	}
	if _, err := p.run(ctx, "merge", "--abort"); err != nil {
		return fmt.Errorf("%w; and the merge could not be undone: %w", failed, err)
	}
	if len(files) == 0 {
		return failed
	}
	return &ConflictError{Files: files, Into: p.Top, Tip: t.Tip}
}

// programs returns the filters and merge drivers of the person's configuration and the repository's.
func (p person) programs(ctx context.Context) ([]string, error) {
	out, err := p.run(ctx, "config", "--null", "--name-only", "--get-regexp",
		`^(filter\..*\.(clean|smudge|process)|merge\..*\.driver)$`)
	if err != nil && !git.GitSaysNo(err) {
		return nil, err
	}
	var named []string
	for key := range strings.SplitSeq(string(out), "\x00") {
		if end := strings.LastIndexByte(key, '.'); end > 0 && !slices.Contains(named, text.PlainLine(key[:end])) {
			named = append(named, text.PlainLine(key[:end]))
		}
	}
	return named, nil
}

// asPerson are the settings that stand over those of the person: what a person's git does beside.
var asPerson = []string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false"}

// run runs git as the person does. It has no terminal: what would ask there fails.
func (p person) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append(slices.Clone(asPerson), args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.Top, &stdout, &stderr
	cmd.Env = append(slices.DeleteFunc(os.Environ(), elsewhere), "GIT_DIR="+p.Git, "GIT_COMMON_DIR="+p.Common,
		"GIT_WORK_TREE="+p.Top, "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_MERGE_AUTOEDIT=no")
	if len(p.Muted) > 1 {
		cmd.Env = append(cmd.Env, p.Muted...)
	}
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() == nil && stderr.Len() == 0 {
			stderr = stdout // where merge tells of conflicts
		}
		return nil, git.GitFailed(ctx, args, &stderr, err)
	}
	return stdout.Bytes(), nil
}

// elsewhere reports whether a variable would lead git to another repository, or to the terminal.
func elsewhere(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	switch name {
	case "GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF", "GPG_TTY":
		return true
	}
	return false
}

// Drop removes the worktree with all that is in it, and its branch.
func (t Takeover) Drop(ctx context.Context) (string, error) {
	if t.IsCopy() {
		return "The copy is gone.", os.RemoveAll(t.Path)
	}
	s, drop, err := git.TempShadow(ctx, t.Repo, scratchForWorktrees)
	if err != nil {
		return "", err
	}
	defer drop()
	g := repo{Shadow: s}
	if t.Path != "" {
		if err := g.remove(ctx, t.Path); err != nil {
			return "", err
		}
	}
	if tip, err := g.tip(ctx, t.Branch); err != nil {
		return "", err
	} else if tip != "" {
		if _, err := g.git(ctx, "branch", "--delete", "--force", "--quiet", "--", t.Branch); err != nil {
			return "", err
		}
	}
	return "The worktree and its branch are gone.", nil
}
