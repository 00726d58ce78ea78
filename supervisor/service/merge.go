package service

import (
	"context"
	"errors"
	"time"

	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/view"
	"claude-supervise/supervisor/worktree"
)

// gitPatience bounds what a merge or the removal of a worktree may take.
const gitPatience = 5 * time.Minute

// Merge takes over what an agent has left in its worktree.
func (m Machine) Merge(ctx context.Context, run, agent string) (string, error) {
	return m.takenOver(ctx, run, agent, worktree.Takeover.Merge)
}

// Drop removes the worktree of an agent.
func (m Machine) Drop(ctx context.Context, run, agent string) (string, error) {
	return m.takenOver(ctx, run, agent, worktree.Takeover.Drop)
}

// takenOver does something with what an agent has left in its worktree, as the records have it now.
func (m Machine) takenOver(ctx context.Context, run, agent string,
	do func(worktree.Takeover, context.Context) (string, error)) (string, error) {
	return Act(m, func(c client.Client) (string, error) {
		s, err := view.State(ctx, c.Store, run)
		if err != nil {
			return "", err
		}
		a := s.Agents.Get(agent)
		if a == nil || a.Worktree == nil {
			return "", errors.New(agent + " has no worktree")
		}
		if _, drop := a.Worktree.Commands(""); len(drop) == 0 {
			return "", errors.New("the worktree of " + agent + " is in use, or gone")
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), gitPatience) // one that has begun is ended by itself
		defer cancel()
		return do(worktree.Takeover{Worktree: *a.Worktree, Into: s.TakesOver(a)}, ctx)
	})
}
