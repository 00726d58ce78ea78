package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise/internal/terminal"
	"claude-supervise/supervisor"
)

func newShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "tell all about a run, an agent or a question",
		Example: "  claude-supervise show r-3f9a2c1b\n  claude-supervise show q-7kq2mx --json",
		Args:    exactly(1, 1, "the id of a run, an agent or a question"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runShow(cmd.Context(), args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func runShow(ctx context.Context, id string, asJSON bool) error {
	r, err := supervisor.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	d, err := r.Show(ctx, id)
	if err != nil {
		return err
	}
	return print(func(p *terminal.Printer) error {
		switch {
		case asJSON && d.Question != nil:
			return p.JSON(d.Question)
		case asJSON:
			return p.JSON(d)
		case d.Question != nil:
			return p.Result(showQuestion(p.Columns(), *d.Question))
		}
		return p.Result(showRun(d))
	})
}

func showQuestion(width int, q supervisor.QuestionView) string {
	text := terminal.Render(shownView(q), width, time.Now())
	if q.Answer == nil {
		return text + "State: " + string(q.State)
	}
	return text + fmt.Sprintf("Answer: %s\nAnswered by %s at %s\nState: %s",
		terminal.CleanLine(*q.Answer, 0), q.AnsweredBy, q.AnsweredAt.Format(time.RFC3339), q.State)
}

func showRun(d supervisor.Details) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		if text := terminal.Clean(fmt.Sprintf(format, args...)); strings.TrimSpace(text) != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name, strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+strings.Repeat(" ", 13)))
		}
	}
	r := d.Run
	line("Run", "%s %s", r.ID, r.Name)
	line("Status", "%s, since %s", r.Status, r.Since.Format(time.RFC3339))
	line("Why", "%s", r.Reason)
	line("Folder", "%s", r.Cwd)
	line("Started", "%s", r.StartedAt.Format(time.RFC3339))
	if r.EndedAt != nil {
		line("Ended", "%s, exit code %d", r.EndedAt.Format(time.RFC3339), *r.ExitCode)
	}
	if r.SupervisorPID != 0 {
		line("Supervisor", "pid %d", r.SupervisorPID)
	}
	for _, a := range r.Agents {
		b.WriteString("\n")
		line("Agent", "%s", a.ID)
		line("Task", "%s", a.Task)
		line("Status", "%s, since %s", a.Status, a.Since.Format(time.RFC3339))
		line("Why", "%s", a.Reason)
		line("Session", "%s", a.SessionID)
		line("Launches", "%d", a.Launches)
		line("Spent", "%s, %s tokens in, %s out", terminal.Money(a.CostUSD), terminal.Tokens(a.InputTokens), terminal.Tokens(a.OutputTokens))
		line("Log", "%s", d.Logs[a.ID])
		if report := d.Reports[a.ID]; report != nil {
			line("Report", "%s: %s", report.Status, report.Summary)
			line("Files", "%s", report.Deliverables)
			line("Missing", "%s", strings.Join(report.Missing, "\n"))
			line("Metrics", "%s", report.Metrics)
			line("Issues", "%s", report.Issues)
			line("Advice", "%s", report.Recommendations)
		}
	}
	for _, q := range d.Questions {
		b.WriteString("\n")
		line("Question", "%s (%s)", q.ID, q.State)
		line("Text", "%s", q.Question)
		if q.Answer != nil {
			line("Answer", "%s, by %s", *q.Answer, q.AnsweredBy)
		} else if q.State == supervisor.Open {
			line("Answer it", "%s", q.AnswerCommand)
		}
	}
	return b.String()
}
