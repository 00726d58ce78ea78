// Package board is a full screen over all runs of a user: the questions that wait, the tree of runs, and of what is
// selected the log as it grows, the report and the worktrees. A person answers, writes to agents, stops, resumes and
// tidies up there.
//
// It does nothing but by a [service.Service], so that a program can show runs of elsewhere. [Board] is
// the picture: it knows no terminal, starts what takes time by a function that it is given, and is told what came of
// it.
package board

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// Config is what a Board needs.
type Config struct {
	// Program is how a person calls the program whose commands the texts name, such as `logs`.
	Program string
	Service service.Service
	By      string // who is at the board, to others
	// Changes: an answer can be changed until the agent has it.
	Changes bool
	// Question is a question as it is asked on a terminal, with the folder of its run.
	Question func(view.QuestionView) terminal.Question
	// Compared is what came of two answers to a question.
	Compared func(width int, both [2]service.Compared) string
	// Meanwhile is what happened since the person was last told.
	Meanwhile func(width int, what view.Meanwhile) string
	// About is all that there is to say of a run or an agent, its report among it, in lines of at most width cells.
	About   func(width int, d view.Details) string
	Asked   func(width int, q view.QuestionView) string // a question that is open no more, in such lines
	Away    func(view.Away) string                      // what has happened while the person did not look; "": nothing
	Home    func(folder string) string                  // a folder as a person calls it
	Folder  string                                      // where the person is, for a run that is started on an empty board
	Colours bool
	Drafts  terminal.Drafts // keeps what is typed and not sent
	// Reminds finds what the person answered before to what is like an open question; nil: nothing does.
	Reminds func(ctx context.Context, question string) (terminal.Reminder, bool)
}

// retryAfter is how long a state that cannot be read is left alone.
const retryAfter = 2 * time.Second

// Run shows the board on a screen until the person leaves or ctx ends. Then it says what was typed and not sent.
func Run(ctx context.Context, screen *terminal.FullScreen, c Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var beside sync.WaitGroup
	b := New(ctx, c, func(do func() any) {
		beside.Go(func() {
			if msg := safely(do); msg != nil {
				screen.Send(msg)
			}
		})
	}, screen.Send)
	b.copy = screen.Copy
	b.edits = func(f *terminal.Form) { f.Edits(ctx, screen) }
	beside.Go(func() {
		for ctx.Err() == nil {
			msg := safely(func() any {
				return c.Service.Watch(ctx, b.look, func(o view.Overview) error { screen.Send(o); return nil })
			})
			err, _ := msg.(error)
			if err == nil {
				err = errors.New("it is no longer followed")
			}
			if ctx.Err() == nil {
				screen.Send(unreadable{err})
			}
			select {
			case <-time.After(retryAfter):
			case <-ctx.Done():
			}
		}
	})
	err := screen.Run(ctx, b)
	cancel()
	beside.Wait()
	if unsent := b.Unsent(); len(unsent) > 0 {
		err = errors.Join(err, terminal.Print(func(p *terminal.Printer) error {
			p.Notice(strings.Join(unsent, "\n"))
			return nil
		}))
	}
	return err
}

// safely keeps a bug beside the screen from leaving the terminal in the board's modes.
func safely(do func() any) (msg any) {
	defer func() {
		if bug := recover(); bug != nil {
			msg = fmt.Errorf("internal error: %v", bug)
		}
	}()
	return do()
}
