package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/exit"
)

func newPrune() *cobra.Command {
	var olderThan string
	var dry, asJSON bool
	cmd := &cobra.Command{
		Use:     "prune [RUN...]",
		Aliases: []string{"rm"},
		Short:   "delete the records of ended runs",
		Long: `Delete the records of the named runs, or of all runs that ended long ago: their
state, their questions and answers, and the output of their agents. Files
written by the agents and claude's own transcripts are kept. A run that has not
ended is never deleted.`,
		Example: "  claude-supervise prune --dry-run\n  claude-supervise prune --older-than 7d\n  claude-supervise prune " +
			"r-3f9a2c1b",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			age, err := commands.Days(olderThan)
			if err != nil {
				return usage("--older-than takes a duration such as 12h or 7d, not %q", olderThan)
			}
			return runPrune(cmd.Context(), args, time.Now().Add(-age), dry, asJSON)
		},
	}
	cmd.Flags().StringVar(&olderThan, "older-than", "30d", "delete runs that ended at least `DURATION` ago")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list the runs that would be deleted")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return commands.Completes(cmd, commands.RunsOf(true, commands.HasEnded))
}

func runPrune(ctx context.Context, runs []string, before time.Time, dry, asJSON bool) error {
	c, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // what was written is on disk
	var pruned []client.Pruned
	err = terminal.WhileWorking("deleting records of runs", func(progress func(done, total int64)) (err error) {
		pruned, err = c.Prune(ctx, runs, before, dry, progress)
		return err
	})
	kept := 0
	told := terminal.Print(func(p *terminal.Printer) error {
		for _, r := range pruned {
			if r.Kept != "" {
				kept++
			}
			if !asJSON {
				if err := p.Result(prunedWords(r, dry)); err != nil {
					return err
				}
			}
		}
		switch {
		case asJSON:
			return p.JSON(append([]client.Pruned{}, pruned...))
		case len(pruned) == 0 && err == nil:
			return p.Result("There is nothing to delete. All runs: claude-supervise ps -a")
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case told == nil && kept > 0:
		return exitcode.Error(exit.Failed)
	}
	return told
}

func prunedWords(r client.Pruned, dry bool) string {
	done := "deleted"
	if dry {
		done = "would be deleted"
	}
	switch {
	case r.Kept != "":
		return fmt.Sprintf("%s kept: %s", r.Run, r.Kept)
	case r.EndedAt == nil:
		return fmt.Sprintf("%s %s: a folder without a run", r.Run, done)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s: %s %s %s", r.Run, done, r.Status, terminal.Ago(*r.EndedAt, time.Now()),
		r.Name))
}
