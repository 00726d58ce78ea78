package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise/internal/terminal"
	"claude-supervise/supervisor"
)

func newPs() *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "list the runs that go on, and what they wait for",
		Example: "  claude-supervise ps\n" +
			"  claude-supervise ps -a --json | jq '.[] | {id, status, exit_code}'",
		Args: exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return runPs(cmd.Context(), all, asJSON) },
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "the runs that have ended, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func runPs(ctx context.Context, all, asJSON bool) error {
	r, err := supervisor.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	runs, err := r.Runs(ctx, all)
	if err != nil {
		return err
	}
	return print(func(p *terminal.Printer) error {
		if asJSON {
			return p.JSON(nonNil(runs))
		}
		if len(runs) == 0 {
			return p.Result(nothingRuns(all))
		}
		return p.Result(runTable(p.Columns(), runs, time.Now()))
	})
}

func nothingRuns(all bool) string {
	if all {
		return "There are no runs yet. Start one with: claude-supervise run \"TASK\""
	}
	return "Nothing runs. Ended runs: claude-supervise ps -a"
}

func runTable(width int, runs []supervisor.RunView, now time.Time) string {
	rows := make([][]string, len(runs))
	for i, r := range runs {
		rows[i] = []string{
			r.ID, string(r.Status), terminal.Ago(r.Since, now), strconv.Itoa(len(r.OpenQuestions)), terminal.Money(r.CostUSD),
			title(r), r.Reason,
		}
	}
	return terminal.Table(width, []string{"RUN", "STATUS", "SINCE", "ASKS", "COST", "TASK", "WHY"}, rows)
}

// title names a run for people: its name, else the first line of its task.
func title(r supervisor.RunView) string {
	if r.Name != "" || len(r.Agents) == 0 {
		return r.Name
	}
	line, _, _ := strings.Cut(strings.TrimSpace(r.Agents[0].Task), "\n")
	return terminal.CleanLine(line, 30)
}

// print shows what a command has found.
func print(show func(*terminal.Printer) error) error {
	p := terminal.NewPrinter(os.Stdout, os.Stderr, terminal.Look{Getenv: os.Getenv})
	err := show(p)
	if closing := p.Close(context.Background()); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("cannot write the output: %w", err)
	}
	return nil
}

// nonNil makes an empty list print as [], never as null.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
