package client

import (
	"context"

	"claude-supervise/supervisor"
)

// FolderOf is where the agent works that a question is of, absolute. Paths in an answer begin there.
func (c Client) FolderOf(ctx context.Context, q *supervisor.Question) (string, error) {
	run, err := c.Store.Run(ctx, q.Run)
	if err != nil {
		return "", err
	}
	agents, err := c.Store.Agents(ctx, q.Run)
	return supervisor.FoldersIn(run, agents).Folder(q.Agent), err
}
