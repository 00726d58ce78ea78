package commands

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// Questions makes the command that lists open questions.
func (p Program) Questions(cmd *cobra.Command) *cobra.Command {
	var asJSON bool
	most, selects := 0, service.Can[service.Selector](p.Can)
	cmd.Args = help.Exactly(0, 1, "at most the id of a run"+map[bool]string{true: " or an agent"}[p.local()])
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var open []view.QuestionView
		var notes []string
		if most < 0 {
			return exitcode.Usage("--limit takes how many questions are listed, not %d; 0: all", most)
		}
		err := p.with(cmd.Context(), func(s service.Runs) (err error) {
			if selector, is := s.(service.Selector); is {
				var of view.RunView
				if len(args) > 0 {
					if of, err = s.Run(cmd.Context(), args[0]); err != nil {
						return err
					}
				}
				open, notes, err = selector.Asked(cmd.Context(), of.ID, most)
				return err
			}
			if len(args) == 0 {
				open, notes, err = s.Questions(cmd.Context())
				return err
			}
			of, err := p.named(cmd.Context(), s, args[0])
			if err != nil {
				return err
			}
			if open, notes, err = s.Questions(cmd.Context()); err != nil {
				return err
			}
			open = slices.DeleteFunc(open, func(q view.QuestionView) bool { return !isOf(q, of) })
			return nil
		})
		if err != nil {
			return err
		}
		if run, inside := doctor.InsideRun(os.Environ()); inside && p.local() {
			open = slices.DeleteFunc(open, func(q view.QuestionView) bool { return q.Run != run })
		}
		return terminal.Print(func(to *terminal.Printer) error {
			for _, note := range notes {
				to.Notice(note)
			}
			return asking.Print(to, open, asJSON)
		})
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	if selects {
		cmd.Flags().IntVar(&most, "limit", mostListed, "list only the first `N` that were asked; 0: all")
	}
	return p.command(p.completes(cmd, EitherOf(RunsOf(false, AnyRun), AgentsOf), Nothing))
}

// named returns what an id names, before anything is listed. Elsewhere that is a run, of which nothing may be kept yet.
func (p Program) named(ctx context.Context, s service.Runs, id string) (of view.Details, err error) {
	if p.local() {
		return s.Show(ctx, id)
	}
	of.Run, err = s.Run(ctx, id)
	return of, err
}

// isOf reports whether a question is of the run, the agent or the question that details are of.
func isOf(q view.QuestionView, of view.Details) bool {
	switch {
	case of.Question != nil:
		return q.ID == of.Question.ID
	case of.Agent != "":
		return q.Agent == of.Agent
	}
	return q.Run == of.Run.ID
}
