package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/worktree"
)

// Of how many questions the work is kept. The oldest are forgotten, some at a time.
const (
	maxMoments = 256
	fewer      = 32
)

// moments is where the work at the questions of a run is kept, opened with the first.
type moments struct {
	mu    sync.Mutex
	store *git.Store
}

func (m *moments) of(dirs checkpoints.Dirs, run string) *git.Store {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.store == nil {
		m.store = worktree.MomentsOf(dirs, run)
	}
	return m.store
}

// keepMoment keeps the work as it is where an agent asks.
func (m Machine) keepMoment(ctx context.Context, s supervisor.State, f effect.Effect) supervisor.MomentKept {
	kept, folder := supervisor.MomentKept{Question: f.Question}, s.Folder(f.Agent)
	store := m.moments.of(m.Dirs, s.Run.ID)
	plain := !git.HasGitAbove(folder)
	if plain && text.Under(m.Dirs.State, folder) {
		kept.Problem = folder + " holds the records of all runs, and is in no git work tree"
		return kept
	}
	id, err := store.Take(ctx, folder)
	switch {
	case plain && errors.Is(err, git.ErrTooLarge):
		kept.Problem = fmt.Sprintf("%s is in no git work tree, and holds more than %d MiB or %d files: begin a repository "+
			"there, and let git ignore what is not needed", folder, worktree.MaxPlainMoment>>20, git.MaxPlainFiles)
		return kept
	case err != nil:
		m.Log.Info().Err(err).Str("question", f.Question).Msg("moment")
		kept.Problem = text.FirstLine(err.Error())
		return kept
	}
	kept.Moment = id
	m.forgetMoments(ctx, s, store, id)
	return kept
}

// forgetMoments forgets the oldest once there are many. The last is not in the records yet.
func (m Machine) forgetMoments(ctx context.Context, s supervisor.State, store *git.Store, last string) {
	with := s.FindQuestions(func(q *supervisor.Question) bool { return q.Moment != "" })
	if n := len(with); n < maxMoments || n%fewer != 0 {
		return
	}
	with = with[len(with)-(maxMoments-fewer):]
	err := store.Prune(ctx, func(id string) bool {
		return id == last || slices.ContainsFunc(with, func(q *supervisor.Question) bool { return q.Moment == id })
	})
	if err != nil {
		m.Log.Info().Err(err).Str("run", s.Run.ID).Msg("moments")
	}
}
