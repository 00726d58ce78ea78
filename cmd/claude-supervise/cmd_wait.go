package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/view"
)

func newWait() *cobra.Command {
	w := runs.Waiting{Program: thisProgram}
	cmd := &cobra.Command{
		Use:   "wait ID...",
		Short: "wait until runs or agents end or need a person",
		Long: `Wait until each run or agent has ended or is no longer supervised: it is parked,
was interrupted, or its supervisor died. One line is printed for each. The id of
a run's first agent stands for the run.

On a terminal, an open question is printed once, with the command that answers
it.

With --any, wait only for the first of them. With --question, an open question
also ends the wait for its run or agent, which then counts as 0.

The exit code is that of the run or agent: 75 if it is parked, 130 if it is
unsupervised for another reason. For several it is the worst, in the order 70,
69, 1, 6, 5, 4, 130, 75, 3, 0. It is 124 after the timeout, if something is
still running, and 130 after Ctrl-C.`,
		Example: "  claude-supervise wait r-3f9a2c1b\n" +
			"  claude-supervise wait a-7Qm2xK9fWb4T a-Zp3r\n" +
			"  claude-supervise wait r-3f9a2c1b r-7uz22pon --timeout 30m\n" +
			"  claude-supervise wait r-3f9a2c1b --timeout 0   # only look\n" +
			"  claude-supervise wait --any --question r-3f9a2c1b r-7uz22pon",
		Args: help.Exactly(1, math.MaxInt, "the ids of runs or agents"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := w.Limited(cmd.Flags()); err != nil {
				return err
			}
			return runWait(cmd.Context(), args, w)
		},
	}
	w.Flags(cmd.Flags())
	cmd.Flags().BoolVar(&w.AsJSON, "json", false, "print each run or agent as in ps --json, one per line")
	return completes(cmd, completeEither(completeRuns(false, anyRun), completeAgents))
}

func runWait(ctx context.Context, ids []string, w runs.Waiting) error {
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	nodes, err := r.Awaitable(ctx, ids)
	if err != nil {
		return err
	}
	if w.Limit > 0 {
		if err := notForItself(ctx, r, nodes); err != nil {
			return err
		}
	}
	return w.For(ctx, r, nodes)
}

// notForItself refuses that an agent waits for its own end, or for what has to wait for that: neither would ever end.
func notForItself(ctx context.Context, r view.Reader, nodes []view.Node) error {
	agent, inside := doctor.InsideAgent(os.Environ())
	if !inside {
		return nil
	}
	above, err := r.Above(ctx, agent)
	if err != nil {
		return nil // a run of another state folder is none of these
	}
	for _, n := range nodes {
		if slices.Contains(above, n) {
			return fmt.Errorf(
				"wait is refused inside agent %s for %s: neither would end; wait for others only, or look with --timeout 0",
				agent, cmp.Or(n.Agent, "its own run "+n.Run))
		}
	}
	return nil
}
