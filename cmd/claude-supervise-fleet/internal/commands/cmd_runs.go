package commands

import (
	"context"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/desk"
	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/supervisor/service"
)

// fleetProgram is how a person calls this program.
const fleetProgram = runs.Program(desk.Program)

// theFleetOf is this program with one command, whose flags say which fleet is meant.
func theFleetOf() commands.Program { return new(connection).program() }

func (c *connection) program() commands.Program {
	return commands.Program{Name: fleetProgram, Of: " of the fleet", Can: (*desk.Commands)(nil), Flags: c.flags,
		NotInside: func(*cobra.Command) error { return notInside() },
		Open: func(ctx context.Context) (service.Runs, func(), error) {
			f, err := c.connect(ctx)
			if err != nil {
				return nil, nil, err
			}
			return f.commands(), f.close, nil
		}}
}

func newPs() *cobra.Command {
	return theFleetOf().Ps(&cobra.Command{
		Use:   "ps",
		Short: "list the runs of the fleet",
		Long: "List the runs of the fleet, oldest first, with the worker that has each.\n" +
			"Below a run: why it waits, and the last thing that befell it. That is the newest\n" +
			"200, and how many there are, which --json says on stderr; --limit 0 lists all,\n" +
			"and so does -q.",
		Example: "  claude-supervise fleet ps\n  claude-supervise fleet ps --status parked --label gpu --since 2d\n" +
			"  claude-supervise fleet ps -a --json",
	})
}

func newShow() *cobra.Command {
	return theFleetOf().Show(&cobra.Command{
		Use:   "show RUN",
		Short: "show a run of the fleet",
		Long: `Show a run of the fleet, with its agents, questions and reports, as it was when
a worker last parked it, ended it or handed it back. ps shows how it is now, and
fetch gets what it has written.`,
		Example: "  claude-supervise fleet show r-3f9a2c1b",
	})
}

func newLogs() *cobra.Command {
	return theFleetOf().Logs(&cobra.Command{
		Use:   "logs RUN",
		Short: "print what the agents of a run of the fleet said and did",
		Long: `Print what the agents of a run of the fleet said and did, and the answers they
got, in order of time. The worker that has the run is asked; while none has it,
it is what the last one has kept.

With --follow, logs continues until the run has ended, from worker to worker:
nothing is printed twice, but a turn that was lost with its worker stands there
beside the one that was done in its place. Ctrl-C quits; the run continues.`,
		Example: "  claude-supervise fleet logs r-3f9a2c1b\n" +
			"  claude-supervise fleet logs -f --tail 20 r-3f9a2c1b",
	})
}

func newWait() *cobra.Command {
	return theFleetOf().Wait(&cobra.Command{
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
	})
}

func newStop() *cobra.Command {
	return theFleetOf().Stop(&cobra.Command{
		Use:   "stop RUN... | --all",
		Short: "stop runs of the fleet",
		Long: `Stop runs of the fleet, wherever they are. Their processes are ended; what they
wrote is in their last snapshots. If one of several cannot be stopped, the
others are stopped all the same.`,
		Example: "  claude-supervise fleet stop r-3f9a2c1b\n  claude-supervise fleet stop --all",
	})
}

func newQuestions() *cobra.Command {
	return theFleetOf().Questions(&cobra.Command{
		Use:   "questions",
		Short: "list the open questions of all runs of the fleet",
		Long: "List the open questions of all runs of the fleet, oldest first. That is the\n" +
			"first 200; how many runs ask, --json says on stderr. --limit 0 lists all.",
		Example: "  claude-supervise fleet questions\n  claude-supervise fleet questions --json",
	})
}
