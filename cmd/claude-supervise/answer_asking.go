package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/questions"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/view"
)

// ask asks on the terminal until nothing is open or the person leaves, and then lets the runs go on that got answers.
// only is the question that is asked, nil for all that are open; of is the run or agent whose questions are asked, ""
// for all.
func ask(ctx context.Context, c client.Client, only *supervisor.Question, of string, f questions.Flags) error {
	wanted := asking.Wanted{Of: of}
	if only != nil {
		wanted.Only = only.ID
		if f.Change {
			again := view.View(only)
			wanted.Again = &again
		}
	}
	runs, err := asking.Ask(ctx, asking.Desk{
		Watch: c.Reader().WatchOverview,
		Shows: func(ctx context.Context, open []view.QuestionView) []terminal.Question { return toAsk(ctx, c, open) },
		Reply: func(ctx context.Context, id string, r terminal.Reply) (run, also string, err error) {
			return reply(ctx, c, id, r, f, terminal.Who("answer"))
		},
	}, wanted)
	if err != nil {
		return err
	}
	for _, run := range runs {
		err = errors.Join(err, goOn(ctx, c, run, f.Resume))
	}
	return err
}

// askAll asks all that is open, of all runs or of one run or agent.
func askAll(ctx context.Context, c client.Client, of string, f questions.Flags) error {
	open, err := c.Questions(ctx)
	if err != nil {
		return err
	}
	if of != "" {
		if !slices.ContainsFunc(open, func(q *supervisor.Question) bool { return q.Run == of || q.Agent == of }) {
			return usage("%s has no open question; nothing was kept", of)
		}
		return ask(ctx, c, nil, of, f)
	}
	byFile, problems, fileErr := c.FileQuestions(ctx)
	switch {
	case len(open)+len(byFile) > 0:
		return ask(ctx, c, nil, "", f)
	case fileErr != nil:
		return fileErr
	}
	return terminal.Print(func(p *terminal.Printer) error {
		questions.TellFileProblems(p, problems, nil)
		return p.Result("No question is open.")
	})
}

// reply leaves what a person has replied in a form. It gives the run that the question is of ("": a script's), and what
// was kept with the answer, for people. A *asking.FollowUpError says that the answer is kept all the same.
func reply(ctx context.Context, c client.Client, id string, r terminal.Reply, f questions.Flags, by string) (run,
	also string, err error) {
	q, err := c.Find(ctx, id)
	if err != nil {
		return "", "", err
	}
	f.Change = f.Change || r.Change
	value := r.Text
	switch {
	case r.Decline:
		f.Decline = &r.Text
		value, err = f.Reason(view.View(q), "", r.Text, true)
	case r.Text == "":
		f.Skip = true
		err = f.Fits(view.View(q))
	default:
		var folder string
		if folder, err = folderOf(ctx, c, q); err == nil {
			err = cmp.Or(f.Fits(view.View(q)), supervisor.CheckDecision(q, value, folder))
		}
	}
	if err != nil {
		return "", "", err
	}
	if err := keep(ctx, c, q, value, f, by); err != nil {
		return "", "", err
	}
	skipped, err := skipRest(ctx, c, q, f)
	if err != nil {
		err = &asking.FollowUpError{Err: err}
	}
	return q.Run, strings.TrimSpace(f.AlsoKept(view.View(q), value, skipped)), err
}
