package service

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
	"claude-supervise/supervisor/worktree"
)

// Diff is what a run, or the agent of it that is named, has changed, agent by agent: of one with a worktree what
// differs there from where it began, of others what their own edits have made.
func (m Machine) Diff(ctx context.Context, id string, whole bool) (string, error) {
	diff, err := Read(m, func(r view.Reader) (string, error) { return changes(ctx, r, id) })
	switch {
	case err != nil || diff != "" && whole:
		return diff, err
	case diff != "":
		return beginning(diff, id), nil
	}
	return "Nothing was changed by edits, or in a worktree.\n", nil
}

// changes is all of a diff; "" where nothing has changed.
func changes(ctx context.Context, r view.Reader, id string) (string, error) {
	d, err := r.Show(ctx, id)
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, a := range d.Run.Agents {
		if d.Agent != "" && a.ID != d.Agent {
			continue
		}
		var changed, where string
		if w, is := d.Worktrees[a.ID]; is && w.Base != "" {
			where = "in its worktree"
			changed, err = worktree.Diff(ctx, w.Path, w.Branch, w.Base, d.Run.Cwd)
		} else {
			where = "by its own edits"
			changed, err = editsOf(ctx, r, a.ID, d.Run.Cwd)
		}
		switch {
		case err != nil:
			changed = "what it changed cannot be shown: " + err.Error()
		case changed == "":
			continue
		}
		fmt.Fprintf(&all, "%s, %s:\n%s\n\n", a.ID, where, strings.TrimRight(changed, "\n"))
	}
	return strings.TrimSuffix(all.String(), "\n"), nil
}

// maxDiff is how much of a diff a front end shows, in bytes.
const maxDiff = 256 << 10

// beginning returns as much of the diff of a run or an agent as is shown, in whole lines, and says how much is left.
func beginning(diff, id string) string {
	kept := text.FirstLines(diff, maxDiff)
	if kept == diff {
		return diff
	}
	return fmt.Sprintf("%s\n… (%d more bytes: %s show %s --diff)\n", strings.TrimSuffix(kept, "\n"), len(diff)-len(kept),
		program, id)
}

// editsOf are the edits of an agent that were made, as its log has them, in their order. A file in the folder of its
// run is called as it is there.
func editsOf(ctx context.Context, r view.Reader, agent, folder string) (string, error) {
	log, err := r.RunLog(ctx, agent)
	if err != nil {
		return "", err
	}
	edits, err := log.Edits(ctx)
	var all strings.Builder
	for _, e := range edits {
		e.File = strings.TrimPrefix(e.File, strings.TrimSuffix(folder, "/")+"/")
		if e.Tool == "Write" {
			all.WriteString(udiff.Unified("/dev/null", e.File, "", e.Content))
			continue
		}
		all.WriteString(udiff.Unified(e.File, e.File, e.Old+"\n", e.New+"\n"))
	}
	return all.String(), err
}

// changedPatience bounds how long it is looked whether a run has changed anything.
const changedPatience = time.Second

// Changed reports whether Diff has something to show of a run, as far as that is known within a second.
func Changed(r view.Reader, run string, worktrees int) bool {
	if worktrees > 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), changedPatience)
	defer cancel()
	log, err := r.RunLog(ctx, run)
	if err != nil {
		return false
	}
	edited, err := log.Edited(ctx)
	return err == nil && edited
}

// lookingAtWorktrees is how long git may take to name what has changed in all worktrees of a run.
const lookingAtWorktrees = 10 * time.Second

// Meanwhile returns what happened in all runs since the person was last told.
func (m Machine) Meanwhile(ctx context.Context) (view.Meanwhile, error) {
	return m.MeanwhileSince(ctx, time.Time{}, "", func(view.RunView) bool { return true })
}

// MeanwhileSince is view.Reader.MeanwhileSince, from when the person was last told where since is zero, with what the
// runs that have ended have changed, as far as that can still be looked at.
func (m Machine) MeanwhileSince(ctx context.Context, since time.Time, cwd string,
	has func(view.RunView) bool) (view.Meanwhile, error) {
	return Read(m, func(r view.Reader) (view.Meanwhile, error) {
		if since.IsZero() {
			since = client.ToldUntil(r.Dirs)
		}
		found, err := r.MeanwhileSince(ctx, since, cwd, has)
		if err != nil {
			return found, err
		}
		ctx, cancel := context.WithTimeout(ctx, lookingAtWorktrees)
		defer cancel()
		for i := range found.Runs {
			if ended := &found.Runs[i]; ended.Run.EndedAt != nil {
				ended.Changes, _ = changes(ctx, r, ended.Run.ID)
			}
		}
		return found, nil
	})
}

// NameChanges names the files that have changed in the worktrees of a run, of those that can still be looked at. It
// blocks for ten seconds at most.
func NameChanges(ctx context.Context, r *view.RunReport) {
	ctx, cancel := context.WithTimeout(ctx, lookingAtWorktrees)
	defer cancel()
	for i := range r.Agents {
		if w := r.Agents[i].Worktree; w != nil && w.Base != "" {
			r.Agents[i].Changed, _ = worktree.Changed(ctx, w.Path, w.Branch, w.Base, r.Run.Cwd)
		}
	}
}
