// Package asking is questions as the commands, the board and the page show them, and asks them at a prompt of their
// own, one at a time, as `answer` does on a terminal. Where the questions come from and where the answers go, a
// [service.Service] says.
package asking

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// A Prompt is what Ask needs.
type Prompt struct {
	Service service.Service
	// Shows returns questions as they are asked on a terminal.
	Shows func(ctx context.Context, open []view.QuestionView) []terminal.Question
	// With is what goes with each reply: who gives it, and what was typed beside it.
	With service.Answer
	// Drafts keeps what is typed and not sent.
	Drafts terminal.Drafts
}

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
	prompt  Prompt
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
func Ask(ctx context.Context, by Prompt, w Wanted) (runs []string, err error) {
	p := &person{prompt: by, wanted: w, done: map[string]bool{}, look: make(chan struct{}, 1),
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
	prompter.Keeps(p.prompt.Drafts)
	if from, can := p.prompt.Service.(service.Reminder); can {
		prompter.Reminds(Reminds(from))
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer leave()
		return prompter.Run(ctx)
	})
	group.Go(func() error {
		defer leave()
		err := p.prompt.Service.Watch(ctx, p.look, func(o view.Overview) error { return p.see(ctx, prompter, o) })
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
		prompter.Gone(q.ID, Gone(q))
	}
	prompter.Set(p.prompt.Shows(ctx, open))
	if over {
		return errOver
	}
	return nil
}

// submit leaves an answer.
func (p *person) submit(ctx context.Context, id string, r terminal.Reply) error {
	p.submitting.Lock()
	defer p.submitting.Unlock()
	with := p.prompt.With
	a := service.Replied(r.Text, r.Decline, r.Change || with.Change)
	a.AllLike, a.SkipRest, a.By = with.AllLike, with.SkipRest, with.By
	kept, err := p.prompt.Service.Answer(ctx, id, a)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.done[id] = true
	if run := kept.Question.Run; run != "" && !slices.Contains(p.runs, run) {
		p.runs = append(p.runs, run)
	}
	p.err = errors.Join(p.err, kept.Failed)
	p.mu.Unlock()
	also := kept.Also
	if !kept.Alone { // else it is asked whether the run is to go on
		also = cmp.Or(kept.Note, also)
	}
	if also != "" {
		p.printer.Notice(also)
	}
	select {
	case p.look <- struct{}{}:
	default: // one is on its way
	}
	return nil
}
