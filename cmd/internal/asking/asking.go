// Package asking asks open questions at a prompt of their own, one at a time: what `answer` does on a terminal. Where
// the questions come from and where the answers go, the program says.
package asking

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"claude-supervise/cmd/internal/questions"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// A Desk is where questions come from and answers go.
type Desk struct {
	// Watch gives what is open, at once, for each value of look, and after each change, until ctx ends (nil) or each
	// gives an error, which it returns.
	Watch func(ctx context.Context, look <-chan struct{}, each func(view.Overview) error) error
	// Shows gives questions as they are asked on a terminal.
	Shows func(ctx context.Context, open []view.QuestionView) []terminal.Question
	// Reply leaves what a person has replied. It gives the run that the question is of ("": a script's), and what was kept
	// with the answer, for people. A *FollowUpError says that the answer is kept all the same.
	Reply func(ctx context.Context, id string, r terminal.Reply) (run, also string, err error)
}

// A FollowUpError is what went wrong after an answer was kept.
type FollowUpError struct{ Err error }

// Error is that of what went wrong.
func (e *FollowUpError) Error() string { return e.Err.Error() }

// Unwrap is what went wrong.
func (e *FollowUpError) Unwrap() error { return e.Err }

// Wanted says which questions are asked.
type Wanted struct {
	Only  string             // the id of the one question; "": all that are open, urgent ones first, then the oldest
	Again *view.QuestionView // it is closed, and is asked once more: to have another answer; nil: it is not
	Of    string             // of a run or an agent only; "": of all
}

// fits reports whether a question is asked.
func (w Wanted) fits(q view.QuestionView) bool {
	return (w.Only == "" || q.ID == w.Only) && (w.Of == "" || q.Run == w.Of || q.Agent == w.Of)
}

// A person who answers.
type person struct {
	desk    Desk
	wanted  Wanted
	printer *terminal.Printer
	look    chan struct{}

	submitting sync.Mutex // held while an answer is being kept: it may be seen before that is known here
	mu         sync.Mutex
	done       map[string]bool // the questions that were answered here
	runs       []string        // that have got answers here
	over       bool            // nothing is open any more
	err        error           // the answer stands, but not all that was to follow from it
}

// Ask asks on the terminal until nothing that is wanted is open, or the person leaves. It gives the runs that have got
// answers, in that order. Where nothing was answered, and not because others have, that is an error.
func Ask(ctx context.Context, d Desk, w Wanted) (runs []string, err error) {
	p := &person{desk: d, wanted: w, done: map[string]bool{}, look: make(chan struct{}, 1),
		printer: terminal.NewPrinter(os.Stdout, os.Stderr, terminal.Look{Getenv: os.Getenv})}
	err = p.untilOver(ctx)
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), terminal.LeavingPatience)
	defer cancel()
	err = errors.Join(err, p.err, p.printer.Close(patience))
	switch {
	case err != nil:
		return nil, err
	case len(p.done) == 0 && p.over: // all was answered elsewhere, which was told
		return nil, nil
	case len(p.done) == 0 && w.Only != "":
		return nil, errors.New("nothing was answered; the question stays open")
	case len(p.done) == 0:
		return nil, errors.New("nothing was answered; all questions stay open")
	}
	return p.runs, nil
}

// errOver ends the looking once nothing is open.
var errOver = errors.New("over")

func (p *person) untilOver(ctx context.Context) error {
	ctx, stop, err := terminal.UntilLeft(ctx)
	if err != nil {
		return err
	}
	defer stop()
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	prompter := terminal.NewPrompter(os.Stdin, p.printer, p.submit)
	prompter.Leaves(leave)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer leave()
		return prompter.Run(ctx)
	})
	group.Go(func() error {
		defer leave()
		err := p.desk.Watch(ctx, p.look, func(o view.Overview) error { return p.see(ctx, prompter, o) })
		if errors.Is(err, errOver) {
			return nil
		}
		return err
	})
	return group.Wait()
}

// see hands the open questions to the prompt. It gives errOver once there are none.
func (p *person) see(ctx context.Context, prompter *terminal.Prompter, o view.Overview) error {
	p.submitting.Lock()
	p.submitting.Unlock() //nolint:staticcheck // waits only: what is closed in o may be closed by it
	open := o.Questions
	if again := p.wanted.Again; again != nil && again.State != supervisor.Open {
		open = []view.QuestionView{*again}
	}
	p.mu.Lock()
	open = slices.DeleteFunc(slices.Clone(open), func(q view.QuestionView) bool {
		return p.done[q.ID] || !p.wanted.fits(q)
	})
	p.over = len(open) == 0
	over := p.over
	p.mu.Unlock()
	for _, q := range o.Closed {
		prompter.Gone(q.ID, questions.Gone(q))
	}
	prompter.Set(p.desk.Shows(ctx, open))
	if over {
		return errOver
	}
	return nil
}

// submit leaves an answer.
func (p *person) submit(ctx context.Context, id string, r terminal.Reply) error {
	p.submitting.Lock()
	defer p.submitting.Unlock()
	run, also, err := p.desk.Reply(ctx, id, r)
	var later *FollowUpError
	if err != nil && !errors.As(err, &later) {
		return err
	}
	p.mu.Lock()
	p.done[id] = true
	if run != "" && !slices.Contains(p.runs, run) {
		p.runs = append(p.runs, run)
	}
	p.err = errors.Join(p.err, err)
	p.mu.Unlock()
	if also != "" {
		p.printer.Notice(also)
	}
	select {
	case p.look <- struct{}{}:
	default: // one is on its way
	}
	return nil
}
