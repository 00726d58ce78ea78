package pack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// known refuses a run that goes on here, and finds where it goes on.
func (u *unpacking) known(ctx context.Context) error {
	u.cwd = u.Folder
	if m := u.archive.manifest; m.Snapshot != nil && m.Snapshot.Number > 0 && u.File != "-" {
		if folder := filepath.Dir(u.File); filepath.Base(folder) == m.Run {
			if f := FolderOf(filepath.Dir(folder), m.Run); exists(filepath.Join(f.path, epochName)) {
				u.beside = f
			}
		}
	}
	here, err := u.Store.Run(ctx, u.archive.manifest.Run)
	switch {
	case view.NoSuchID(err):
	case err != nil:
		return err
	default:
		u.same, u.newer = true, u.wentOn(here)
		if u.newer {
			err = u.unheard(ctx, here.ID)
		} else if here.Packed == "" {
			err = fmt.Errorf("%s is on this machine and was not packed here, so the file is older than what is known of it: "+
				"%w. Nothing was changed; to continue, run: claude-supervise resume %s", here.ID, checkpoints.ErrDuplicateID,
				here.ID)
		}
		if err != nil {
			return err
		}
		if err := json.Unmarshal(here.Config, &u.ours); err != nil {
			return fmt.Errorf("the configuration of run %s cannot be read: %w", here.ID, err)
		}
	}
	u.cwd = cmp.Or(u.cwd, here.Cwd, u.Here)
	return nil
}

// wentOn reports whether the file is what has become of a run that this machine had, and lost: a supervisor here was
// told so, or the folder in which it put its snapshots says so.
func (u *unpacking) wentOn(here supervisor.Run) bool {
	later := u.archive.run.Run.Epoch > here.Epoch
	if here.TakenOver != nil {
		return later || u.beside != nil
	}
	var ours conf.Config
	return later && u.beside != nil && json.Unmarshal(here.Config, &ours) == nil &&
		ours.Snapshots != nil && resolved(ours.Snapshots.Dir) == resolved(filepath.Dir(u.beside.path)) // by a link, too
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// unheard tells of the answers that were kept here and are in nothing that has become of the run elsewhere: they go
// with the records here, whose place the file takes.
func (u *unpacking) unheard(ctx context.Context, run string) error {
	here, err := u.Store.Export(ctx, run)
	if err != nil {
		return err
	}
	there := map[string]*checkpoints.Question{}
	for _, q := range u.archive.run.Questions {
		there[q.ID] = q
	}
	tell := func(question, answer string) {
		if q := there[question]; q != nil && q.AnsweredAt != nil && q.Answer == answer {
			return // somebody gave the same
		}
		u.told = append(u.told, fmt.Sprintf("the answer to %s (%s) was kept on this machine alone and does not count: the "+
			"run continued elsewhere without it", question, text.Line(cmp.Or(answer, "skipped"), text.MaxLine)))
	}
	for _, q := range here.Questions {
		if q.AnsweredAt != nil {
			tell(q.ID, q.Answer)
		}
	}
	for _, n := range here.Notes {
		if n.Seq > here.Taken && n.Question != "" {
			tell(n.Question, n.Value)
		}
	}
	return nil
}
