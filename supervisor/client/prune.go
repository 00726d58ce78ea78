package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/filedrop"
)

// A Pruned is a run that was forgotten, or was not.
type Pruned struct {
	ID      string            `json:"id"`
	Run     string            `json:"run"` // the same; only its folder was left, where the rest is empty
	Name    string            `json:"name"`
	Status  supervisor.Status `json:"status"`
	EndedAt *time.Time        `json:"ended_at"`
	Kept    string            `json:"kept"` // why it was kept
}

// Prune forgets these runs, or, where none is named, all that ended before a time: their records, questions and
// answers, and all that their agents printed. Claude's own transcripts and what the agents wrote stay. Folders that no
// run belongs to, such as a crash leaves, go with them. A run that goes on, or that somebody takes up at this moment,
// is kept. With dry nothing is forgotten. progress is told how many runs are done, of how
// many; nil: nobody. The error is of the first that could not be.
func (c Client) Prune(ctx context.Context, runs []string, before time.Time, dry bool,
	progress func(done, total int64)) ([]Pruned, error) {
	var chosen []supervisor.Run
	if len(runs) == 0 {
		var err error
		if chosen, err = c.Store.EndedRuns(ctx, before); err != nil {
			return nil, err
		}
	}
	for _, id := range runs {
		run, _, _, err := c.Target(ctx, id)
		if err != nil {
			return nil, err
		}
		r, err := c.Store.Run(ctx, run)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, r)
	}
	all := []Pruned{}
	for i, r := range chosen {
		if progress != nil {
			progress(int64(i), int64(len(chosen)))
		}
		p := Pruned{ID: r.ID, Run: r.ID, Name: r.Name, Status: r.Status, EndedAt: r.EndedAt}
		err := c.forget(ctx, r.ID, dry)
		switch {
		case errors.Is(err, supervisor.ErrOwned), errors.Is(err, checkpoints.ErrNotEnded):
			p.Kept = "it has not ended: claude-supervise stop " + r.ID
		case err != nil:
			return all, err
		}
		all = append(all, p)
	}
	if len(runs) > 0 {
		return all, nil
	}
	return c.pruneFolders(ctx, all, dry)
}

// forget removes one run while no supervisor can have it.
func (c Client) forget(ctx context.Context, run string, dry bool) error {
	if dry {
		r, err := c.Store.Run(ctx, run)
		if err == nil && (r.EndedAt == nil || c.Dirs.Owned(run)) {
			err = checkpoints.ErrNotEnded
		}
		return err
	}
	owner, err := c.Dirs.Own(ctx, run)
	if err != nil {
		return err
	}
	defer func() { _ = owner.Release() }() // its file is gone
	supervisor.At(c.At, supervisor.BeforeNote+supervisor.EntryPrune)
	if err := c.Store.Remove(ctx, run); err != nil {
		return err
	}
	supervisor.At(c.At, supervisor.AfterNote+supervisor.EntryPrune)
	filedrop.TakeDown(run)
	return errors.Join(c.removeFolder(run), c.Dirs.ForgetAnswered())
}

func (c Client) removeFolder(run string) error {
	if err := c.Dirs.RemoveRun(run); err != nil {
		return fmt.Errorf("the records of %s are deleted, but its folder cannot be removed: %w; remove it by hand", run, err)
	}
	return nil
}

// pruneFolders removes the folders of runs that there are no records of. One that a supervisor has just made is owned.
func (c Client) pruneFolders(ctx context.Context, all []Pruned, dry bool) ([]Pruned, error) {
	folders, err := c.Dirs.RunDirs()
	if err != nil {
		return all, err
	}
	known, err := c.Store.Runs(ctx, true)
	if err != nil {
		return all, err
	}
	for _, run := range folders {
		if slices.ContainsFunc(known, func(r supervisor.Run) bool { return r.ID == run }) {
			continue
		}
		if removed, err := c.pruneFolder(ctx, run, dry); err != nil {
			return all, err
		} else if removed {
			all = append(all, Pruned{ID: run, Run: run})
		}
	}
	return all, nil
}

func (c Client) pruneFolder(ctx context.Context, run string, dry bool) (removed bool, err error) {
	owner, err := c.Dirs.Own(ctx, run)
	if errors.Is(err, supervisor.ErrOwned) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	defer func() { _ = owner.Release() }() // its file is gone
	var unknown *checkpoints.UnknownError
	if _, err := c.Store.Run(ctx, run); !errors.As(err, &unknown) {
		return false, err // it was created between the looks
	}
	if dry {
		return true, nil
	}
	return true, c.removeFolder(run)
}
