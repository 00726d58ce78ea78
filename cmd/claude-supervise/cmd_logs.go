package main

import (
	"context"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise/internal/terminal"
	"claude-supervise/supervisor"
)

func newLogs() *cobra.Command {
	return &cobra.Command{
		Use:     "logs ID",
		Short:   "print what an agent said and did",
		Example: "  claude-supervise logs r-3f9a2c1b",
		Args:    exactly(1, 1, "the id of a run or an agent"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runLogs(cmd.Context(), args[0]) },
	}
}

func runLogs(ctx context.Context, id string) error {
	r, err := supervisor.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	var unread error
	err = print(func(p *terminal.Printer) error {
		unread = r.Log(ctx, id, func(line string) error { return p.Result(line) })
		return nil // what cannot be written is told of when the printer closes
	})
	if err != nil {
		return err
	}
	return unread
}
