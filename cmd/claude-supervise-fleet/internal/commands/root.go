// Package commands are the commands of claude-supervise-fleet: one file for each. The packages beside it do the work.
package commands

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/completion"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/release"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/exit"
)

const program = "claude-supervise-fleet"

// A StartServer starts a server for `fleet dev`: its state is in a file, and it listens on a port of loopback; 0 is a
// free one. Whoever has the key is let in.
type StartServer func(ctx context.Context, file, namespace string, port int, key *tls.Config) (address string,
	stop func() error, err error)

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
		return exit.Interrupted
	}
	return exitcode.Of(err)
}

// Fatal ends the program with what has befallen its server.
func Fatal(words string) {
	// nowhere else to say it
	_ = terminal.Print(func(p *terminal.Printer) error {
		p.Notice("claude-supervise fleet: the server cannot go on: " + words + ". Its state is kept: start it again")
		return nil
	})
	os.Exit(exit.Failed)
}

func newRoot(start StartServer) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "fleet",
		Short: "run agents on a fleet of machines",
		Long: `Run agents on a fleet of machines. A submitted run is taken by a worker with
room for it. The questions of all runs are in one list. When a machine is lost,
its runs continue elsewhere from their last snapshots: at most one turn of an
agent is done again. What such a turn does outside of its folder is done twice.

A fleet is a Temporal server, a blob store for snapshots, and the fleet's key,
which encrypts what both of them keep. dev has all of it on this machine, to try
it out.`,
		Example: `  claude-supervise fleet dev
  claude-supervise fleet run "Write a CHANGELOG for the last release"
  claude-supervise fleet questions
  claude-supervise fleet answer q-7kq2mx 2`,
		SilenceErrors: true, SilenceUsage: true, SuggestionsMinimumDistance: 2,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: string(fleetProgram)},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noSuchCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !version {
				return cmd.Help()
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), release.Line(program))
			return err
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version")
	root.CompletionOptions.HiddenDefaultCmd = true
	flagGroups.SetUsage(root, nil)
	root.SetHelpCommand(newHelp())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return exitcode.Usage("%w; `%s --help` shows what it takes", err, cmd.CommandPath())
	})
	root.AddCommand(newDev(start), newWorker(), newRun(), newPs(), newQuestions(), newAnswer(), newStop(), newResume(),
		newWait(), newShow(), newFetch(), newPrune(), newLogs(), newServe(), newBoard())
	completion.SafeInFish(root)
	return root
}

// newHelp is cobra's, with an example, and words for a command that is not there.
func newHelp() *cobra.Command {
	help := &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "show help for a command",
		Example: "  claude-supervise fleet help run\n  claude-supervise help fleet   # the whole topic",
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noSuchCommand(cmd.Root(), strings.Join(args, " "))
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
	completion.Arguments(help, func(_ context.Context, args []string) (found completion.Words) {
		for _, c := range help.Root().Commands() {
			if len(args) == 0 && c.IsAvailableCommand() {
				found.Add(c.Name(), c.Short)
			}
		}
		return found
	})
	return help
}

func noSuchCommand(root *cobra.Command, typed string) error {
	meant := ""
	if near := root.SuggestionsFor(typed); len(near) > 0 {
		meant = fmt.Sprintf(" (did you mean %s?)", near[0])
	}
	return exitcode.Usage("there is no command %q; `%s --help` lists them%s", typed, fleetProgram, meant)
}

// notInside refuses to be run by an agent of a run: it does not answer its own question, on no machine.
func notInside() error {
	if _, inside := doctor.InsideRun(os.Environ()); inside {
		return exitcode.Usage("agents of a run may not do this; nothing was changed: ask the person")
	}
	return nil
}

func oneLine(content []byte) string { return strings.TrimSpace(string(content)) }
