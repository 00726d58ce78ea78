package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/view"
	"claude-supervise/supervisor/worktree"
)

// A Forking is a run that is to go on from a question of another, which was looked through for it.
type Forking struct {
	task.Task
	asked time.Time
	kept  time.Time // the work, as it was then
	plain bool      // in a folder without git
}

// ForkFrom looks whether a run can go on from a question with another answer: a reply as Reply takes it. Nothing is
// changed.
func ForkFrom(ctx context.Context, c client.Client, question string, a Answer) (f Forking, err error) {
	q, err := c.Reader().FindQuestion(ctx, question)
	if err != nil {
		return f, err
	}
	refused := func(err error) error {
		return &Refusal{Reason: Conflict,
			Text: fmt.Sprintf("%s cannot be answered differently: %v; nothing was started", q.ID, err)}
	}
	if q.Run == "" {
		return f, refused(errors.New("it belongs to no run"))
	}
	origin, err := view.State(ctx, c.Store, q.Run)
	if err != nil {
		return f, err
	}
	fork, err := origin.Fork(q.ID)
	if err != nil {
		return f, refused(err)
	}
	recorded := origin.Questions.Get(q.ID)
	f.asked = recorded.AskedAt
	stat := func(path string) error {
		_, err := os.Stat(path)
		return err
	}
	switch {
	case a.Skip || a.Decline != nil:
		return f, refused(errors.New("another answer is needed, so it is neither skipped nor declined"))
	case a.AllLike || a.SkipRest:
		return f, refused(errors.New("another answer is for one question alone"))
	}
	fork.Answer, err = Judge(program, q, a, questions.Place{Dir: fork.Folder, Stat: stat})
	if err == nil {
		err = questions.Check(recorded, fork.Answer, fork.Folder)
	}
	if err != nil {
		return f, fmt.Errorf("%w; nothing was started", err)
	}
	if fork.By = a.By; fork.Answer == fork.Before {
		return f, refused(fmt.Errorf("%q is the answer that it had", fork.Answer))
	}
	at, err := worktree.MomentsOf(c.Dirs, q.Run).Moment(ctx, fork.Moment)
	if errors.Is(err, git.ErrNoMoment) {
		err = errors.New("the work as it was then is not kept any more")
	}
	if f.plain = !at.OfGit(); err == nil && at.Head == "" && !f.plain {
		err = errors.New("nothing was committed in its folder then, so there is nothing that a git worktree begins at")
	}
	if f.kept = at.At; err == nil && view.FolderGone(fork.Folder) { // of a child whose worktree is gone, say
		fork.Folder, err = repositoryOf(origin, fork.Agent)
	}
	if err == nil {
		err = c.Continuable(origin, fork)
	}
	if err != nil {
		return f, refused(err)
	}
	f.Task = origin.ForkTask(fork)
	return f, nil
}

// repositoryOf returns the work tree, or the folder without git, of which the worktree of an agent was made. The error
// says what to do where the run's own folder was moved.
func repositoryOf(s supervisor.State, agent string) (string, error) {
	if w := s.Agents.Get(agent).Worktree; w != nil {
		if of := cmp.Or(w.Repo, w.From); of != "" && !view.FolderGone(of) {
			return of, nil
		}
	}
	moved := "first run " + view.ResumeCommand(program, s.Run.ID, true)
	if s.Run.EndedAt != nil { // nothing is to be resumed
		moved = "have " + s.Run.Cwd + " be a link to it"
	}
	return "", fmt.Errorf("its folder is gone: %s. If it was moved, %s", s.Folder(agent), moved)
}

// Caution says what the run has, and what not.
func (f Forking) Caution() string {
	kept := "when it was asked"
	if late := f.kept.Sub(f.asked); late >= 2*time.Second {
		kept = fmt.Sprintf("%s after it was asked", late.Round(time.Second))
	}
	in, lacks := "a git worktree of its own", "files that git ignores (dependencies, builds, .env), and subagents"
	if f.plain {
		in = "a copy of its own, with all that was in the folder, secrets (.env) too"
		lacks = "git repositories inside it, and subagents"
	}
	return fmt.Sprintf(`A new run continues from %s with another answer:
%s in place of %s.
It has the conversation until then, and the work as it was %s,
in %s. %s and its folder are left as they are.
Not in it: %s.
Not undone: what was done since elsewhere, as in databases, on the network.`,
		f.Fork.Question, questions.Show(f.Fork.Answer), questions.Show(f.Fork.Before), kept, in, f.Fork.Run, lacks)
}

// rivals returns the runs that go on, and have answered the same question as a run, or one of its own; known: there are
// such, if only some that have ended.
func rivals(ctx context.Context, c client.Client, of *supervisor.Run) (ids []string, known bool, err error) {
	runs, err := c.Reader().Runs(ctx, true)
	for _, r := range runs {
		same := of.Forked != nil && (r.ID == of.Forked.Run ||
			r.Forked != nil && r.Forked.Run == of.Forked.Run && r.Forked.Question == of.Forked.Question)
		own := of.Forked == nil && r.Forked != nil && r.Forked.Run == of.ID
		if r.ID == of.ID || !same && !own {
			continue
		}
		if known = true; r.EndedAt == nil {
			ids = append(ids, r.ID)
		}
	}
	return ids, known, err
}
