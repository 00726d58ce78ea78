package commands

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/questions"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

type answerFlags struct {
	connection
	skip, allLike, asJSON bool
	decline               string
}

func newAnswer() *cobra.Command {
	var f answerFlags
	cmd := &cobra.Command{
		Use:   "answer ID VALUE...",
		Short: "answer an open question of a run of the fleet",
		Long: `Answer an open question. The first answer counts, wherever it is given; anyone
who answers later is told whose answer that was. VALUE is what
claude-supervise answer takes.

The answer is kept by the fleet once this returns. A run that a worker has is
given it at once. A parked run goes on with it, on any worker.

Whether a command may run is answered on the machine that it runs on.`,
		Example: "  claude-supervise fleet answer q-7kq2mx 2\n" +
			"  claude-supervise fleet answer q-7kq2mx \"both, OAuth2 first\"\n" +
			"  claude-supervise fleet answer q-7kq2mx --decline \"ask the team that owns it\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(); err != nil {
				return err
			}
			if len(args) == 0 {
				return exitcode.Usage("answer takes the id of a question and the answer; questions lists them")
			}
			return runAnswer(cmd, f, args[0], strings.Join(args[1:], " "))
		},
	}
	f.connection.flags(cmd.Flags())
	cmd.Flags().BoolVar(&f.skip, "skip", false, "continue without an optional question")
	cmd.Flags().StringVar(&f.decline, "decline", "", "decline to answer, and tell the agent `WHY`")
	cmd.Flags().BoolVar(&f.allLike, "all-like", false, "answer all similar questions of the run, also later ones")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the saved answer as a JSON object")
	return cmd
}

func runAnswer(cmd *cobra.Command, f answerFlags, id, typed string) error {
	ctx := cmd.Context()
	c, err := f.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	found, err := c.QuestionsNamed(ctx, id)
	if err != nil {
		return err
	}
	q, err := meant(found, id)
	if err != nil {
		a, looked := c.WhoseAnswer(ctx, id)
		if looked == nil && a != nil {
			return &fleet.RefusedError{Kind: flow.ErrTaken, Words: fmt.Sprintf("%s was answered before, by %s at %s: %s", id,
				a.By, a.At.Local().Format(time.DateTime), terminal.CleanLine(a.Text, 0))}
		}
		return err
	}
	a, err := f.answer(q, typed, cmd.Flags().Changed("decline"))
	if err != nil {
		return err
	}
	answered, err := c.Answer(ctx, q.Run, a)
	if err != nil {
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error {
		if f.asJSON {
			return p.JSON(map[string]any{"id": q.ID, "run": q.Run, "answer": a.Text, "answered_by": a.By,
				"answered_at": a.At, "given": answered.Given})
		}
		next := "Its worker has it."
		if !answered.Given {
			next = "It is kept; the worker that goes on with " + q.Run + " gets it."
		}
		what := a.Text
		if f.skip {
			what = "skipped"
		}
		return p.Result(fmt.Sprintf("%s: %s\n%s", q.ID, terminal.CleanLine(what, 0), next))
	})
}

// meant gives the question that was found by an id, if it is one.
func meant(found []view.QuestionView, id string) (view.QuestionView, error) {
	switch len(found) {
	case 0:
		return view.QuestionView{}, exitcode.Usage("no open question of the fleet is called %.60q; nothing was kept: "+
			"claude-supervise fleet questions lists them", id)
	case 1:
		return found[0], nil
	}
	return view.QuestionView{}, exitcode.Usage("%s stands for %d open questions: say which, as in: "+
		"claude-supervise fleet answer %s VALUE", id, len(found), found[0].ID)
}

// answer turns what was typed into the answer that is kept.
func (f answerFlags) answer(q view.QuestionView, typed string, declined bool) (flow.Answer, error) {
	a := flow.Answer{Question: q.ID, By: fleet.Who(), At: time.Now().UTC(), AllLike: f.allLike, Skip: f.skip,
		Decline: declined}
	if q.Kind == supervisor.AskCommand {
		return a, exitcode.Usage("a command runs on the worker's machine: whether it may is answered there")
	}
	if typed == "-" {
		content, err := contentOf("-")
		if err != nil {
			return a, err
		}
		typed = content
	}
	given := questions.Flags{Program: "claude-supervise fleet", Skip: f.skip, AllLike: f.allLike}
	if declined {
		given.Decline = &f.decline
	}
	if q.Validate == "path" { // it is one of the worker's machine
		q.Validate = ""
	}
	var err error
	a.Text, err = given.Value(q, typed, os.TempDir(), true, false, nil)
	return a, err
}
