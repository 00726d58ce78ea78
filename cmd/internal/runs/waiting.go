package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// errOne ends a wait for any of several once there is one.
var errOne = errors.New("one is enough")

// errTimedOut ends a wait that has taken as long as the person allowed.
var errTimedOut = errors.New("the time is up")

// A Waiting is how runs and agents are waited for.
type Waiting struct {
	Program       Program
	Limit         time.Duration // 0: they are looked at once
	Any, Question bool          // until there is one of them; a question ends the wait for its run, too
	AsJSON        bool

	// How runs of elsewhere were left; nil: as this machine has it of its own.
	Code func(view.Awaited) int    // what the wait exits with
	JSON func(view.Awaited) any    // what programs are printed
	Next func(view.Awaited) string // what to type where one has not ended
}

// Flags adds the flags of a wait.
func (w *Waiting) Flags(fl *pflag.FlagSet) {
	fl.BoolVar(&w.Any, "any", false, "wait only for the first of them")
	fl.BoolVar(&w.Question, "question", false, "also stop waiting when a question is open")
	fl.DurationVar(&w.Limit, "timeout", 0, "wait at most this `DURATION`; 0 checks once (default: no limit)")
}

// Limited reads the limit once the flags are parsed. Its error is one of usage.
func (w *Waiting) Limited(fl *pflag.FlagSet) error {
	switch {
	case !fl.Changed("timeout"):
		w.Limit = math.MaxInt64
	case w.Limit < 0:
		return exitcode.Usage("--timeout takes a duration like 90s or 2h, or 0 to look once, not %s", w.Limit)
	}
	return nil
}

// An Awaiter is what runs are waited for by: a view.Reader, or what follows those of other machines. Both look at all
// nodes at least once, and block until each was given, each gives an error, or ctx ends, whose cause is then the error.
type Awaiter interface {
	// AwaitEach gives each node once it goes on no more. asks is given one that goes on while a question of it is open.
	AwaitEach(ctx context.Context, nodes []view.Node, each func(view.Awaited) error, asks func(view.Awaited)) error
	// AwaitQuestion gives a node as soon as a question of it is open, too.
	AwaitQuestion(ctx context.Context, nodes []view.Node, each func(view.Awaited) error) error
}

// For waits for nodes, and says of each how it was left. Its error is the exit code, the worst of theirs, or that it
// could not be waited.
func (w Waiting) For(ctx context.Context, s Awaiter, nodes []view.Node) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	limited, cancel := context.WithTimeoutCause(ctx, w.Limit, errTimedOut)
	defer cancel()

	code := supervisor.ExitSuccess
	var waited error
	written := terminal.Print(func(p *terminal.Printer) error {
		asks := w.asks(p)
		await := func(ctx context.Context, nodes []view.Node, each func(view.Awaited) error) error {
			return s.AwaitEach(ctx, nodes, each, asks)
		}
		if w.Question {
			await = s.AwaitQuestion
		}
		var wrote error
		waited = await(limited, nodes, func(a view.Awaited) error {
			nodes = slices.DeleteFunc(nodes, func(n view.Node) bool { return n == a.Node })
			if !w.Question || len(a.Open()) == 0 {
				code = view.WorseCode(code, w.code(a))
			}
			if wrote = w.tell(p, a); wrote != nil || !w.Any {
				return wrote
			}
			return errOne
		})
		switch {
		case wrote != nil:
			waited = nil
			return wrote
		case errors.Is(waited, errOne):
			waited = nil
		case ctx.Err() != nil:
			waited, code = nil, supervisor.ExitInterrupted
		case errors.Is(waited, errTimedOut):
			waited, code = nil, supervisor.ExitTimedOut
			p.Notice(fmt.Sprintf("Still active: %s. See: %s ps", strings.Join(names(nodes), ", "), w.Program))
		}
		return nil
	})
	switch {
	case waited != nil || written != nil:
		return errors.Join(waited, written)
	case code != supervisor.ExitSuccess:
		return exitcode.Error(code)
	}
	return nil
}

// asks gives what tells a person at a terminal, once of each question, that somebody waits for an answer: the wait goes
// on for as long as nobody gives one.
func (w Waiting) asks(p *terminal.Printer) func(view.Awaited) {
	told := map[string]bool{}
	return func(a view.Awaited) {
		if w.AsJSON || !terminal.IsTerminal(os.Stderr) {
			return
		}
		for _, q := range a.Open() {
			if !told[q] {
				told[q] = true
				p.Notice(fmt.Sprintf("%s waits for an answer: %s answer %s", cmp.Or(a.Agent, a.Run), w.Program, q))
			}
		}
	}
}

// tell says how one was left.
func (w Waiting) tell(p *terminal.Printer, a view.Awaited) error {
	switch {
	case w.AsJSON && w.JSON != nil:
		return p.JSON(w.JSON(a))
	case w.AsJSON:
		return p.JSON(InJSON(a))
	}
	if open := a.Open(); w.Question && len(open) > 0 {
		p.Notice(fmt.Sprintf("Answer with:\n  %s answer %s VALUE", w.Program, open[0]))
		return p.Result(fmt.Sprintf("%s asks %s", cmp.Or(a.Agent, a.Run), strings.Join(open, ", ")))
	}
	next := w.Program.NextFor
	if w.Next != nil {
		next = w.Next
	}
	if next := next(a); next != "" {
		defer p.Notice(next)
	}
	return p.Result(StateOf(a))
}

func (w Waiting) code(a view.Awaited) int {
	if w.Code != nil {
		return w.Code(a)
	}
	return a.Code()
}

func names(nodes []view.Node) []string {
	var ids []string
	for _, n := range nodes {
		ids = append(ids, cmp.Or(n.Agent, n.Run))
	}
	return ids
}
