package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/view"
)

func newWait() *cobra.Command {
	var f waitFlags
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
		Args: exactly(1, math.MaxInt, "the ids of runs or agents"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !cmd.Flags().Changed("timeout"):
				f.limit = math.MaxInt64
			case f.limit < 0:
				return usage("--timeout takes a duration like 90s or 2h, or 0 to look once, not %s", f.limit)
			}
			return runWait(cmd.Context(), args, f)
		},
	}
	cmd.Flags().BoolVar(&f.any, "any", false, "wait only for the first of them")
	cmd.Flags().BoolVar(&f.question, "question", false, "also stop waiting when a question is open")
	cmd.Flags().DurationVar(&f.limit, "timeout", 0, "wait at most this `DURATION`; 0 checks once (default: no limit)")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print each run or agent as in ps --json, one per line")
	return completes(cmd, completeEither(completeRuns(false, anyRun), completeAgents))
}

type waitFlags struct {
	limit                 time.Duration
	any, question, asJSON bool
}

// errOne ends a wait for any of several once there is one.
var errOne = errors.New("one is enough")

// errTimedOut ends a wait that has taken as long as the person allowed.
var errTimedOut = errors.New("the time is up")

func runWait(ctx context.Context, ids []string, f waitFlags) error {
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	nodes, err := r.Awaitable(ctx, ids)
	if err != nil {
		return err
	}
	if f.limit > 0 {
		if err := notForItself(ctx, r, nodes); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	limited, cancel := context.WithTimeoutCause(ctx, f.limit, errTimedOut)
	defer cancel()

	code := supervisor.ExitSuccess
	var waited error
	err = print(func(p *terminal.Printer) error {
		asks := f.asks(p)
		await := func(ctx context.Context, nodes []view.Node, each func(view.Awaited) error) error {
			return r.AwaitEach(ctx, nodes, each, asks)
		}
		if f.question {
			await = r.AwaitQuestion
		}
		waited = await(limited, nodes, func(a view.Awaited) error {
			nodes = slices.DeleteFunc(nodes, func(n view.Node) bool { return n == a.Node })
			if !f.question || len(a.Open()) == 0 {
				code = view.WorseCode(code, a.Code())
			}
			if err := f.tell(p, a); err != nil || !f.any {
				return err
			}
			return errOne
		})
		switch {
		case errors.Is(waited, errOne):
		case ctx.Err() != nil:
			code = supervisor.ExitInterrupted
		case errors.Is(waited, errTimedOut):
			code = supervisor.ExitTimedOut
			p.Notice(fmt.Sprintf("Still going on: %s. Look with: claude-supervise ps", strings.Join(names(nodes), ", ")))
		default:
			return waited
		}
		return nil
	})
	if err == nil && code != supervisor.ExitSuccess {
		return exitError(code)
	}
	return err
}

// asks gives what tells a person at a terminal, once of each question, that somebody waits for an answer: the wait goes
// on for as long as nobody gives one.
func (f waitFlags) asks(p *terminal.Printer) func(view.Awaited) {
	told := map[string]bool{}
	return func(a view.Awaited) {
		if f.asJSON || !terminal.IsTerminal(os.Stderr) {
			return
		}
		for _, q := range a.Open() {
			if !told[q] {
				told[q] = true
				p.Notice(fmt.Sprintf("%s waits for an answer: claude-supervise answer %s", cmp.Or(a.Agent, a.Run), q))
			}
		}
	}
}

// tell says how one was left.
func (f waitFlags) tell(p *terminal.Printer, a view.Awaited) error {
	if f.asJSON {
		return p.JSON(inJSON(a))
	}
	if open := a.Open(); f.question && len(open) > 0 {
		p.Notice("Answer with:\n  claude-supervise answer " + open[0] + " VALUE")
		return p.Result(fmt.Sprintf("%s asks %s", cmp.Or(a.Agent, a.Run), strings.Join(open, ", ")))
	}
	if next := whatNextFor(a); next != "" {
		defer p.Notice(next)
	}
	return p.Result(stateOf(a))
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

func names(nodes []view.Node) []string {
	var ids []string
	for _, n := range nodes {
		ids = append(ids, cmp.Or(n.Agent, n.Run))
	}
	return ids
}

// inJSON is what is printed of a node for programs.
func inJSON(a view.Awaited) any {
	if agent, is := a.View.Agent(a.Agent); is {
		return agent
	}
	return a.View
}

// stateOf says in one line how a node was left.
func stateOf(a view.Awaited) string {
	agent, is := a.View.Agent(a.Agent)
	if !is {
		return state(a.View)
	}
	return terminal.CleanLine(fmt.Sprintf("%s %s: %s (%s)", agent.ID, agent.Status, view.Because(agent.Reason),
		terminal.Money(agent.CostUSD)), 0)
}

// whatNextFor says what to type for a node that has not ended and does not go on by itself; "" if there is nothing.
func whatNextFor(a view.Awaited) string {
	if agent, is := a.View.Agent(a.Agent); is && agent.ExitCode != nil {
		return ""
	}
	return whatNext(a.View)
}

// state says in one line how a run was left.
func state(v view.RunView) string {
	text := fmt.Sprintf("%s %s: %s", v.ID, status(v), stands(v))
	if !v.GoesOn() {
		text += spent(v.StartedAt, v.EndedAt, v.Since, v.CostUSD)
	}
	return terminal.CleanLine(text, 0)
}

// whatNext says what to type for a run that does not go on by itself; "" if it has ended, or its reason says so
// already.
func whatNext(v view.RunView) string {
	resume := "claude-supervise resume " + v.ID
	if v.EndedAt != nil || strings.Contains(v.Reason, resume) {
		return ""
	}
	if len(v.OpenQuestions) == 0 {
		return "Everything is saved. To go on, run:\n  " + resume
	}
	var b strings.Builder
	b.WriteString("Answer with:\n")
	for _, q := range v.OpenQuestions {
		b.WriteString("  claude-supervise answer " + q + " VALUE\n")
	}
	return b.String() + "Then run:\n  " + resume
}
