package pack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/text"
)

// planWork finds where the uncommitted work goes.
func (u *unpacking) planWork(ctx context.Context) error {
	m := u.archive.manifest
	kind := m.Work
	if u.WithoutWork {
		kind = workNone
	}
	var err error
	switch kind {
	case workFiles:
		u.files, err = planFolder(u.cwd, u.archive)
		return err
	case workGit:
		return u.planGit(ctx, m)
	}
	if info, err := os.Stat(u.cwd); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a folder, and there is no work in the file to make it of; nothing was changed: give "+
			"one with --cwd", u.cwd)
	}
	return nil
}

func (u *unpacking) planGit(ctx context.Context, m manifest) error {
	if len(u.archive.bundles) == 0 {
		return notPack("it lacks its work")
	}
	bundles, err := u.archive.bundleHeaders(u.archive.bundles)
	if err != nil {
		return err
	}
	needs := bundles[0].needs
	if len(needs) == 0 && vacant(u.cwd) && !u.DryRun {
		u.repo, u.made = u.cwd, missingFolders(u.cwd)
		if err := os.MkdirAll(u.cwd, 0o777); err != nil {
			return err
		}
		if err := initClone(ctx, u.cwd, u.scratch, m.Git); err != nil {
			return err
		}
	} else if len(needs) == 0 && vacant(u.cwd) {
		u.told = append(u.told, "a new repository would be made in "+u.cwd)
		if n := len(m.Worktrees); n > 0 {
			u.told = append(u.told, text.Plural(n, "worktree", "worktrees")+" of its agents would be made beside it")
		}
		return nil
	}
	if u.git, err = planGit(ctx, u.cwd, u.scratch, bundles, m.Git, u.MaxWork); err != nil {
		return err
	}
	u.cwd = filepath.Join(u.git.Top, filepath.FromSlash(m.Git.Prefix))
	u.told = append(u.told, u.git.told()...)
	return u.planTrees(ctx)
}

// vacant reports whether a folder is empty or missing, and in no work tree.
func vacant(folder string) bool {
	entries, err := os.ReadDir(folder)
	return len(entries) == 0 && (err == nil || errors.Is(err, os.ErrNotExist)) && !git.HasGitAbove(folder)
}

// missingFolders returns a folder and those above it that are not there, the deepest first.
func missingFolders(folder string) []string {
	var missing []string
	for ; ; folder = filepath.Dir(folder) {
		if _, err := os.Lstat(folder); !errors.Is(err, os.ErrNotExist) {
			return missing
		}
		missing = append(missing, folder)
	}
}

// told says what is done to a clone.
func (w *gitWork) told() []string {
	told := []string{fmt.Sprintf("uncommitted work: %s put in place, %s removed",
		text.Plural(len(w.put), "file", "files"), text.Plural(len(w.drop), "file", "files"))}
	if w.moved && !w.unborn && w.to.Head != "" {
		text := fmt.Sprintf("HEAD was at %.12s and is moved to %.12s, to which the work belongs; no branch is moved",
			w.here, w.to.Head)
		if w.to.Branch != "" {
			text += " (it was on " + w.to.Branch + ")"
		}
		told = append(told, text)
	}
	if len(w.submodules) > 0 {
		told = append(told, "submodules stay as they are: "+strings.Join(w.submodules, ", ")+" (git submodule update)")
	}
	return told
}
