package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/host"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/view"
)

func newCompare() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare RUN RUN",
		Short: "show side by side what came of a question answered differently",
		Long: `Show two runs side by side of which one continues from a question of the other,
or both from the same question (answer --again): what was answered, how each
stands, what it took, what it changed since the question, and its report.`,
		Example: "  claude-supervise compare r-3f9a2c1b r-8d0e4f7a",
		Args:    help.Exactly(2, 2, "the ids of two runs"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := openClient()
			if err != nil {
				return err
			}
			defer func() { _ = c.Close() }() // only read
			both, err := compared(cmd.Context(), c, args)
			if err != nil {
				return err
			}
			return terminal.Print(func(p *terminal.Printer) error {
				if asJSON {
					return p.JSON(both)
				}
				return p.Result(sideBySide(p.Width(), both))
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return commands.Completes(cmd, commands.RunsOf(true, commands.AnyRun), commands.RunsOf(true, commands.AnyRun))
}

// A comparedRun is what came of one of the answers to a question.
type comparedRun struct {
	Run     string            `json:"run"`
	Answer  string            `json:"answer"`
	Status  supervisor.Status `json:"status"`
	Reason  string            `json:"reason"`
	CostUSD float64           `json:"cost_usd"` // in all; of the run that was asked, with what came before
	Seconds float64           `json:"seconds"`  // since the answer
	Report  string            `json:"report"`
	Folder  string            `json:"folder"`
	Changed map[string]string `json:"changed"` // by path: changed or removed since the question
	Problem string            `json:"problem"` // why it is not known what has changed

	objects map[string]git.TreeEntry
}

// compared looks at two runs that have answered the same question.
func compared(ctx context.Context, c client.Client, ids []string) (both [2]comparedRun, err error) {
	var states [2]supervisor.State
	for i, id := range ids {
		r, err := c.Reader().Run(ctx, id)
		if err != nil {
			return both, err
		}
		if states[i], err = view.State(ctx, c.Store, r.ID); err != nil {
			return both, err
		}
		both[i] = comparedRun{Run: r.ID, Status: r.Status, Reason: view.Because(r.Reason), CostUSD: r.CostUSD}
	}
	run, question := commonQuestion(states)
	if run == "" {
		return both, usage("neither %s nor %s continues from a question of the other, nor both from the same one "+
			"(claude-supervise answer --again); `claude-supervise show RUN --diff` shows what one run has changed",
			both[0].Run, both[1].Run)
	}
	origin, err := view.State(ctx, c.Store, run)
	if err != nil {
		return both, fmt.Errorf("the run that asked is gone: %w", err)
	}
	asked := origin.Questions[question]
	if asked == nil {
		return both, fmt.Errorf("%s has no question %s any more", run, question)
	}
	store, moment := host.MomentsOf(c.Dirs, run), origin.Group(asked.Group)[0].Moment
	for i := range both {
		both[i].look(ctx, states[i], asked, store, moment)
	}
	return both, nil
}

// commonQuestion returns the question that two runs have answered, and the run that asked it; "" if there is none.
func commonQuestion(of [2]supervisor.State) (run, question string) {
	a, b := of[0].Run, of[1].Run
	switch {
	case b.Forked != nil && b.Forked.Run == a.ID:
		return b.Forked.Run, b.Forked.Question
	case a.Forked != nil && a.Forked.Run == b.ID:
		return a.Forked.Run, a.Forked.Question
	case a.Forked != nil && b.Forked != nil && a.Forked.Run == b.Forked.Run && a.Forked.Question == b.Forked.Question:
		return a.Forked.Run, a.Forked.Question
	}
	return "", ""
}

// look reads what a run has made of its answer to a question.
func (r *comparedRun) look(ctx context.Context, s supervisor.State, asked *supervisor.Question, store *git.Store,
	moment string) {
	q := asked
	if s.Run.ID != asked.Run {
		answered := s.FindQuestionsOf(s.Run.Root, func(q *supervisor.Question) bool { return q.Index == asked.Index })
		q = answered[0] // the oldest
	}
	a := s.Agents[q.Agent]
	r.Answer, r.Folder, r.Changed = prompts.Answer(q), s.Folder(a.ID), map[string]string{}
	if until := time.Now(); q.AnsweredAt != nil {
		if a.EndedAt != nil {
			until = *a.EndedAt
		}
		r.Seconds = until.Sub(*q.AnsweredAt).Seconds()
	}
	if a.Report != nil {
		r.Report = a.Report.Status + ": " + a.Report.Summary
	}
	if w := a.Worktree; w != nil && w.Path == "" { // it has left nothing in it
		return
	}
	var err error
	if r.objects, err = store.Diff(ctx, moment, r.Folder); err != nil {
		r.Problem = err.Error()
		return
	}
	for path, entry := range r.objects {
		r.Changed[path] = "changed"
		if strings.Trim(entry.Object, "0") == "" {
			r.Changed[path] = "removed"
		}
	}
}

// sideBySide lays out two runs in columns, and below them what each reported.
func sideBySide(width int, both [2]comparedRun) string {
	var rows [][]string
	row := func(name string, of func(comparedRun) string) {
		rows = append(rows, []string{name, of(both[0]), of(both[1])})
	}
	row("Answer", func(r comparedRun) string { return terminal.FirstLine(r.Answer) })
	row("Status", func(r comparedRun) string { return string(r.Status) })
	row("Cost", func(r comparedRun) string { return terminal.Money(r.CostUSD) })
	row("Took", func(r comparedRun) string {
		return terminal.Duration(time.Duration(r.Seconds * float64(time.Second)).Round(time.Second))
	})
	row("Changed", func(r comparedRun) string {
		if r.Problem != "" {
			return "not known: " + terminal.FirstLine(r.Problem)
		}
		return fmt.Sprint(len(r.Changed))
	})
	var paths []string
	for i := range both {
		for path := range both[i].Changed {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		one, other := both[0].Changed[path], both[1].Changed[path]
		if one != "" && one == other && both[0].objects[path] == both[1].objects[path] {
			other = "the same"
		}
		rows = append(rows, []string{"· " + path, one, other})
	}
	var b strings.Builder
	b.WriteString(terminal.Table(width, 0, []string{"", both[0].Run, both[1].Run}, rows))
	for _, r := range both {
		if r.Report != "" {
			fmt.Fprintf(&b, "\n%s reported %s\n", r.Run, strings.TrimSpace(terminal.Clean(r.Report)))
		}
	}
	fmt.Fprintf(&b, "\nTo see the changes: %[1]s show RUN --diff\nTo keep one:        %[1]s keep RUN", thisProgram)
	return b.String()
}
