package asking

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// Flags are what `answer` takes beside a value.
type Flags struct {
	service.Answer
	Resume, AsJSON bool
	assumed        bool
	why            string
	images         []string // files
}

// Add adds the flags of every `answer`. wrong says what is wrong with flags.
func (f *Flags) Add(cmd *cobra.Command, wrong func(*cobra.Command, error) error) {
	fl := cmd.Flags()
	fl.BoolVar(&f.Skip, "skip", false, "continue without an optional question")
	fl.BoolVar(&f.assumed, "assumed", false, "accept what the agent has assumed meanwhile")
	fl.StringVar(&f.why, "decline", "", "decline to answer, and tell the agent `WHY`")
	fl.BoolVar(&f.AllLike, "all-like", false, "answer all similar questions of the run, also later ones")
	fl.StringArrayVar(&f.images, "image", nil, "show the agent the image in `FILE`, too (repeatable)")
	fl.BoolVar(&f.AsJSON, "json", false, "print the saved answer as a JSON object")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if unknown := new(pflag.NotExistError); errors.As(err, &unknown) {
			err = fmt.Errorf("%w; an answer that begins with - is given behind --, as in: answer ID -- -1", err)
		}
		return wrong(cmd, err)
	})
}

// Shows reports whether images go with the answer.
func (f Flags) Shows() bool { return len(f.images) > 0 }

// An Answering is how questions are answered by a command, wherever they are.
type Answering struct {
	Prompt
	Program string // how a person calls the program
	// Meant finds the question that arguments name, and what is left of them as the answer; nil if none is open.
	Meant func(ctx context.Context, args []string) (q *view.QuestionView, typed string, named service.Named, err error)
	// Asks says which questions are asked on a terminal, where arguments, one at most, name no question; asks: any are.
	Asks func(ctx context.Context, args []string) (w Wanted, asks bool, err error)
	// Stdin is the answer that is given there.
	Stdin func() (string, error)
	// Said is an answer that was kept, for people, and JSON for programs.
	Said func(k service.Kept, a service.Answer) string
	JSON func(k service.Kept, a service.Answer) any
	// GoOn lets a run that has got an answer go on, or says how; nil: it does by itself.
	GoOn func(ctx context.Context, run string, unasked bool) error
}

// Run answers what the arguments name, or asks it on the terminal.
func (by Answering) Run(cmd *cobra.Command, args []string, f Flags) error {
	ctx, tty := cmd.Context(), terminal.IsTerminal(os.Stdin) && terminal.IsTerminal(os.Stderr)
	if cmd.Flags().Changed("decline") {
		f.Decline = &f.why
	}
	f.By = by.With.By
	by.With = f.Answer
	asks := tty && !f.Skip && f.Decline == nil && !f.AsJSON && !f.assumed && len(f.images) == 0
	if asks && len(args) <= 1 {
		if w, asks, err := by.Asks(ctx, args); err != nil || asks {
			return errors.Join(err, by.ask(ctx, w, asks, f))
		}
	}
	for _, file := range f.images {
		image, err := client.ReadPicture(file)
		if err != nil {
			return exitcode.Usage("%w; nothing was kept", err)
		}
		f.Images = append(f.Images, image)
	}
	q, typed, named, err := by.Meant(ctx, args)
	switch {
	case err != nil:
		return err
	case q == nil && f.Decline != nil:
		return exitcode.Usage("no question is open, so there is none to decline; nothing was kept")
	case q == nil:
		return terminal.Print(func(p *terminal.Printer) error { return p.Result("No question is open.") })
	case q.Run == "" && f.Resume && !q.Session.Ended():
		return exitcode.Usage("question %s belongs to no run: it is neither skipped nor resumed", q.ID)
	case strings.TrimSpace(typed) == "" && asks:
		w := Wanted{Only: q.ID}
		if f.Change {
			w.Again = q
		}
		err := service.Fits(by.Program, *q, f.Answer)
		return errors.Join(err, by.ask(ctx, w, err == nil, f))
	case f.assumed && (typed != "" || f.Skip || f.Decline != nil):
		return exitcode.Usage("--assumed is the answer: leave VALUE, --skip and --decline out")
	case f.assumed && q.Assumption == "":
		return exitcode.Usage("question %s assumes nothing: its agent waits for the answer; nothing was kept", q.ID)
	case f.assumed:
		typed = questions.AsAssumed
	case typed == "-":
		if typed, err = by.Stdin(); err != nil {
			return err
		}
	}
	f.Named, f.Screen = named, tty || f.Decline != nil && named != service.NamedByNone
	if typed != "" || !f.Skip && f.Decline == nil {
		f.Typed = &typed
	}
	return by.give(ctx, q.ID, f)
}

// ask asks on the terminal until nothing is open or the person leaves, and then lets the runs go on that got answers.
func (by Answering) ask(ctx context.Context, w Wanted, asks bool, f Flags) error {
	if !asks {
		return nil
	}
	runs, err := Ask(ctx, by.Prompt, w)
	for _, run := range runs {
		err = errors.Join(err, by.goOn(ctx, run, f.Resume))
	}
	return err
}

// give gives a question its answer, says so, and lets its run go on.
func (by Answering) give(ctx context.Context, id string, f Flags) error {
	kept, err := by.Service.Answer(ctx, id, f.Answer)
	if err != nil {
		return Refused(by.Program, kept, f.Answer, err)
	}
	if kept.Failed != nil {
		return kept.Failed
	}
	err = terminal.Print(func(p *terminal.Printer) error {
		if f.AsJSON {
			return p.JSON(by.JSON(kept, f.Answer))
		}
		return p.Said(by.Said(kept, f.Answer))
	})
	if err != nil || f.AsJSON && !f.Resume {
		return err
	}
	return by.goOn(ctx, kept.Question.Run, f.Resume)
}

func (by Answering) goOn(ctx context.Context, run string, unasked bool) error {
	if run == "" || by.GoOn == nil {
		return nil
	}
	return by.GoOn(ctx, run, unasked)
}
