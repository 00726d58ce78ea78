package client

import (
	"context"
	"fmt"
	"os"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
)

// checkDecision refuses what is no decision on what is asked for.
func (c Client) checkDecision(ctx context.Context, q *supervisor.Question, a Answer) error {
	if a.Decline || a.Skip {
		return nil
	}
	if a.AllLike && !records.Sharable(q.Kind) {
		return fmt.Errorf("the answer to a question of this kind (%s) is for it alone", q.Kind)
	}
	at, err := c.PlaceOf(ctx, q)
	if err != nil {
		return err
	}
	return questions.Check(q, a.Text, at.Dir)
}

// PlaceOf is where an answer to a question begins: paths in it are those of the agent that asks, and of a question that
// belongs to no run those of this process.
func (c Client) PlaceOf(ctx context.Context, q *supervisor.Question) (at questions.Place, err error) {
	at.Stat = func(path string) error { _, err := os.Stat(path); return err }
	if q.Run != "" && questions.Of(q, "").NeedsFolder() { // most do not: nothing is read for them
		at.Dir, err = c.FolderOf(ctx, q.Run, q.Agent)
	}
	return at, err
}

// FolderOf is where an agent of a run works, absolute. Paths in an answer to it begin there.
func (c Client) FolderOf(ctx context.Context, run, agent string) (string, error) {
	record, err := c.Store.Run(ctx, run)
	if err != nil {
		return "", err
	}
	agents, err := c.Store.Agents(ctx, run)
	return records.FoldersIn(record, agents).Folder(agent), err
}
