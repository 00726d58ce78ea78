package commands

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/desk"
	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/questions"
	"claude-supervise/cmd/internal/runs"
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
		Use:   "answer [ID] [VALUE...]",
		Short: "answer an open question of a run of the fleet",
		Long: `Answer an open question. The first answer counts, wherever it is given; anyone
who answers later is told whose answer that was. VALUE is what
claude-supervise answer takes.

On a terminal, answer without a VALUE asks the question there. Without an ID it
asks all open questions in turn: urgent ones first, then the oldest. With a
VALUE but no ID, exactly one question must be open. ID may also be a run, its
name or an agent; its one open question is then meant.

The answer is kept by the fleet once this returns. A run that a worker has is
given it at once. A parked run continues with it, on any worker.

Whether a command may run is answered on the machine that it runs on.`,
		Example: "  claude-supervise fleet answer\n  claude-supervise fleet answer q-7kq2mx 2\n" +
			"  claude-supervise fleet answer q-7kq2mx \"both, OAuth2 first\"\n" +
			"  claude-supervise fleet answer q-7kq2mx --decline \"ask the team that owns it\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(); err != nil {
				return err
			}
			return f.with(cmd.Context(), func(c connected) error { return runAnswer(cmd, c, f, args) })
		},
	}
	f.connection.flags(cmd.Flags())
	cmd.Flags().BoolVar(&f.skip, "skip", false, "continue without an optional question")
	cmd.Flags().StringVar(&f.decline, "decline", "", "decline to answer, and tell the agent `WHY`")
	cmd.Flags().BoolVar(&f.allLike, "all-like", false, "answer all similar questions of the run, also later ones")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the saved answer as a JSON object")
	return cmd
}

// A keptAnswer is an answer that the fleet keeps, for programs: what one machine prints, and more.
type keptAnswer struct {
	questions.Kept
	By    string    `json:"answered_by"`
	At    time.Time `json:"answered_at"`
	Given bool      `json:"given"` // to the run, by its worker
}

func runAnswer(cmd *cobra.Command, c connected, f answerFlags, args []string) error {
	ctx := cmd.Context()
	open, err := c.mayMean(ctx, args)
	if err != nil {
		return err
	}
	declined := cmd.Flags().Changed("decline")
	if len(args) == 0 && len(open) == 0 && !declined {
		return terminal.Print(func(p *terminal.Printer) error { return p.Result("No question is open.") })
	}
	if onTerminal() && !f.skip && !declined && !f.asJSON && len(args) <= 1 {
		if w, asks := wanted(open, args); asks {
			return c.asks(ctx, w, f)
		}
	}
	q, typed, named, err := meant(open, args)
	if err != nil {
		return c.perhapsTaken(ctx, args, err)
	}
	a, err := f.answer(q, typed, named, declined)
	if err != nil {
		return err
	}
	answered, err := c.Answer(ctx, q.Run, a)
	if err != nil {
		return err
	}
	var given *string
	if declined {
		given = &f.decline
	}
	return terminal.Print(func(p *terminal.Printer) error {
		if f.asJSON {
			return p.JSON(keptAnswer{questions.Flags{Skip: f.skip, AllLike: f.allLike, Decline: given}.Kept(q, a.Text, nil),
				a.By, a.At, answered.Given})
		}
		next := "Its worker has it."
		if !answered.Given {
			next = "It is kept; the worker that continues with " + q.Run + " gets it."
		}
		what := a.Text
		if f.skip {
			what = "skipped"
		}
		return p.Result(fmt.Sprintf("%s: %s\n%s", q.ID, terminal.CleanLine(what, 0), next))
	})
}

// mayMean gives the open questions that the arguments may mean: those that the first one names; else, where it is no
// id, all.
func (c connected) mayMean(ctx context.Context, args []string) ([]view.QuestionView, error) {
	if len(args) > 0 {
		named, err := c.QuestionsNamed(ctx, args[0])
		if err != nil || len(named) > 0 || isID(args[0]) {
			return named, err
		}
	}
	return c.Questions(ctx)
}

// isID reports whether a word can be nothing but the id of a question or a run.
func isID(word string) bool { return strings.HasPrefix(word, "q-") || flow.IsRun(word) }

// perhapsTaken gives the error of a question that is not open: whose answer it has, if it has one. While nobody can
// look, nobody says that nothing was kept.
func (c connected) perhapsTaken(ctx context.Context, args []string, err error) error {
	if len(args) == 0 {
		return err
	}
	a, unknown := c.WhoseAnswer(ctx, args[0])
	switch {
	case unknown != nil: // it may be kept
		return unknown
	case a == nil:
		return err
	}
	return &fleet.RefusedError{Kind: flow.ErrTaken, Words: fmt.Sprintf("%s was answered before, by %s at %s: %s", args[0],
		a.By, a.At.Local().Format(time.DateTime), terminal.CleanLine(a.Text, 0))}
}

// called gives the open questions that are named: by an id, or by a run or an agent that asks them.
func called(open []view.QuestionView, id string) (found []view.QuestionView) {
	for _, q := range open {
		if q.ID == id || q.Run == id || q.RunName == id || q.Agent == id {
			found = append(found, q)
		}
	}
	return found
}

// meant finds the question that the arguments name, and what is left of them as the answer. Without a name it is the
// one that is open.
func meant(open []view.QuestionView, args []string) (q view.QuestionView, typed string, named bool, err error) {
	if len(args) > 0 {
		switch found := called(open, args[0]); {
		case len(found) == 1:
			return found[0], strings.Join(args[1:], " "), true, nil
		case len(found) > 1:
			return q, "", false, exitcode.Usage("%s stands for %d open questions: say which, as in: "+
				"claude-supervise fleet answer %s VALUE", args[0], len(found), found[0].ID)
		case isID(args[0]) || len(open) == 0:
			return q, "", false, exitcode.Usage("no open question of the fleet is called %.60q; nothing was kept: "+
				"claude-supervise fleet questions lists them", args[0])
		}
	}
	switch {
	case len(open) == 0:
		return q, "", false, exitcode.Usage("no question of the fleet is open; nothing was kept")
	case len(open) > 1:
		return q, "", false, exitcode.Usage("%d questions are open (%s): say which, as in `%s answer %s VALUE`; "+
			"`%s questions` shows them", len(open), strings.Join(runs.FirstOf(idsOf(open)), ", "), fleetProgram, open[0].ID,
			fleetProgram)
	}
	return open[0], strings.Join(args, " "), false, nil
}

// idsOf gives the ids of questions.
func idsOf(open []view.QuestionView) []string {
	ids := make([]string, len(open))
	for i, q := range open {
		ids[i] = q.ID
	}
	return ids
}

// answer turns what was typed into the answer that is kept.
func (f answerFlags) answer(q view.QuestionView, typed string, named, declined bool) (flow.Answer, error) {
	a := flow.Answer{Question: q.ID, By: fleet.Who(), At: time.Now().UTC(), AllLike: f.allLike, Skip: f.skip,
		Decline: declined}
	if q.Kind == supervisor.AskCommand {
		return a, exitcode.Usage("a command runs on the worker's machine: whether it may is answered there")
	}
	if typed == "-" {
		content, more, err := contentOf("-")
		if err != nil {
			return a, err
		}
		if n := int64(len(content)) + more; n > maxTask {
			return a, exitcode.Usage("the answer has %d bytes, and a fleet takes %d; nothing was kept", n, maxTask)
		}
		typed = content
	}
	given := questions.Flags{Program: desk.Program, Skip: f.skip, AllLike: f.allLike}
	if declined {
		given.Decline = &f.decline
	}
	var err error
	a.Text, err = given.Value(desk.Asked(q), typed, os.TempDir(), named, onTerminal(), nil)
	return a, err
}
