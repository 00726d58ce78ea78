package client

import (
	"context"

	"claude-supervise/supervisor"
)

// FolderOf is where an agent of a run works, absolute. Paths in an answer to it begin there.
func (c Client) FolderOf(ctx context.Context, run, agent string) (string, error) {
	record, err := c.Store.Run(ctx, run)
	if err != nil {
		return "", err
	}
	agents, err := c.Store.Agents(ctx, run)
	return supervisor.FoldersIn(record, agents).Folder(agent), err
}
