package commands

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/view"
)

func newWait() *cobra.Command {
	var c connection
	w := runs.Waiting{Program: fleetProgram}
	cmd := &cobra.Command{
		Use:   "wait RUN...",
		Short: "wait until runs of the fleet end or are parked",
		Long: `Wait until each run has ended, or is parked and waits for a person. One line is
printed for each.

On a terminal, an open question is printed once, with the command that answers
it.

With --any, wait only for the first of them. With --question, an open question
also ends the wait for its run, which then counts as 0.

The exit code is that of the run: 75 if it is parked, 4 if it is parked for its
budget is used up. For several it is the worst, in the order 70, 69, 1, 6, 5, 4,
130, 75, 3, 0. It is 124 after the timeout, if something is still running, and
130 after Ctrl-C.`,
		Example: "  claude-supervise fleet wait r-3f9a2c1b\n" +
			"  claude-supervise fleet wait r-3f9a2c1b r-7uz22pon --timeout 30m\n" +
			"  claude-supervise fleet wait --any --question r-3f9a2c1b r-7uz22pon",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return help.Takes(cmd, "the ids of runs")
			}
			if err := w.Limited(cmd.Flags()); err != nil {
				return err
			}
			return c.with(cmd.Context(), func(f connected) error { return waitFor(cmd.Context(), f, args, w) })
		},
	}
	c.flags(cmd.Flags())
	w.Flags(cmd.Flags())
	cmd.Flags().BoolVar(&w.AsJSON, "json", false, "print each run as in ps --json, one per line")
	return cmd
}

func waitFor(ctx context.Context, f connected, ids []string, w runs.Waiting) error {
	a := awaiter{f, map[string]flow.Listed{}}
	var nodes []view.Node
	for _, id := range ids {
		l, err := f.Run(ctx, id)
		if err != nil {
			return err
		}
		if _, twice := a.now[l.ID]; !twice {
			nodes = append(nodes, view.Node{Run: l.ID})
		}
		a.now[l.ID] = l
	}
	if w.Limit > 0 {
		if err := notForItself(nodes); err != nil {
			return err
		}
	}
	w.Code = func(n view.Awaited) int { return a.now[n.Run].Code() }
	w.JSON = func(n view.Awaited) any { return a.now[n.Run] }
	w.Next = func(n view.Awaited) string {
		if len(n.View.OpenQuestions) == 0 {
			return ""
		}
		return answersOf(a.now[n.Run])
	}
	return w.For(ctx, a, nodes)
}

// notForItself refuses that an agent waits for the run that it belongs to: neither would ever end.
func notForItself(nodes []view.Node) error {
	run, inside := doctor.InsideRun(os.Environ())
	if !inside || !slices.Contains(nodes, view.Node{Run: run}) {
		return nil
	}
	agent, _ := doctor.InsideAgent(os.Environ())
	return fmt.Errorf("wait is refused inside agent %s for its own run %s: neither would end; wait for others only, or "+
		"look with --timeout 0", agent, run)
}

// An awaiter waits for runs of a fleet.
type awaiter struct {
	connected
	now map[string]flow.Listed // by their ids, as they were seen last
}

// AwaitEach gives each run once it has ended or is parked.
func (a awaiter) AwaitEach(ctx context.Context, nodes []view.Node, each func(view.Awaited) error,
	asks func(view.Awaited)) error {
	return a.await(ctx, nodes, func(n view.Awaited) bool {
		goesOn := a.goesOn(n)
		if goesOn && len(n.Open()) > 0 {
			asks(n)
		}
		return goesOn
	}, each)
}

// AwaitQuestion gives a run as soon as a question of it is open, too.
func (a awaiter) AwaitQuestion(ctx context.Context, nodes []view.Node, each func(view.Awaited) error) error {
	return a.await(ctx, nodes, func(n view.Awaited) bool { return a.goesOn(n) && len(n.Open()) == 0 }, each)
}

func (a awaiter) goesOn(n view.Awaited) bool {
	l := a.now[n.Run]
	return l.ExitCode == nil && !l.Parked()
}

func (a awaiter) await(ctx context.Context, nodes []view.Node, goesOn func(view.Awaited) bool,
	each func(view.Awaited) error) error {
	var named []flow.Listed
	for _, n := range nodes {
		named = append(named, a.now[n.Run])
	}
	return a.Wait(ctx, named, func(l flow.Listed) (bool, error) {
		a.now[l.ID] = l
		n := view.Awaited{Node: view.Node{Run: l.ID}, View: l.RunView}
		if goesOn(n) {
			return true, nil
		}
		return false, each(n)
	})
}
