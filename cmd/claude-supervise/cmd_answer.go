package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise/internal/terminal"
	"claude-supervise/supervisor"
)

type answerFlags struct{ change, skip, resume bool }

func newAnswer() *cobra.Command {
	var f answerFlags
	cmd := &cobra.Command{
		Use:   "answer [ID] [VALUE...]",
		Short: "answer a question, from anywhere",
		Long: `Answer an open question. The first answer stands; who comes later is told whose
it was. Without an ID exactly one question must be open. Without a VALUE the
question is asked on the terminal.

VALUE is the number, letter or label of an option, several separated by commas
where the question allows it, or free text. A permission takes allow, or
deny and why. A blocker takes resolved and what was done, or give up.`,
		Example: "  claude-supervise answer q-7kq2mx 2\n" +
			"  claude-supervise answer q-7kq2mx \"both, OAuth2 first\"\n" +
			"  claude-supervise answer allow\n" +
			"  claude-supervise answer q-7kq2mx --change 1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			return runAnswer(cmd.Context(), args, f)
		},
	}
	cmd.Flags().BoolVar(&f.change, "change", false, "replace the answer given before, until it is on its way")
	cmd.Flags().BoolVar(&f.skip, "skip", false, "go on without a question that is not required")
	cmd.Flags().BoolVar(&f.resume, "resume", false, "go on with the run in the background, if nobody supervises it")
	return cmd
}

func runAnswer(ctx context.Context, args []string, f answerFlags) error {
	client, err := supervisor.OpenClient()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // what was left is on disk
	q, typed, named, err := meant(ctx, client, args)
	if err != nil {
		return err
	}
	if q == nil {
		return print(func(p *terminal.Printer) error { return p.Result("No question is open.") })
	}
	run, err := client.Run(ctx, q.Run)
	if err != nil {
		return err
	}
	value, err := answerValue(q, typed, run.Cwd, named, f)
	if err != nil {
		return err
	}
	if err := client.Answer(ctx, q.ID, value, f.skip, f.change, who("answer")); err != nil {
		return err
	}
	said := fmt.Sprintf("%s\n%s answered: %s", q.Text, q.ID, value)
	if f.skip {
		said = fmt.Sprintf("%s\n%s skipped", q.Text, q.ID)
	}
	if err := print(func(p *terminal.Printer) error { return p.Result(said) }); err != nil {
		return err
	}
	return goOn(client, q.Run, f.resume)
}

// meant finds the question that the arguments name, and what is left of them as the answer. Without an id it is the one
// that is open; q is nil where none is. An id is known by its q-, or by being whole: the start of one without it could
// be an answer.
func meant(ctx context.Context, c supervisor.Client, args []string) (q *supervisor.Question, typed string, named bool, err error) {
	if len(args) > 0 {
		marked := strings.HasPrefix(args[0], "q-")
		q, err = c.Find(ctx, args[0])
		switch {
		case err == nil && (marked || q.ID == "q-"+args[0]):
			return q, strings.Join(args[1:], " "), true, nil
		case err != nil && (marked || !supervisor.NoSuchID(err)):
			return nil, "", false, err
		}
	}
	open, err := c.Questions(ctx)
	if err != nil {
		return nil, "", false, err
	}
	switch len(open) {
	case 0:
		if len(args) > 0 {
			return nil, "", false, usage("no question is open, so %q answers none; nothing was kept", strings.Join(args, " "))
		}
		return nil, "", false, nil
	case 1:
		return open[0], strings.Join(args, " "), false, nil
	}
	var ids []string
	for _, q := range open {
		ids = append(ids, q.ID)
	}
	return nil, "", false, usage("%d questions are open (%s): say which, as in `%s`; `claude-supervise questions` shows them",
		len(open), strings.Join(ids, ", "), supervisor.AnswerCommand(open[0]))
}

// answerValue turns what was typed into the answer that is kept; typed nothing, it asks on the terminal.
func answerValue(q *supervisor.Question, typed, cwd string, named bool, f answerFlags) (string, error) {
	tty := onTerminal()
	switch {
	case f.skip && typed != "":
		return "", usage("--skip takes no value: it goes on without an answer")
	case f.skip && !q.Optional:
		return "", usage("question %s is required and cannot be skipped; `claude-supervise stop %s` ends the run instead", q.ID, q.Run)
	case f.skip:
		return "", nil
	case strings.TrimSpace(typed) == "" && !tty:
		return "", usage("no answer was given; type it after the id, as in `%s`", supervisor.AnswerCommand(q))
	}
	ask := shown(q)
	for typed == "" {
		fmt.Fprint(os.Stderr, terminal.Render(ask, 80, time.Now())+q.ID+"> ")
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if err != nil && strings.TrimSpace(line) == "" {
			return "", errors.New("nothing was typed; the question stays open")
		}
		typed = strings.TrimSpace(line)
	}
	value, err := terminal.Choose(ask, typed, cwd)
	if err != nil {
		return "", fmt.Errorf("%w; question %s stays open", err, q.ID)
	}
	if !named && !tty && freeText(q, value) {
		return "", usage("without a terminal, free text needs the id of its question: claude-supervise answer %s %q", q.ID, value)
	}
	return value, nil
}

// freeText tells whether an answer is the person's own words.
func freeText(q *supervisor.Question, value string) bool {
	for _, o := range q.Options {
		if value == o.Label {
			return false
		}
	}
	return !q.MultiSelect
}
