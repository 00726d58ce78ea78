package host

import (
	"context"
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/worktree"
)

// tidy looks through the worktree of an agent that is about to end. One in which nothing was left is removed with its
// branch.
func (m Machine) tidy(ctx context.Context, s supervisor.State, f supervisor.Effect) supervisor.Tidied {
	a := s.Agents[f.Agent]
	end := worktree.WorktreeEnd{
		Worktree: *a.Worktree, Cwd: s.Folder(a.ID), Keep: s.Config.KeepProcesses || s.Inhabited(a),
		Marker: procs.Marker{Run: s.Run.ID, Agent: a.ID, Launch: worktree.MarkerName},
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
