package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"claude-supervise/cmd/internal/questions"
	"claude-supervise/cmd/internal/serving"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/worktree"
)

// boardActions is what the board does for a person: what the commands do, by the same functions as the page.
type boardActions struct{ pageActions }

// Answer leaves an answer in the inbox. Whether a command runs is answered here, too: this is a terminal.
func (boardActions) Answer(ctx context.Context, id string, r terminal.Reply) (string, error) {
	c, err := clientBy(client.OpenExistingClient)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }() // what was left is on disk
	run, also, err := reply(ctx, c, id, r, questions.Flags{}, terminal.Who("board"))
	if err != nil {
		return "", err
	}
	if also == "" {
		also = id + " is answered."
	}
	if run != "" && !c.Supervised(ctx, run) {
		also += " Nobody supervises " + run + ": r resumes it."
	}
	return also, nil
}

// Say leaves a message for an agent.
func (a boardActions) Say(ctx context.Context, id, text string) (string, error) {
	return a.pageActions.Say(ctx, id, text, terminal.Who("board"))
}

// Retry tries again what has failed in a run.
func (boardActions) Retry(ctx context.Context, run string) (string, error) {
	c, err := clientBy(client.OpenExistingClient)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }() // nothing was written
	if _, err := c.Retryable(ctx, run); err != nil {
		return "", err
	}
	if _, err := inTheBackground(c, run, nil, nil, "resume", "--failed", run); err != nil {
		return "", err
	}
	return "The failed agents of " + run + " are retried in the background.", nil
}

// Prune forgets a run that has ended.
func (boardActions) Prune(ctx context.Context, run string) (string, error) {
	c, err := clientBy(client.OpenExistingClient)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }() // what was written is on disk
	pruned, err := c.Prune(ctx, []string{run}, time.Now(), false, nil)
	if err != nil {
		return "", err
	}
	if len(pruned) == 0 {
		return "There is nothing to delete.", nil
	}
	return prunedWords(pruned[0], false), nil
}

// Open shows a folder on the desktop.
func (boardActions) Open(ctx context.Context, folder string) error {
	if !filepath.IsAbs(folder) {
		return errors.New("its folder is not known")
	}
	if err := serving.OpenOnDesktop(ctx, folder); err != nil {
		return fmt.Errorf("%s cannot be shown here: %w", folder, err)
	}
	return nil
}

// gitPatience bounds what a merge or the removal of a worktree may take.
const gitPatience = 5 * time.Minute

// Merge takes over what an agent has left in its worktree.
func (boardActions) Merge(ctx context.Context, run, agent string) (string, error) {
	return takenOver(ctx, run, agent, worktree.Takeover.Merge)
}

// Drop removes the worktree of an agent.
func (boardActions) Drop(ctx context.Context, run, agent string) (string, error) {
	return takenOver(ctx, run, agent, worktree.Takeover.Drop)
}

// takenOver does something with what an agent has left in its worktree, as the records have it now.
func takenOver(ctx context.Context, run, agent string,
	do func(worktree.Takeover, context.Context) (string, error)) (string, error) {
	c, err := clientBy(client.OpenExistingClient)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }() // only read
	s, err := c.State(ctx, run)
	if err != nil {
		return "", err
	}
	a := s.Agents[agent]
	if a == nil || a.Worktree == nil {
		return "", errors.New(agent + " has no worktree")
	}
	if _, drop := a.Worktree.Commands(""); len(drop) == 0 {
		return "", errors.New("the worktree of " + agent + " is in use, or gone")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), gitPatience) // one that has begun is ended by itself
	defer cancel()
	return do(worktree.Takeover{Worktree: *a.Worktree, Into: s.TakesOver(a)}, ctx)
}
