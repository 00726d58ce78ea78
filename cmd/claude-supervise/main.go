// Claude-supervise runs Claude Code headless, hears the moment an agent needs a person, and keeps the question until it
// is answered. `claude-supervise --help` and its topics are its manual.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/view"
)

func main() { os.Exit(execute(os.Args[1:])) }

// execute runs the program and gives its exit code. Errors are told on stderr, once.
func execute(args []string) (code int) {
	defer func() {
		if bug := recover(); bug != nil {
			fmt.Fprintf(os.Stderr,
				"claude-supervise: internal error: %v\nWhat was saved is safe; `claude-supervise ps` shows it, and resume goes "+
					"on.\n\n%s", bug, debug.Stack())
			code = supervisor.ExitInternal
		}
	}()
	var root *cobra.Command
	if calledAsAnswer(os.Args[0]) {
		root = newClaudeAnswer()
	} else {
		root = newRootFor(args)
	}
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	var silent exitError
	if err != nil && !errors.As(err, &silent) {
		// nowhere else to say it
		_ = print(func(p *terminal.Printer) error { p.Notice("claude-supervise: " + err.Error()); return nil })
	}
	return exitCode(err)
}

// An exitError ends the program with a code; all there is to say was said.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// A usageError is a command line that cannot be meant.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitCode is the one place where an error becomes an exit code (they are listed in --help).
func exitCode(err error) int {
	var exit exitError
	var misused usageError
	var refused *terminal.Refusal
	var other *backgroundError
	switch {
	case err == nil:
		return supervisor.ExitSuccess
	case errors.As(err, &exit):
		return int(exit)
	case errors.As(err, &other):
		return other.code
	case errors.As(err, &misused), errors.As(err, &refused), view.NoSuchID(err):
		return supervisor.ExitUsage
	case errors.Is(err, doctor.ErrNoAgent):
		return supervisor.ExitNoAgent
	case errors.Is(err, supervisor.ErrBug):
		return supervisor.ExitInternal
	}
	return supervisor.ExitFailed
}
