package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"claude-supervise/checkpoints"
)

// A run that continues from a question that was asked in a folder without git works in a plain copy of it, as it was
// then. It stands where a worktree would stand, and is whole or not there at all.

// plain reports whether it is such a copy that is wanted.
func (p Spec) plain(ctx context.Context) (bool, error) {
	if p.Moments == nil || p.Want.Path != "" {
		return p.Want.IsCopy(), nil
	}
	m, err := p.Moments.Moment(ctx, p.Want.Moment.ID)
	return err == nil && !m.OfGit(), err
}

// copy makes the copy, if an earlier try has not made it: nobody works in it before its path is saved.
func (p Spec) copy(ctx context.Context) (checkpoints.Worktree, error) {
	w := checkpoints.Worktree{State: checkpoints.WorktreeMade, From: p.Want.From, Path: p.Want.Path, Moment: p.Want.Moment}
	if w.Path != "" {
		_, err := os.Lstat(w.Path)
		if err != nil {
			err = fmt.Errorf("its copy of %s is gone: %s", w.From, w.Path)
		}
		return w, err
	}
	folder, err := repoOf(w.From)
	if err == nil {
		err = openRepo(folder)
	}
	if err != nil {
		return w, fmt.Errorf("no folder for a copy can be made: %w", err)
	}
	w.Path = filepath.Join(folder, p.Agent)
	if _, err := os.Lstat(w.Path); err == nil {
		return w, nil
	}
	return w, p.Moments.Checkout(ctx, w.Moment.ID, w.Path)
}

// lookCopy says what is left in a copy, and removes it if that is nothing.
func (w WorktreeEnd) lookCopy(ctx context.Context) (checkpoints.Worktree, error) {
	kept := w.Worktree
	kept.State = checkpoints.WorktreeKept
	gone := checkpoints.Worktree{State: checkpoints.WorktreeRemoved, From: w.From, Moment: w.Moment}
	if _, err := os.Lstat(w.Path); err != nil {
		return gone, nil
	}
	defer func() { _ = w.Moments.Close() }() // what is left goes with the run that asked
	changed, err := w.Moments.Diff(ctx, w.Moment.ID, w.Path)
	if kept.Loose = len(changed); err != nil || kept.Loose > 0 || w.Keep {
		return kept, err
	}
	err = os.RemoveAll(w.Path)
	_ = os.Remove(filepath.Dir(w.Path)) // others may be in it
	return gone, err
}
