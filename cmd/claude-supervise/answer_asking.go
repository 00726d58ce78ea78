package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"claude-supervise/cmd/internal/questions"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/view"
)

// asking is a person who answers open questions, of any run, at a prompt of their own.
type asking struct {
	client  client.Client
	flags   questions.Flags
	only    *supervisor.Question // the one that is asked; nil: all that are open, urgent ones first, then the oldest
	of      string               // the run or agent whose questions are asked; "": of all
	printer *terminal.Printer
	look    chan struct{}

	submitting sync.Mutex // held while an answer is being kept: it may be seen before that is known here
	mu         sync.Mutex
	done       map[string]bool // the questions that were answered here
	runs       []string        // that have got answers here
	over       bool            // nothing is open any more
	err        error           // the answer stands, but not all that was to follow from it
}

// ask asks on the terminal until nothing is open or the person leaves, and then lets the runs go on that got answers.
func ask(ctx context.Context, c client.Client, only *supervisor.Question, of string, f questions.Flags) error {
	a := &asking{client: c, flags: f, only: only, of: of, done: map[string]bool{},
		look:    make(chan struct{}, 1),
		printer: terminal.NewPrinter(os.Stdout, os.Stderr, terminal.Look{Getenv: os.Getenv})}
	err := a.untilOver(ctx)
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), terminal.LeavingPatience)
	defer cancel()
	err = errors.Join(err, a.err, a.printer.Close(patience))
	switch {
	case err != nil:
		return err
	case len(a.done) == 0 && a.over: // all was answered elsewhere, which was told
		return nil
	case len(a.done) == 0 && only != nil:
		return errors.New("nothing was answered; the question stays open")
	case len(a.done) == 0:
		return errors.New("nothing was answered; all questions stay open")
	}
	for _, run := range a.runs {
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
			return usage("%s asks nothing; nothing was kept", of)
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

func (a *asking) untilOver(ctx context.Context) error {
	ctx, stop, err := terminal.UntilLeft(ctx)
	if err != nil {
		return err
	}
	defer stop()
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	prompter := terminal.NewPrompter(os.Stdin, a.printer, a.submit)
	prompter.Leaves(leave)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer leave()
		return prompter.Run(ctx)
	})
	group.Go(func() error {
		defer leave()
		err := a.client.Reader().WatchOverview(ctx, a.look, func(o view.Overview) error { return a.see(ctx, prompter, o) })
		if errors.Is(err, errOver) {
			return nil
		}
		return err
	})
	return group.Wait()
}

// see hands the open questions to the prompt. It gives errOver once there are none.
func (a *asking) see(ctx context.Context, prompter *terminal.Prompter, o view.Overview) error {
	a.submitting.Lock()
	a.submitting.Unlock() //nolint:staticcheck // waits only: what is closed in o may be closed by it
	open := o.Questions
	if a.only != nil && a.flags.Change && a.only.State != supervisor.Open { // asked once more
		open = []view.QuestionView{view.View(a.only)}
	}
	a.mu.Lock()
	open = slices.DeleteFunc(slices.Clone(open), func(q view.QuestionView) bool {
		return a.done[q.ID] || a.only != nil && q.ID != a.only.ID ||
			a.of != "" && q.Run != a.of && q.Agent != a.of
	})
	a.over = len(open) == 0
	over := a.over
	a.mu.Unlock()
	for _, q := range o.Closed {
		prompter.Gone(q.ID, questions.Gone(q))
	}
	prompter.Set(toAsk(ctx, a.client, open))
	if over {
		return errOver
	}
	return nil
}

// submit leaves an answer as `answer` does.
func (a *asking) submit(ctx context.Context, id string, r terminal.Reply) error {
	a.submitting.Lock()
	defer a.submitting.Unlock()
	run, also, err := reply(ctx, a.client, id, r, a.flags, terminal.Who("answer"))
	var later *followUpError
	if err != nil && !errors.As(err, &later) {
		return err
	}
	a.mu.Lock()
	a.done[id] = true
	if run != "" && !slices.Contains(a.runs, run) {
		a.runs = append(a.runs, run)
	}
	a.err = errors.Join(a.err, err)
	a.mu.Unlock()
	if also != "" {
		a.printer.Notice(also)
	}
	select {
	case a.look <- struct{}{}:
	default: // one is on its way
	}
	return nil
}

// A followUpError is what went wrong after an answer was kept.
type followUpError struct{ error }

// reply leaves what a person has replied in a form. It gives the run that the question is of ("": a script's), and what
// was kept with the answer, for people. A *followUpError says that the answer is kept all the same.
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
		err = &followUpError{err}
	}
	return q.Run, strings.TrimSpace(f.AlsoKept(view.View(q), value, skipped)), err
}
