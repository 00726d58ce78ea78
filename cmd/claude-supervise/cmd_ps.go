package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/view"
)

func newPs() *cobra.Command {
	l := runs.Listing{Program: thisProgram}
	var watch bool
	cmd := &cobra.Command{
		Use:     "ps",
		Aliases: []string{"ls"},
		Short:   "list unfinished runs and what each waits for",
		Long: `List the runs that have not ended, and what each waits for.

NEXT says what you have to do. A run whose NEXT is answer continues by itself
once it is answered. A run whose NEXT has resume is unsupervised. The table fits
the width of the terminal; in a pipe nothing is cut.

With --watch, the list is updated whenever something changes. On a terminal it
is updated in place, and q quits. In a pipe each update is a new table or a new
line of JSON.

Inside an agent, only its own run is listed.`,
		Example: "  claude-supervise ps --tree --watch\n" +
			"  claude-supervise ps --cwd .\n" +
			"  claude-supervise ps -a --json | jq '.[] | {id, status, exit_code}'",
		Args: help.Exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if l.IDs && (l.Tree || l.AsJSON || watch) {
				return usage("-q prints ids alone: it does not go with --tree, --watch and --json")
			}
			if l.Cwd != "" {
				folder, err := filepath.Abs(l.Cwd)
				if err != nil {
					return err
				}
				l.Cwd = folder
			}
			l.Run, l.Inside = doctor.InsideRun(os.Environ())
			return runPs(cmd.Context(), l, watch)
		},
	}
	cmd.Flags().BoolVarP(&l.All, "all", "a", false, "also list runs that have ended")
	cmd.Flags().BoolVar(&l.Tree, "tree", false, "list the agents of each run below it")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "update the list when something changes")
	cmd.Flags().BoolVar(&l.AsJSON, "json", false, "print a JSON array")
	cmd.Flags().BoolVarP(&l.IDs, "ids", "q", false, "print only the ids, one per line")
	cmd.Flags().StringVar(&l.Cwd, "cwd", "", "list only runs in or below `DIR`")
	completesFolder(cmd, "cwd")
	return cmd
}

func runPs(ctx context.Context, l runs.Listing, watch bool) error {
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	return l.Show(ctx, r, watch)
}
