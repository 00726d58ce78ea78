package client

import (
	"context"
	"fmt"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/filedrop"
	"claude-supervise/supervisor/view"
)

// A ResumePlan is what resume needs to know of a run beforehand.
type ResumePlan struct {
	Run, Cwd   string
	OnQuestion conf.OnQuestion
	Answered   bool                   // there are answers that nobody has delivered
	NoNotify   bool                   // nobody is called who does not look
	Snapshots  *conf.SnapshotTo       // where its snapshots are put; nil: nowhere
	Revive     bool                   // it had ended when resume was typed: to go on all the same is what was asked for
	Worktrees  []checkpoints.Worktree // those of its agents that are on disk
	Where      *claude.Whereabouts    // with which variables it was started; nil: not known
}

// Resumables returns the runs that nobody supervises and that resume would get further, oldest first: not those that
// would be left at once again, for they wait for an answer and are not to be waited with. policy is what resume was
// given; "" leaves it to each run.
func (c Client) Resumables(ctx context.Context, policy conf.OnQuestion) (all []ResumePlan, waiting []string,
	err error) {
	runs, err := c.Store.Runs(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range runs {
		if r.Packed != "" || c.goesOn(r) {
			continue
		}
		plan, err := c.Resumable(ctx, r.ID, time.Now())
		if err != nil {
			return nil, nil, err
		}
		if policy != "" {
			plan.OnQuestion = policy
		}
		if r.Status == checkpoints.Parked && plan.OnQuestion == conf.Park && !plan.Answered {
			waiting = append(waiting, r.ID)
			continue
		}
		all = append(all, plan)
	}
	return all, waiting, nil
}

// Typed returns when the command that this process carries out was typed, however long a busy machine took to come to
// it.
func Typed() time.Time { return procs.Began() }

// Resumable returns the run that an id names, if a supervisor can take it over; the error says why not otherwise, and
// is a NothingLeftError where the run has ended. typed is when resume was: what ends later, under another supervisor,
// is not revived unasked.
func (c Client) Resumable(ctx context.Context, id string, typed time.Time) (ResumePlan, error) {
	s, err := c.takeable(ctx, id)
	if err != nil {
		return ResumePlan{}, err
	}
	root := s.Agents.Get(s.Run.Root)
	if s.Run.EndedAt != nil &&
		!root.Revivable() { // its root may have, and a supervisor has died before it has ended the others
		return ResumePlan{},
			nothingLeft("%s has ended (%s: %s); there is nothing to resume. Start a new run for follow-up work",
				s.Run.ID, root.Status, root.Reason)
	}
	plan, err := c.resumePlan(ctx, s)
	plan.Revive = root.EndedAt != nil && root.EndedAt.Before(typed)
	return plan, err
}

// takeable returns the run that an id names, if a supervisor can take it over.
func (c Client) takeable(ctx context.Context, id string) (supervisor.State, error) {
	run, _, _, err := c.Target(ctx, id)
	if err != nil {
		return supervisor.State{}, err
	}
	s, err := view.State(ctx, c.Store, run)
	switch {
	case err != nil:
		return supervisor.State{}, err
	case s.Run.Packed != "":
		return supervisor.State{}, &checkpoints.PackedError{Run: run, File: s.Run.Packed}
	case c.goesOn(*s.Run) && procs.Exists(s.Run.PID): // else whatever holds its lock for a moment more is on its way out
		return supervisor.State{},
			fmt.Errorf("%s cannot be resumed: %w (pid %d); it continues when its questions are answered",
				run, supervisor.ErrOwned, s.Run.PID)
	}
	return s, nil
}

func (c Client) resumePlan(ctx context.Context, s supervisor.State) (ResumePlan, error) {
	qs, err := c.Store.Questions(ctx, checkpoints.QuestionFilter{Run: s.Run.ID, Undelivered: true})
	if err != nil {
		return ResumePlan{}, err
	}
	var worktrees []checkpoints.Worktree
	for _, a := range s.AllAgents() {
		if w := a.Worktree; w != nil && w.Path != "" && !w.IsCopy() &&
			(w.State == checkpoints.WorktreeMade || w.State == checkpoints.WorktreeKept) {
			worktrees = append(worktrees, *w)
		}
	}
	return ResumePlan{
		Run: s.Run.ID, Cwd: s.Run.Cwd, OnQuestion: s.Config.OnQuestion, NoNotify: s.Config.NoNotify,
		Snapshots: s.Config.Snapshots, Worktrees: worktrees, Where: s.Config.Where,
		Answered: slices.ContainsFunc(qs, func(q supervisor.Question) bool {
			return q.State == checkpoints.QuestionAnswered || filedrop.DroppedFor(&q)
		}),
	}, nil
}

// A NothingLeftError means that there is nothing in a run to go on with, or to try again.
type NothingLeftError struct{ Reason string }

// Error says so of the run.
func (e *NothingLeftError) Error() string { return e.Reason }

func nothingLeft(format string, args ...any) error {
	return &NothingLeftError{Reason: fmt.Sprintf(format, args...)}
}

// Retryable is Resumable for resume --failed: the error is a NothingLeftError where nothing in the run has failed.
func (c Client) Retryable(ctx context.Context, id string) (ResumePlan, error) {
	s, err := c.takeable(ctx, id)
	if err != nil {
		return ResumePlan{}, err
	}
	if !s.Retries() {
		return ResumePlan{}, nothingLeft("nothing in %s has failed, so there is nothing to retry; it is %s: %s",
			s.Run.ID, s.Run.Status, s.Run.Reason)
	}
	return c.resumePlan(ctx, s)
}
