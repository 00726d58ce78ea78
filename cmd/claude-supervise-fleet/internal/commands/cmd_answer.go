package commands

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/desk"
	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

func newAnswer() *cobra.Command {
	var f asking.Flags
	var c connection
	cmd := &cobra.Command{
		Use:   "answer [ID] [VALUE...]",
		Short: "answer an open question of a run of the fleet",
		Long: `Answer an open question. The first answer counts, wherever it is given; anyone
who answers later is told whose answer that was. VALUE is what
claude-supervise answer takes.

On a terminal, answer without a VALUE asks the question there. Without an ID it
asks all open questions in turn: urgent ones first, then the oldest. With a
VALUE but no ID, exactly one question must be open. ID may also be a run, its
name or an agent; its one open question is then meant. A permission, delegation
or budget is answered by the ID of its question alone.

The answer is kept by the fleet once this returns, whether a worker is up or
not. A run that a worker has is given it at once. A parked run continues with
it, on any worker.

Whether a command may run is answered on the machine that it runs on.`,
		Example: "  claude-supervise fleet answer\n  claude-supervise fleet answer q-7kq2mx 2\n" +
			"  claude-supervise fleet answer q-7kq2mx \"both, OAuth2 first\"\n" +
			"  claude-supervise fleet answer q-7kq2mx --decline \"ask the team that owns it\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(); err != nil {
				return err
			}
			return c.with(cmd.Context(), func(c connected) error { return c.answering().Run(cmd, args, f) })
		},
	}
	f.Add(cmd, func(cmd *cobra.Command, err error) error { return cmd.Root().FlagErrorFunc()(cmd, err) })
	c.flags(cmd.Flags())
	return cmd
}

// A keptAnswer is an answer that the fleet keeps, for programs: what one machine prints, and more.
type keptAnswer struct {
	asking.Kept
	By    string    `json:"answered_by"`
	At    time.Time `json:"answered_at"`
	Given bool      `json:"given"` // to the run, by its worker
}

// answering answers the questions of the fleet by a command.
func (c connected) answering() asking.Answering {
	d := c.commands().Desk
	return asking.Answering{Program: desk.Program,
		Prompt: asking.Prompt{
			Service: d,
			Shows: func(_ context.Context, open []view.QuestionView) (shown []terminal.Question) {
				for _, q := range open {
					shown = append(shown, desk.Placed(q))
				}
				return shown
			},
		},
		Meant: func(ctx context.Context, args []string) (*view.QuestionView, string, service.Named, error) {
			open, err := c.mayMean(ctx, args)
			if err != nil {
				return nil, "", 0, err
			}
			q, typed, named, err := meant(open, args)
			if err != nil {
				return nil, "", 0, c.perhapsTaken(ctx, args, err)
			}
			d.Found(open)
			return q, typed, named, nil
		},
		Asks: func(ctx context.Context, args []string) (asking.Wanted, bool, error) {
			open, err := c.mayMean(ctx, args)
			w, asks := wanted(open, args)
			return w, asks, err
		},
		Stdin: answerFromStdin,
		Said: func(k service.Kept, a service.Answer) string {
			what := k.Text
			if a.Skip {
				what = "skipped"
			}
			return fmt.Sprintf("%s: %s\n%s", k.Question.ID, terminal.CleanLine(what, 0), cmp.Or(k.Note, "Its worker has it."))
		},
		JSON: func(k service.Kept, a service.Answer) any {
			return keptAnswer{asking.InJSON(k, a), k.Question.AnsweredBy, *k.Question.AnsweredAt, k.Note == ""}
		},
	}
}

// answerFromStdin reads the answer that is given there.
func answerFromStdin() (string, error) {
	content, more, err := contentOf("-")
	if n := int64(len(content)) + more; err == nil && n > maxTask {
		err = exitcode.Usage("the answer has %d bytes, and a fleet takes %d; nothing was kept", n, maxTask)
	}
	return content, err
}

// wanted says which questions are asked on the terminal, where the arguments are no answer: all that are open, or those
// that are named. asks: any are.
func wanted(open []view.QuestionView, args []string) (w asking.Wanted, asks bool) {
	if len(args) > 0 {
		open = fleet.Named(open, args[0]) // none where it is an answer, or a mistake
	}
	switch {
	case len(args) == 0 || len(open) == 0:
	case open[0].ID == args[0]:
		w.Only = args[0]
	case open[0].Agent == args[0]:
		w.Of = args[0]
	default:
		w.Of = open[0].Run
	}
	return w, len(open) > 0
}

// mayMean returns open questions, and those among them that the arguments may mean.
func (c connected) mayMean(ctx context.Context, args []string) ([]view.QuestionView, error) {
	if len(args) > 0 && isID(args[0]) {
		return c.QuestionsNamed(ctx, args[0])
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
		a.By, view.Clock(a.At), terminal.CleanLine(a.Text, 0))}
}

// meant finds the question that the arguments name, and what is left of them as the answer. Without a name it is the
// one that is open; nil where none is.
func meant(open []view.QuestionView, args []string) (q *view.QuestionView, typed string, named service.Named,
	err error) {
	if named = service.NamedByNone; len(args) > 0 {
		switch found := fleet.Named(open, args[0]); {
		case len(found) == 1:
			named = service.NamedByRun
			if found[0].ID == args[0] {
				named = service.NamedByID
			}
			open, args = found, args[1:]
		case len(found) > 1:
			return nil, "", 0, exitcode.Usage("%s stands for %d open questions: say which, as in: "+
				"claude-supervise fleet answer %s VALUE", args[0], len(found), found[0].ID)
		case isID(args[0]) || len(open) == 0:
			return nil, "", 0, exitcode.Usage("no open question of the fleet is called %.60q; nothing was kept: "+
				"claude-supervise fleet questions lists them", args[0])
		}
	}
	q, typed, err = service.TheOne(desk.Program, open, args)
	return q, typed, named, err
}
