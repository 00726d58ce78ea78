package host

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/worktree"
)

// prepare looks for what a blocker's agent has left, and stores the answers where its own script looks for them.
func (m Machine) prepare(ctx context.Context, s supervisor.State, f effect.Effect,
	b supervisor.Prepared) supervisor.Prepared {
	group := s.Group(f.Question)
	first := group[0]
	files, sig := searchOf(s, first.Agent), ask.SignalOf(first)
	if questions.KindOf(first.Kind).Readies() {
		b.Gone = files.Missing(ctx, ask.SnapshotPaths(sig))
	}
	if first.Assumed != nil {
		b.Made, b.Unknown = m.madeSince(ctx, s, first)
	}
	if first.Kept != nil && first.Kept.Copy != "" {
		copied, err := m.Dirs.RunFile(s.Run.ID, first.Kept.Copy), error(nil)
		if b.Hand, err = handBack(ctx, files, m.places(s, first.Agent), first.Kept.Path, copied, sig, group); err != nil {
			b.Problem = err.Error()
		}
	}
	return b
}

// madeSince looks for what was made under an assumption since the person was asked about it.
func (m Machine) madeSince(ctx context.Context, s supervisor.State, q *supervisor.Question) (made []string,
	unknown string) {
	if len(q.Assumed.Affects) == 0 {
		return nil, prompts.AffectsUnsaid
	}
	folder := s.Folder(q.Agent)
	return worktree.ChangedSince(ctx, folder, q.Assumed.Affects, q.AskedAt, m.goneSince(ctx, s, q, folder))
}

// goneSince returns the files that are not in a folder any more and were there at a question, in their order; nil if
// that is not known.
func (m Machine) goneSince(ctx context.Context, s supervisor.State, q *supervisor.Question, folder string) []string {
	if q.Moment == "" {
		return nil
	}
	differ, err := m.moments.of(m.Dirs, s.Run.ID).Diff(ctx, q.Moment, folder)
	if err != nil {
		m.Log.Info().Err(err).Str("question", q.ID).Msg("what was deleted")
		return nil
	}
	gone, top := []string{}, cmp.Or(git.TopAbove(folder), folder)
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	for name, is := range differ {
		if in, err := filepath.Rel(folder, filepath.Join(top, name)); is.Mode == "" && err == nil {
			gone = append(gone, in)
		}
	}
	slices.Sort(gone)
	return gone
}

// handBack stores the answers with the state that the agent goes on from, and gives its path: where the agent has left
// it, or, should that be gone or spoilt, the copy of the moment in which it asked. The error says why its own takes no
// answer.
func handBack(ctx context.Context, files *worktree.FileSearch, places checkpoints.Places, path, copied string,
	sig signals.Signal,
	group []*supervisor.Question,
) (string, error) {
	err := storeAnswer(places, path, sig, group)
	if err == nil {
		return path, nil
	}
	ours := checkpoints.Places{Base: filepath.Dir(copied)}
	if storeAnswer(ours, copied, sig, group) != nil {
		if there, _ := files.OnDisk(ctx, path); there {
			return path, err // neither has a place for it
		}
	}
	return copied, err
}

// storeAnswer writes the answers where the agent's own script looks for them.
func storeAnswer(places checkpoints.Places, state string, sig signals.Signal, group []*supervisor.Question) error {
	if sig.Dialect == signals.Escalated {
		return places.SetAnswer(state, prompts.UserAnswer(group))
	}
	answers := map[string]any{}
	for _, q := range group {
		answers[q.Own] = prompts.Value(q)
	}
	return places.StoreAnswers(state, answers)
}

// places says where the files may lie that an agent names.
func (m Machine) places(s supervisor.State, agent string) checkpoints.Places {
	cwd := s.Folder(agent)
	return checkpoints.Places{Base: cwd, Roots: []string{cwd, os.TempDir(), "/tmp", m.Claude}}
}
