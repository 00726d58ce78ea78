package host

import (
	"context"
	"fmt"
	"path/filepath"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/worktree"
)

// place makes the folder ready in which an agent is about to work, and looks there for what the context of its task
// names.
func (m Machine) place(ctx context.Context, s supervisor.State, f effect.Effect) supervisor.Placed {
	a := s.Agents.Get(f.Agent)
	b, from := supervisor.Placed{Agent: a.ID, Cwd: a.Cwd}, s.Folder(a.ID)
	var named []string
	if a.Delegated != nil {
		named = task.ContextFiles(a.Delegated.Context)
	}
	var p worktree.Spec
	if a.Worktree != nil {
		from = a.Worktree.From
		if b.Cwd = from; from == s.Folder(a.Parent) {
			b.Cwd = ""
		}
		p = worktree.Spec{Agent: a.ID, Want: *a.Worktree, Above: s.WorktreeAround(a, from),
			Marker: procs.Marker{Run: s.Run.ID, Agent: a.ID, Launch: worktree.MarkerName}}
		if of := a.Worktree.Moment; of != nil {
			p.Moments = worktree.MomentsOf(m.Dirs, of.Run)
		}
	}
	folder := from
	if p.Agent != "" {
		var w checkpoints.Worktree
		var cwd string
		done := func() {}
		if m.Working != nil {
			done = m.Working("making the worktree of " + a.ID)
		}
		err := worktree.Persistently(ctx, func() (err error) {
			w, cwd, err = p.Make(ctx)
			return err
		})
		done()
		if err != nil {
			m.Log.Info().Err(err).Str("agent", a.ID).Msg("no worktree")
			w = checkpoints.Worktree{State: checkpoints.WorktreeNone, Branch: w.Branch, From: from,
				Problem: text.FirstLine(err.Error())}
		} else {
			folder, b.Cwd = cwd, cwd
			b.Unforked = m.fork(s, a, cwd)
		}
		b.Worktree = &w
	}
	here, there := &worktree.FileSearch{Cwd: folder}, &worktree.FileSearch{Cwd: from}
	for _, name := range named {
		if found, _ := here.OnDisk(ctx, name); found {
			continue
		}
		if found, _ := there.OnDisk(ctx, name); found && folder != from && !filepath.IsAbs(name) {
			b.Beyond = append(b.Beyond, filepath.Join(from, name))
		} else {
			b.Gone = append(b.Gone, name)
		}
	}
	return b
}

// tidy looks through the worktree of an agent that is about to end. One in which nothing was left is removed with its
// branch.
func (m Machine) tidy(ctx context.Context, s supervisor.State, f effect.Effect) supervisor.Tidied {
	a := s.Agents.Get(f.Agent)
	end := worktree.WorktreeEnd{
		Worktree: *a.Worktree, Cwd: s.Folder(a.ID), Keep: s.Config.KeepProcesses || s.Inhabited(a),
		Marker: procs.Marker{Run: s.Run.ID, Agent: a.ID, Launch: worktree.MarkerName},
	}
	if of := a.Worktree.Moment; of != nil {
		end.Moments = worktree.MomentsOf(m.Dirs, of.Run)
	}
	if a.Report != nil {
		end.Named = a.Report.Files
	}
	ctx, cancel := context.WithTimeoutCause(ctx, worktree.TidyTime,
		fmt.Errorf("it took longer than %v", worktree.TidyTime))
	defer cancel()
	var w checkpoints.Worktree
	err := worktree.Persistently(ctx, func() (err error) {
		w, err = end.Look(ctx)
		return err
	})
	if err != nil {
		m.Log.Info().Err(err).Str("agent", a.ID).Msg("worktree")
		w.Problem = text.FirstLine(err.Error())
	}
	return supervisor.Tidied{Agent: a.ID, Worktree: w}
}
