package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/news"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/nested"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/view"
)

// This file is `run` inside an agent: started by its Bash tool, a script, CI. It supervises nothing. The supervisor of
// the agent's own run does the work, and this process waits for it, as long as whoever has started it waits.

// callMargin is how long before its caller's time is up a nested run goes: enough for a machine that is busy.
const callMargin = 10 * time.Second

// nestedPatience is how long a nested run that does not wait for its end waits until it is known whether it starts.
const nestedPatience = 5 * time.Second

// startNested does what run does inside an agent; false where this process belongs to none.
func startNested(cmd *cobra.Command, o request.Request, f request.Flags) (inside bool, err error) {
	if _, inside := doctor.InsideAgent(os.Environ()); !inside {
		return false, nil
	}
	client, err := client.OpenCallersClient(os.Environ())
	if err != nil {
		return true, err
	}
	defer func() { _ = client.Close() }() // what was left is on disk
	if client.At, err = points(); err != nil {
		return true, err
	}
	caller, err := nested.CallerOf(cmd.Context(), client, os.Environ())
	if caller == nil || err != nil {
		return err != nil, err
	}
	task, told, err := request.Nested(cmd, o, f, *caller)
	if err != nil {
		return true, err
	}
	n := &nestedRun{
		printer: terminal.NewPrinter(os.Stdout, os.Stderr, terminal.Look{Plain: f.Plain, Quiet: f.Quiet, Getenv: os.Getenv}),
		asJSON:  f.AsJSON,
	}
	for _, text := range told {
		n.printer.Progress(text)
	}
	err = n.do(cmd.Context(), client, *caller, task, f.Detach)
	return true, errors.Join(err, closed(n.printer))
}

// A nestedRun is what the client of a run inside an agent shows.
type nestedRun struct {
	printer *terminal.Printer
	asJSON  bool
}

// errCallOver ends the waiting of a client whose caller waits no longer.
var errCallOver = errors.New("the caller's time is over")

func (n *nestedRun) do(ctx context.Context, client client.Client, caller records.Caller, t nested.NestedTask,
	detached bool) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	run, err := nested.Start(ctx, client, caller, t, !detached)
	if err != nil {
		return err
	}
	if detached {
		return n.detached(ctx, run)
	}
	if run.Again {
		n.printer.Progress("agent " + run.Agent + " is at work on this already; waiting for it")
	}
	waiting := ctx
	if limit, limited := nested.CallLimit(os.Environ()); limited {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeoutCause(ctx, max(limit-callMargin, limit/2), errCallOver)
		defer cancel()
	}
	end, err := run.Watch(waiting, n.tell)
	leaving := context.WithoutCancel(ctx)
	switch {
	case err != nil && waiting.Err() == nil:
		return errors.Join(err, run.Leave(leaving))
	case err == nil && end.Refused != "":
		if err := closed(n.printer); err != nil {
			return errors.Join(err, run.Leave(leaving))
		}
		return errors.Join(&nested.NotNestedError{Why: end.Refused}, run.Seen(leaving, end.Refused))
	case err == nil && end.Left == nil:
		return n.ended(leaving, run, end)
	}
	if err := run.Leave(leaving); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		n.printer.Notice(fmt.Sprintf("Cut off; agent %s continues all the same, and you are told when it ends.", run.Agent))
		return exitcode.Error(exit.Interrupted)
	case end.Left != nil:
		n.printer.Notice(unsupervised(run, *end.Left))
	default:
		n.printer.Notice(goesOn(run, end))
	}
	return exitcode.Error(exit.Parked)
}

// ended tells how the agent has ended, and then that this was told.
func (n *nestedRun) ended(ctx context.Context, run *nested.NestedRun, end nested.NestedEnd) error {
	a := end.Agent
	if n.asJSON {
		_ = n.printer.JSON(news.Event(notice.Notification{Time: time.Now().UTC(), Run: run.Run, Agent: a.ID,
			Type: notice.RunDone, RunState: &supervisor.Run{Status: a.Status, Reason: a.Reason},
			Report: &supervisor.Report{Summary: summary(a)}, State: &supervisor.Agent{}, ExitCode: end.Code,
			CostUSD: a.CostUSD,
		})) // a failed write is told of by closed
	} else if text := summary(a); text != "" {
		_ = n.printer.Result(text)
	}
	n.printer.Notice(fmt.Sprintf("%s %s: %s", a.ID, a.Status, view.Because(a.Reason)))
	if err := closed(n.printer); err != nil {
		return errors.Join(fmt.Errorf("the result cannot be written: %w (claude-supervise show %s has it)", err, a.ID),
			run.Leave(ctx))
	}
	if err := run.Seen(ctx, ""); err != nil {
		return err
	}
	if end.Code != exit.Success {
		return exitcode.Error(end.Code)
	}
	return nil
}

func summary(a *supervisor.Agent) string {
	if a.Report == nil {
		return ""
	}
	return a.Report.Summary
}

// goesOn is the one line by which an agent knows what to do while the work that it has started goes on.
func goesOn(run *nested.NestedRun, end nested.NestedEnd) string {
	how := "has not begun yet"
	switch {
	case end.Question != nil:
		how = "waits until a person approves it, " + end.Question.ID
	case end.Agent != nil:
		how = fmt.Sprintf("continues (%s: %s)", end.Agent.Status, terminal.CleanLine(end.Agent.Reason, maxHow))
	}
	return fmt.Sprintf("agent %[1]s %[2]s; you are told when it ends: continue with other work or end your turn; "+
		"look with: claude-supervise wait %[1]s --timeout 0, or show %[1]s", run.Agent, how)
}

// maxHow bounds what an agent does in goesOn, in columns.
const maxHow = 200

// unsupervised says what becomes of a nested run whose supervisor is gone.
func unsupervised(run *nested.NestedRun, v view.RunView) string {
	return fmt.Sprintf(
		"nobody supervises run %s any more (%s); agent %s is kept, and continues once a person types: claude-supervise "+
			"resume %[1]s; "+
			"you are told when it ends", v.ID, v.Status, run.Agent)
}

// detached prints the id of the agent, as soon as it is known that it starts.
func (n *nestedRun) detached(ctx context.Context, run *nested.NestedRun) error {
	ctx, cancel := context.WithTimeoutCause(ctx, nestedPatience, errCallOver)
	defer cancel()
	end, err := run.Taken(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		return err
	case end.Refused != "":
		return &nested.NotNestedError{Why: end.Refused}
	case end.Left != nil:
		n.printer.Notice(unsupervised(run, *end.Left))
	default:
		n.printer.Progress(goesOn(run, end))
	}
	if n.asJSON {
		return n.printer.JSON(map[string]string{"id": run.Agent, "run": run.Run, "agent": run.Agent})
	}
	return n.printer.Result(run.Agent)
}

// tell shows what happens to the agent, and what it says.
func (n *nestedRun) tell(told notice.Notification) {
	if n.asJSON {
		_ = n.printer.JSON(news.Event(told)) // a failed write is told of by closed
		return
	}
	if q := told.Question; told.Type == notice.QuestionOpen {
		n.printer.Notice(fmt.Sprintf("[%s] a person is asked: %s", q.ID, q.Text))
		return
	}
	if text := news.Words(told); text != "" {
		n.printer.Progress(text)
	}
}

// closed writes what is still to be shown, if somebody takes it. It may be called again.
func closed(p *terminal.Printer) error {
	ctx, cancel := context.WithTimeout(context.Background(), terminal.LeavingPatience)
	defer cancel()
	return p.Close(ctx)
}
