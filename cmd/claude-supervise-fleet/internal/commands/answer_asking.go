package commands

import (
	"context"
	"os"

	"claude-supervise/cmd/claude-supervise-fleet/internal/desk"
	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/worker"
	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/questions"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

func onTerminal() bool { return terminal.IsTerminal(os.Stdin) && terminal.IsTerminal(os.Stderr) }

// wanted says which questions are asked on the terminal, where the arguments are no answer: all that are open, or those
// that are named. asks: any are.
func wanted(open []view.QuestionView, args []string) (w asking.Wanted, asks bool) {
	if len(args) == 0 {
		return w, true
	}
	found := called(open, args[0])
	switch {
	case len(found) == 0:
		return w, false // an answer, or a mistake
	case found[0].ID == args[0]:
		return asking.Wanted{Only: args[0]}, true
	case found[0].Agent == args[0]:
		return asking.Wanted{Of: args[0]}, true
	}
	return asking.Wanted{Of: found[0].Run}, true
}

// asks asks questions on the terminal.
func (c connected) asks(ctx context.Context, w asking.Wanted, f answerFlags) error {
	d := desk.New(c.Fleet, func(context.Context, string, int) ([]byte, error) { return nil, worker.ErrNoRecord }, nil,
		fleet.Who())
	_, err := asking.Ask(ctx, asking.Desk{
		Watch: d.Watch,
		Shows: func(_ context.Context, open []view.QuestionView) []terminal.Question {
			shown := make([]terminal.Question, len(open))
			for i, q := range open {
				shown[i] = questions.Placed(desk.Asked(q))
			}
			return shown
		},
		Reply: func(ctx context.Context, id string, r terminal.Reply) (run, also string, err error) {
			also, err = d.Reply(ctx, id, r, questions.Flags{AllLike: f.allLike})
			return "", also, err
		},
	}, w)
	return err
}
