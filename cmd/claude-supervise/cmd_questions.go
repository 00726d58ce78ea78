package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

func newQuestions() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "questions",
		Short: "list open questions",
		Long: `List the open questions of all runs, and those of scripts in
~/.claude/questions/pending. Each is shown with the command that answers it.
Inside an agent, only the questions of its own run are listed.`,
		Example: "  claude-supervise questions\n  claude-supervise questions --json",
		Args:    exactly(0, 0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runQuestions(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func runQuestions(ctx context.Context, asJSON bool) error {
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	open, err := r.Questions(ctx)
	if err != nil {
		return err
	}
	byFile, problems, err := r.FileQuestions(ctx)
	for _, q := range byFile {
		open = append(open, view.View(q))
	}
	if run, inside := doctor.InsideRun(os.Environ()); inside {
		open = slices.DeleteFunc(open, func(q view.QuestionView) bool { return q.Run != run })
	}
	return print(func(p *terminal.Printer) error {
		tellFileProblems(p, problems, err)
		if asJSON {
			return p.JSON(open)
		}
		if len(open) == 0 {
			return p.Result("No question is open.")
		}
		for i, q := range open {
			text := terminal.Render(placedView(q), p.Columns(), time.Now())
			if i > 0 {
				text = "\n" + text
			}
			if err := p.Result(text); err != nil {
				return err
			}
		}
		return nil
	})
}

// placedView is shownView where questions of several runs stand below one another: it says of which one each is.
func placedView(q view.QuestionView) terminal.Question {
	t := shownView(q)
	if q.Cwd != "" {
		t.Place = strings.TrimPrefix(q.RunName+" · "+fromHome(q.Cwd), " · ")
	}
	return t
}

// tellFileProblems says which question files cannot be read, and that none can. It keeps no question of a run from
// being seen.
func tellFileProblems(p *terminal.Printer, problems []string, err error) {
	if err != nil {
		p.Notice("! questions by file cannot be looked at: " + err.Error())
	}
	for _, problem := range problems {
		p.Notice("! " + problem)
	}
}

// shownView is a question as the terminal shows it.
func shownView(q view.QuestionView) terminal.Question {
	t := terminal.Question{
		ID: q.ID, Kind: string(q.Kind), Header: q.Header, Text: q.Question, Context: q.Context, Agent: agentOf(q), Run: q.Run,
		Asker: shownAsker(q.Asker), MultiSelect: q.MultiSelect, Validate: q.Validate, Urgent: q.Urgent,
		Declinable: view.Declinable(q), AskedAt: q.AskedAt, Command: q.AnswerCommand,
		Task: q.Task, Group: q.Group, Index: q.Index, Of: 1, Optional: q.Optional && q.Run != "",
	}
	switch q.Kind {
	case supervisor.AskCommand: // what runs is kept as it is
		t.Context = text.Visible(q.Context)
		if n := text.HiddenIn(q.Context); n > 0 {
			t.Context += fmt.Sprintf("\n(%d characters cannot be seen; here as \\x1b, \\u202e and so on.)", n)
		}
	case supervisor.AskDelegation:
		t.Instead = supervisor.Instead
	case client.AskPermission:
		t.Advance = inAdvance(q.AllowRule)
	}
	blank := true
	for _, o := range q.Options {
		t.Options = append(t.Options, terminal.Option(o))
		blank = blank && terminal.CleanLine(o.Label, 0) == ""
	}
	if blank { // what nobody can choose keeps nobody from answering in own words
		t.Options = nil
	}
	if a, b, alike := indistinguishable(t.Options); alike {
		t.Context = strings.TrimSpace(fmt.Sprintf("%s\nOptions %d and %d look the same, and are not: choose by number.",
			t.Context, a+1, b+1))
	}
	return t
}

// agentOf names the agent that asks: where a run has several, by more than an id.
func agentOf(q view.QuestionView) string {
	if start, _, _ := strings.Cut(q.Who, " "); q.Who == "" || strings.HasPrefix(q.Agent, start) {
		return cmp.Or(q.Who, q.Agent)
	}
	return q.Agent + ", " + q.Who
}

// shownAsker says who of an agent asks, where that is a subagent.
func shownAsker(a *view.AskerView) string {
	if a == nil {
		return ""
	}
	who := "subagent"
	if a.Type != "" {
		who += " " + a.Type
	}
	if a.Depth > 1 {
		who += fmt.Sprintf(", %d deep", a.Depth)
	}
	return who + ": " + a.Task
}

// indistinguishable finds two options that differ in nothing that is shown.
func indistinguishable(options []terminal.Option) (a, b int, found bool) {
	seen := map[string]int{} // the first option of each look
	for i, o := range options {
		look := terminal.CleanLine(o.Label, 0)
		first, known := seen[look]
		switch {
		case look == "":
		case !known:
			seen[look] = i
		case options[first].Label != o.Label:
			return first, i, true
		}
	}
	return 0, 0, false
}
