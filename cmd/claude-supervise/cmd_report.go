package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/report"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

func newReport() *cobra.Command {
	var f reportFlags
	var notify string
	cmd := &cobra.Command{
		Use:   "report [RUN]",
		Short: "write a report on a run, as HTML or Markdown",
		Long: `Write a report on a run: a timeline of its agents; every question with its
answer, who gave it and after how long; permissions and commands; cost and
tokens; deliverables; and worktrees. FILE.html is a self-contained page without
scripts. FILE.md and stdout are Markdown, for example for the summary of a CI
job. Text written by agents is shown as plain text.

With --since and no RUN, the report is of all runs that went on since then:
what waits for you and how many agents that holds back, what failed and why,
what was done and changed, what was refused and decided by whom, and what it
cost. --since last is since you were last told so; the first time, of a day.
--notify gives it to a command as Markdown.`,
		Example: "  claude-supervise report r-3f9a2c1b -o report.html\n" +
			"  claude-supervise report r-3f9a2c1b >> \"$GITHUB_STEP_SUMMARY\"\n" +
			"  claude-supervise report --since last\n" +
			"  claude-supervise report --since 7d --cwd . -o week.html",
		Args: help.Exactly(0, 1, "the id of a run, or --since without one"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && (f.since != "" || f.cwd != ""):
				return usage("--since and --cwd choose among all runs: leave out %s, or them", args[0])
			case notify != "" && (f.since == "" || f.output != ""):
				return usage("--notify goes with --since, and without -o")
			}
			if err := f.checkOutput(); err != nil {
				return err
			}
			if f.since != "" {
				return f.reportSince(cmd, notify)
			}
			run, err := thisMachine.Chosen(cmd, args, commands.Choice{Takes: "the id of a run, or --since",
				Fits: commands.AnyRun, None: "there is no run to report on", Reads: true})
			if err != nil {
				return err
			}
			return f.reportRun(cmd.Context(), run)
		},
	}
	f.add(cmd, "report on all runs since a `TIME`, within a duration, or since the last time: last",
		"with --since, only runs in or below `DIR`")
	cmd.Flags().StringVar(&notify, "notify", "", "with --since, run `COMMAND` with the report on stdin")
	return commands.Completes(cmd, commands.RunsOf(true, commands.AnyRun), commands.Nothing)
}

// reportFlags say of what is written, and where to.
type reportFlags struct{ output, since, cwd string }

func (f *reportFlags) add(cmd *cobra.Command, since, cwd string) {
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write to `FILE`, .html or .md (default: Markdown on stdout)")
	cmd.Flags().StringVar(&f.since, "since", "", since)
	cmd.Flags().StringVar(&f.cwd, "cwd", "", cwd)
	commands.CompletesFolder(cmd, "cwd")
}

func (f reportFlags) checkOutput() error {
	if ext := filepath.Ext(f.output); f.output != "" && ext != ".html" && ext != ".md" {
		return usage("-o takes a file that ends in .html or .md, not %s", f.output)
	}
	return nil
}

func (f reportFlags) reportRun(ctx context.Context, run string) error {
	what, err := acting.Report(ctx, run)
	if err != nil {
		return err
	}
	service.NameChanges(ctx, &what)
	form := report.Markdown
	if f.page() {
		form = report.HTML
	}
	var text bytes.Buffer
	if err := form(&text, what); err != nil {
		return err
	}
	return f.write(text.Bytes())
}

// write writes what was made where it is wanted.
func (f reportFlags) write(text []byte) error {
	if f.output == "" {
		return terminal.Print(func(p *terminal.Printer) error { return p.Result(string(text)) })
	}
	if err := client.ReplaceFile(f.output, text, 0o600); err != nil {
		return fmt.Errorf("the report cannot be written: %w", err)
	}
	return terminal.Print(func(p *terminal.Printer) error { p.Notice("Written: " + f.output); return nil })
}

// writeRecord writes what was decided in all runs, in a form.
func (f reportFlags) writeRecord(ctx context.Context, form func(io.Writer, view.Record) error) error {
	record, err := f.record(ctx)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := form(&text, record); err != nil {
		return err
	}
	return f.write(text.Bytes())
}

func (f reportFlags) recordForm() func(io.Writer, view.Record) error {
	if f.page() {
		return report.RecordHTML
	}
	return report.RecordMarkdown
}

// record reads what was decided in all runs since a time.
func (f reportFlags) record(ctx context.Context) (view.Record, error) {
	since, err := commands.SinceWhen(f.since, time.Now())
	if err != nil {
		return view.Record{}, err
	}
	l, err := runs.Listing{}.Below(f.cwd)
	if err != nil {
		return view.Record{}, err
	}
	return service.Read(acting, func(r view.Reader) (view.Record, error) {
		return r.RecordSince(ctx, since, l.Cwd, l.Has)
	})
}

// page reports whether a page is wanted, and not Markdown.
func (f reportFlags) page() bool { return filepath.Ext(f.output) == ".html" }
