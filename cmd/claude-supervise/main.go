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

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/exit"
)

func main() { os.Exit(execute(os.Args[1:])) }

// execute runs the program and gives its exit code. Errors are told on stderr, once.
func execute(args []string) (code int) {
	defer func() {
		if bug := recover(); bug != nil {
			fmt.Fprintf(os.Stderr,
				"claude-supervise: internal error: %v\nWhat was saved is safe. `claude-supervise ps` shows it, and "+
					"`claude-supervise resume` continues it.\n\n%s", bug, debug.Stack())
			code = exit.Internal
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
	var silent exitcode.Error
	if err != nil && !errors.As(err, &silent) {
		// nowhere else to say it
		_ = terminal.Print(func(p *terminal.Printer) error { p.Notice("claude-supervise: " + err.Error()); return nil })
	}
	return exitcode.Of(err)
}

// usage is exitcode.Usage, which nearly each command needs.
func usage(format string, args ...any) error { return exitcode.Usage(format, args...) }
