// Package commands are the commands of claude-supervise-fleet: one file for each. The packages beside it do the work.
package commands

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/doctor"
)

const program = "claude-supervise-fleet"

// A StartServer starts a server for `fleet dev`: its state is in a file, and it listens on a port of loopback; 0 is a
// free one.
type StartServer func(ctx context.Context, file, namespace string, port int) (address string, stop func() error,
	err error)

// Main runs the program and gives its exit code. Errors are told on stderr, once. Where start is nil, `dev` is the
// program that has one.
func Main(args []string, start StartServer) int {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	root := newRoot(start)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var silent exitcode.Error
	if err != nil && !errors.As(err, &silent) {
		// nowhere else to say it
		_ = terminal.Print(func(p *terminal.Printer) error {
			p.Notice("claude-supervise fleet: " + err.Error())
			return nil
		})
	}
	if errors.Is(err, context.Canceled) {
		return supervisor.ExitInterrupted
	}
	return exitcode.Of(err)
}

func newRoot(start StartServer) *cobra.Command {
	root := &cobra.Command{
		Use:   "fleet",
		Short: "run agents on a fleet of machines",
		Long: `Run agents on a fleet of machines. A run that is handed in is taken by a worker
with room for it. Its questions are in one list, wherever it is. When its machine
is lost it continues elsewhere, from its last snapshot: at most one turn of an
agent is done again. What such a turn does outside of its folder is done twice.

A fleet is a Temporal server, a blob store for snapshots, and the fleet's key,
which encrypts what both of them keep. dev has all of it on this machine, to try
it out.`,
		Example: `  claude-supervise fleet dev
  claude-supervise fleet run "Write a CHANGELOG for the last release"
  claude-supervise fleet questions
  claude-supervise fleet answer q-7kq2mx 2`,
		SilenceErrors: true, SilenceUsage: true,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: string(fleetProgram)},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return exitcode.Usage("%w; %s --help lists the flags", err, cmd.CommandPath())
	})
	root.AddCommand(newDev(start), newWorker(), newRun(), newPs(), newQuestions(), newAnswer(), newStop(), newResume(),
		newWait(), newShow(), newLogs(), newServe(), newBoard())
	return root
}

// notInside refuses to be run by an agent of a run: it does not answer its own question, on no machine.
func notInside() error {
	if _, inside := doctor.InsideRun(os.Environ()); inside {
		return exitcode.Usage("agents of a run may not do this; nothing was changed: ask the person")
	}
	return nil
}

func oneLine(content []byte) string { return strings.TrimSpace(string(content)) }

// quiet is a logger that says nothing: what goes wrong is in the error of what was asked for.
type quiet struct{}

// Debug says nothing.
func (quiet) Debug(string, ...any) {}

// Info says nothing.
func (quiet) Info(string, ...any) {}

// Warn says nothing.
func (quiet) Warn(string, ...any) {}

// Error says nothing.
func (quiet) Error(string, ...any) {}
