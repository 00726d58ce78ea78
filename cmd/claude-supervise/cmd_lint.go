package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/text"
)

func newLint() *cobra.Command {
	var agent string
	var hook, asJSON bool
	cmd := &cobra.Command{
		Use:   "lint [FILE|-]",
		Short: "check a text for malformed signals",
		Long: `Check the form of the signals in a text, or in the JSON lines of a conversation:
claude's stream-json, its transcript, or the log of an agent. Without FILE, or
if FILE is -, lint reads stdin.

The exit code is 0 if there are no problems, 1 if there are problems, and 2 if
FILE cannot be read.

With --hook, lint acts as a Stop hook of Claude Code. It reads the JSON of the
hook on stdin. If a signal in the model's last message has a problem, lint exits
2 with the reason on stderr, so that the model prints a corrected signal. It
does so only once: a model that was already sent back may end, whatever it
prints. An error of the hook itself exits 1, which does not stop the model from
ending. For .claude/settings.json:

  {"hooks": {"Stop": [{"hooks": [
    {"type": "command", "command": "claude-supervise lint --hook"}]}]}}`,
		Example: "  claude-supervise lint answer.md\n" +
			"  claude -p \"...\" | claude-supervise lint --agent bg-task-abc123\n" +
			"  claude-supervise logs --raw r-3f9a2c1b | claude-supervise lint --json",
		RunE: func(_ *cobra.Command, args []string) error {
			if hook {
				return runLintHook(args, agent, asJSON)
			}
			if len(args) > 1 {
				return usage("lint takes one FILE, or - for stdin; `claude-supervise lint --help` has an example")
			}
			return runLint(strings.Join(args, ""), agent, asJSON)
		},
	}
	cmd.Flags().StringVar(&agent, "agent", "", "report signals that do not have this `ID`")
	cmd.Flags().BoolVar(&hook, "hook", false, "act as a Stop hook of Claude Code")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		err = flagError(cmd, err)
		if slices.ContainsFunc(os.Args, func(arg string) bool { return strings.HasPrefix(arg, "--hook") }) {
			return notBlocking(err)
		}
		return err
	})
	return cmd
}

func runLint(path, agent string, asJSON bool) error {
	in := os.Stdin
	switch {
	case path != "" && path != "-":
		f, err := os.Open(path)
		if err != nil {
			return usage("lint cannot read the file: %w", err)
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return usage("lint reads a file; %s is a folder", path)
		}
		in = f
	case terminal.IsTerminal(in):
		return usage("lint reads a file or a pipe; `claude-supervise lint --help` has an example")
	default:
		path = "stdin"
	}
	found, err := doctor.Lint(in, agent)
	if err != nil {
		return usage("lint cannot %w", err)
	}
	err = terminal.Print(func(p *terminal.Printer) error {
		if asJSON {
			return p.JSON(found)
		}
		type finding struct {
			line int
			text string
		}
		var all []finding
		for _, s := range found.Signals {
			all = append(all, finding{s.Line, shortly(s)})
		}
		for _, b := range found.Problems {
			all = append(all, finding{b.Line, b.Code + ": " + terminal.CleanLine(b.Message, 0)})
		}
		slices.SortStableFunc(all, func(a, b finding) int { return a.line - b.line })
		for _, f := range all {
			if err := p.Result(fmt.Sprintf("%s:%d: %s", path, f.line, f.text)); err != nil {
				return err
			}
		}
		return p.Result(text.Plural(len(found.Signals), "signal", "signals") + ", " +
			text.Plural(len(found.Problems), "problem", "problems"))
	})
	if err == nil && len(found.Problems) > 0 {
		return exitcode.Error(exit.Failed)
	}
	return err
}

// shortly says a signal in one line: what it is, whose, and what it says above all.
func shortly(s doctor.LintedSignal) string {
	what := string(s.Kind)
	if s.AgentID != "" {
		what += " of " + terminal.CleanLine(s.AgentID, 40)
	}
	what += fmt.Sprintf(" (%s)", s.Dialect)
	gist := ""
	switch {
	case len(s.Questions) == 1 && s.Questions[0].Assumption != "":
		what += ", does not block but under --exec"
		fallthrough
	case len(s.Questions) == 1:
		gist = s.Questions[0].Text
	case len(s.Questions) > 1:
		gist = fmt.Sprintf("%d questions, %s", len(s.Questions), s.Questions[0].Text)
	default:
		for _, name := range []string{"details", "new_task_description", "summary", "step", "text", "question_id"} {
			if gist = s.Fields[name]; gist != "" {
				break
			}
		}
	}
	if gist == "" {
		return what
	}
	return what + ": " + terminal.CleanLine(gist, 60)
}

// blocks is the exit code by which a Stop hook sends the model on, with what stands on stderr. Any other than it and 0
// is told to the person, and stops nothing.
const blocks exitcode.Error = 2

// notBlocking keeps a fault of the hook itself from being taken for one of the model's: usage errors exit 2, too.
func notBlocking(err error) error {
	return fmt.Errorf("the hook did nothing: %s", err) //nolint:errorlint // not its exit code
}

func runLintHook(args []string, agent string, asJSON bool) error {
	if len(args) > 0 || asJSON {
		return notBlocking(usage("lint --hook takes neither FILE nor --json: it reads what Claude Code gives it on stdin"))
	}
	if terminal.IsTerminal(os.Stdin) {
		return notBlocking(usage("Claude Code gives a hook its JSON on stdin; this is a terminal"))
	}
	reason, err := doctor.LintHook(os.Stdin, agent)
	if err != nil {
		return notBlocking(err)
	}
	if reason == "" {
		return nil
	}
	if _, err := io.WriteString(os.Stderr, terminal.Clean(reason)+"\n"); err != nil {
		return notBlocking(err)
	}
	return blocks
}
