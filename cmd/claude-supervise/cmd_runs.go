package main

import (
	"context"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/supervisor/service"
)

// thisMachine is this program, whose runs are those of this user on this machine.
var thisMachine = commands.Program{Name: thisProgram, Can: here{}, NotInside: notInside,
	Open: func(context.Context) (service.Runs, func(), error) { return here{}, func() {}, nil }}

func newPs() *cobra.Command {
	return thisMachine.Ps(&cobra.Command{
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
	})
}

func newShow() *cobra.Command {
	return showsFindings(thisMachine.Show(&cobra.Command{
		Use:     "show [ID]",
		Aliases: []string{"inspect"},
		Short:   "show a run, an agent or a question",
		Long: `Show all details of a run, an agent or a question. A run with several agents is
shown as a tree, with the total spent. An agent is shown with its origin, what
it has done and left behind, and the resources its processes use now. Without
ID, show takes the one unfinished run; of several, you choose on a terminal.

With --findings, print what the agents of a run have shared so far, as JSON: who
found what, and when, by the names of their files.

--diff shows what was changed: of an agent with a worktree all that differs from
where it began, of others what their own edits have made. What a command of
theirs has written is not among those.`,
		Example: "  claude-supervise show r-3f9a2c1b\n" +
			"  claude-supervise show r-3f9a2c1b --diff\n" +
			"  claude-supervise show a-7Qm2xK9fWb4T\n" +
			"  claude-supervise show q-7kq2mx --json\n" +
			"  claude-supervise show r-3f9a2c1b --findings",
	}))
}

func newLogs() *cobra.Command {
	return thisMachine.Logs(&cobra.Command{
		Use:   "logs [ID]",
		Short: "print the log of a run or an agent",
		Long: `Print what an agent said and did, and the answers it got. For a run, print the
log of all its agents in order of time; each line names its agent. Without ID,
logs takes the one unfinished run; of several, you choose on a terminal, and
elsewhere it is the latest.

With --follow, logs continues until the run or agent has ended or is no longer
supervised, and then says what to type next. Ctrl-C quits; the run continues.

--since takes a duration (10m: the last ten minutes), a time of today (14:05), a
day (2026-11-21), or a date and time in RFC 3339.`,
		Example: "  claude-supervise logs r-3f9a2c1b\n" +
			"  claude-supervise logs -f --tail 20 a-7Qm2xK9fWb4T\n" +
			"  claude-supervise logs --since 1h --json r-3f9a2c1b | jq -r .text\n" +
			"  claude-supervise logs --raw r-3f9a2c1b | jq .line.type",
	})
}

func newWait() *cobra.Command {
	return thisMachine.Wait(&cobra.Command{
		Use:   "wait [ID...]",
		Short: "wait until runs or agents end or need a person",
		Long: `Wait until each run or agent has ended or is no longer supervised: it is parked,
was interrupted, or its supervisor died. One line is printed for each. The id of
a run's first agent stands for the run. Without ID, wait takes the one active
run.

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
	})
}

func newStop() *cobra.Command {
	return thisMachine.Stop(&cobra.Command{
		Use:   "stop [ID...] | --all",
		Short: "stop a run, or an agent and the agents it started",
		Long: `Stop a run, or an agent and the agents it started.
` + stopEnds + ` The other agents of the run
continue, and the agent that started it is told. If one of several cannot be
stopped, the others are stopped all the same. Without ID, stop on a terminal
asks whether the one unfinished run is meant, or which of several.`,
		Example: "  claude-supervise stop r-3f9a2c1b\n  claude-supervise stop a-7Qm2xK9fWb4T --only\n" +
			"  claude-supervise stop r-3f9a2c1b nightly\n  claude-supervise stop --all",
	})
}

// stopEnds is what a stop does, to the command and to the page.
const stopEnds = "Its process is ended; what it wrote stays."

func newQuestions() *cobra.Command {
	return thisMachine.Questions(&cobra.Command{
		Use:   "questions [RUN]",
		Short: "list open questions",
		Long: `List the open questions of all runs, and those of scripts in
~/.claude/questions/pending; or those of RUN, which may be an agent, too. Each
is shown with the command that answers it.
Inside an agent, only the questions of its own run are listed.`,
		Example: "  claude-supervise questions\n  claude-supervise questions r-3f9a2c1b\n" +
			"  claude-supervise questions --json",
	})
}
