package commands

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

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// errOne ends a wait for any of several once there is one.
var errOne = errors.New("one is enough")

// errTimedOut ends a wait that has taken as long as the person allowed.
var errTimedOut = errors.New("the time is up")

// A waiting is how runs and agents are waited for.
type waiting struct {
	program       runs.Program
	limit         time.Duration // 0: they are looked at once
	any, question bool          // until there is one of them; a question ends the wait for its run, too
	asJSON        bool
}

// Wait makes the command that waits for runs and agents.
func (p Program) Wait(cmd *cobra.Command) *cobra.Command {
	w := waiting{program: p.Name}
	which := Choice{Takes: p.takes("the ids of runs", " or agents"), Fits: IsLive, None: "no run is active", Waits: true}
	cmd.Args = help.Exactly(p.least(), math.MaxInt, which.Takes)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case !cmd.Flags().Changed("timeout"):
			w.limit = math.MaxInt64
		case w.limit < 0:
			return exitcode.Usage("--timeout takes a duration like 90s or 2h, or 0 to look once, not %s", w.limit)
		}
		if len(args) == 0 {
			id, err := p.Chosen(cmd, args, which)
			if err != nil {
				return err
			}
			args = []string{id}
		}
		return p.with(cmd.Context(), func(s service.Runs) error { return w.named(cmd.Context(), s, args) })
	}
	cmd.Flags().BoolVar(&w.any, "any", false, "wait only for the first of them")
	cmd.Flags().BoolVar(&w.question, "question", false, "also stop waiting when a question is open")
	cmd.Flags().DurationVar(&w.limit, "timeout", 0, "wait at most this `DURATION`; 0 checks once (default: no limit)")
	cmd.Flags().BoolVar(&w.asJSON, "json", false,
		"print each "+p.takes("run", " or agent")+" as in ps --json, one per line")
	return p.command(p.completes(cmd, EitherOf(RunsOf(false, AnyRun), AgentsOf)))
}

// named waits for what ids name.
func (w waiting) named(ctx context.Context, s service.Runs, ids []string) error {
	nodes, err := s.Awaitable(ctx, ids)
	if err != nil {
		return err
	}
	if w.limit > 0 {
		if err := notForItself(ctx, s, nodes); err != nil {
			return err
		}
	}
	return w.await(ctx, s, nodes)
}

// notForItself refuses that an agent waits for its own end, or for what has to wait for that: neither would ever end.
func notForItself(ctx context.Context, s service.Runs, nodes []view.Node) error {
	agent, inside := doctor.InsideAgent(os.Environ())
	if !inside {
		return nil
	}
	run, _ := doctor.InsideRun(os.Environ())
	above := []view.Node{{Run: run}}
	if here, is := s.(service.Local); is {
		var err error
		if above, err = here.Above(ctx, agent); err != nil {
			return nil // a run of another state folder is none of these
		}
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

// await waits for nodes, and says of each how it was left. Its error is the exit code, the worst of theirs, or that it
// could not be waited.
func (w waiting) await(ctx context.Context, s service.Runs, nodes []view.Node) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	limited, cancel := context.WithTimeoutCause(ctx, w.limit, errTimedOut)
	defer cancel()

	code, left := exit.Success, slices.Clone(nodes)
	var waited error
	written := terminal.Print(func(p *terminal.Printer) error {
		var wrote error
		waited = s.Await(limited, nodes, w.question, func(a service.Left) error {
			left = slices.DeleteFunc(left, func(n view.Node) bool { return n == a.Node })
			if !w.question || len(a.Open()) == 0 {
				code = view.WorseCode(code, a.Code)
			}
			if wrote = w.tell(p, a); wrote != nil || !w.any {
				return wrote
			}
			return errOne
		}, w.asks(p))
		switch {
		case wrote != nil:
			waited = nil
			return wrote
		case errors.Is(waited, errOne):
			waited = nil
		case ctx.Err() != nil:
			waited, code = nil, exit.Interrupted
		case errors.Is(waited, errTimedOut):
			waited, code = nil, exit.TimedOut
			p.Notice(fmt.Sprintf("Still active: %s. See: %s ps", strings.Join(names(left), ", "), w.program))
		}
		return nil
	})
	switch {
	case waited != nil || written != nil:
		return errors.Join(waited, written)
	case code != exit.Success:
		return exitcode.Error(code)
	}
	return nil
}

// asks returns what tells a person at a terminal, once of each question, that somebody waits for an answer: the wait
// goes on for as long as nobody gives one.
func (w waiting) asks(p *terminal.Printer) func(view.Awaited) {
	told := map[string]bool{}
	return func(a view.Awaited) {
		if w.asJSON || !terminal.IsTerminal(os.Stderr) {
			return
		}
		for _, q := range a.Open() {
			if !told[q] {
				told[q] = true
				p.Notice(fmt.Sprintf("%s waits for an answer: %s answer %s", cmp.Or(a.Agent, a.Run), w.program, q))
			}
		}
	}
}

// tell says how one was left.
func (w waiting) tell(p *terminal.Printer, a service.Left) error {
	if w.asJSON {
		return p.JSON(a.JSON)
	}
	if open := a.Open(); w.question && len(open) > 0 {
		p.Notice(fmt.Sprintf("Answer with:\n  %s answer %s VALUE", w.program, open[0]))
		return p.Result(fmt.Sprintf("%s asks %s", cmp.Or(a.Agent, a.Run), strings.Join(open, ", ")))
	}
	if next := w.program.NextOf(a); next != "" {
		defer p.Notice(next)
	}
	return p.Result(runs.StateOf(a.Awaited))
}

func names(nodes []view.Node) []string {
	var ids []string
	for _, n := range nodes {
		ids = append(ids, cmp.Or(n.Agent, n.Run))
	}
	return ids
}
