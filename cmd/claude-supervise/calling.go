package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"claude-supervise/cmd/internal/notify"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/view"
)

// A caller calls a person who may be looking elsewhere: by the terminal's bell, on the desktop, and by the command of
// --notify. The zero caller calls nobody.
type caller struct {
	on      bool
	banner  []string // the command that shows a banner; nil: there is no desktop
	broken  atomic.Bool
	printer *terminal.Printer
	log     zerolog.Logger
	answer  func(ctx context.Context, id string, a client.Answer) error

	looked  sync.Once
	pressed bool // the desktop has buttons

	mu      sync.Mutex
	open    []*supervisor.Question
	buttons map[string]context.CancelFunc // banners that stand with their buttons, by question
	shown   sync.WaitGroup
}

// byButton names who has answered on the desktop.
const byButton = "a button on the desktop"

// newCaller makes the caller of a session. On the desktop it calls for a run that is somebody's at a terminal, or was
// detached from there; never for one in a pipe.
func newCaller(off bool, self string, p *terminal.Printer, log zerolog.Logger,
	answer func(ctx context.Context, id string, a client.Answer) error) *caller {
	c := &caller{on: !off, printer: p, log: log, answer: answer, buttons: map[string]context.CancelFunc{}}
	if c.on && (terminal.IsTerminal(os.Stderr) || inBackground()) && notify.HasDesktop(os.Getenv) {
		c.banner = []string{self, bannerCommand}
	}
	return c
}

// bannerPatience is how long a desktop may take to show a banner: the next question is told of only then.
const bannerPatience = 5 * time.Second

// call tells of a question, with how to answer it.
func (c *caller) call(ctx context.Context, q *supervisor.Question) {
	b := notify.Banner{Title: "claude-supervise asks", Urgent: q.Urgent}
	if q.Urgent {
		b.Title = "Urgent: " + b.Title
	}
	how := " Answer: " + view.AnswerCommand(q)
	text := q.ID + ": " + q.Text
	for i, o := range q.Options {
		text += fmt.Sprintf(" %d) %s", i+1, o.Label)
	}
	b.Body = terminal.CleanLine(text, notify.MaxBody-len(how)) + how
	if c.rings() && offersButtons(q) && c.hasButtons(ctx) {
		for _, o := range q.Options {
			b.Buttons = append(b.Buttons, o.Label)
		}
		c.stand(ctx, q, b)
		return
	}
	c.show(ctx, b)
}

// offersButtons reports whether a question can be answered by a button: what is to be chosen stands in the banner as it
// is, and has nothing done.
func offersButtons(q *supervisor.Question) bool {
	for _, o := range q.Options {
		if !notify.FitsButton(o.Label) {
			return false
		}
	}
	return supervisor.OnlyTells(q) && !q.MultiSelect && len(q.Options) > 0 && len(q.Options) <= notify.MaxButtons
}

// hasButtons reports whether the desktop has buttons, which is looked for once.
func (c *caller) hasButtons(ctx context.Context) bool {
	c.looked.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, bannerPatience)
		defer cancel()
		c.pressed = notify.HasButtons(ctx)
	})
	return c.pressed
}

// waitedLong is how long a question was open when its agent is parked, for a person to be called again.
const waitedLong = time.Minute

// parked tells that nobody has answered while the process of an agent was held.
func (c *caller) parked(n supervisor.Notification) {
	c.mu.Lock()
	i := slices.IndexFunc(c.open, func(q *supervisor.Question) bool { return q.Agent == n.Agent })
	var q *supervisor.Question
	if i >= 0 {
		q = c.open[i]
	}
	c.mu.Unlock()
	if q == nil || n.Time.Sub(q.AskedAt) < waitedLong || !c.rings() {
		return
	}
	c.shown.Go(func() {
		c.show(context.Background(), notify.Banner{Title: "claude-supervise: parked, no process is running",
			Body: terminal.CleanLine(q.ID+": "+q.Text, notify.MaxBody/2) + " Answer: " + view.AnswerCommand(q)})
	})
}

// rings rings the terminal's bell, and reports whether a desktop may show something.
func (c *caller) rings() bool {
	if !c.on {
		return false
	}
	c.printer.Bell()
	return c.banner != nil && !c.broken.Load()
}

// show shows a banner. A desktop that fails or hangs is not tried again: what it would tell is told elsewhere, too.
func (c *caller) show(ctx context.Context, b notify.Banner) {
	if c.banner == nil || c.broken.Load() {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bannerPatience, errors.New("the desktop does not take it"))
	defer cancel()
	c.failed(ctx, notify.Send(ctx, c.banner, b))
}

func (c *caller) failed(ctx context.Context, err error) {
	if err != nil && !errors.Is(context.Cause(ctx), context.Canceled) {
		c.broken.Store(true)
		c.log.Info().Err(err).Msg("nothing more is shown on the desktop")
	}
}

// stand shows a banner with buttons, and takes the answer that one gives. It stands until its question is closed.
func (c *caller) stand(ctx context.Context, q *supervisor.Question, b notify.Banner) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.mu.Lock()
	c.buttons[q.ID] = cancel
	c.mu.Unlock()
	c.shown.Go(func() {
		defer cancel()
		pressed, err := notify.Ask(ctx, c.banner, b)
		if err != nil || pressed < 0 || pressed >= len(q.Options) {
			c.failed(ctx, err)
			return
		}
		answer := client.Answer{Text: q.Options[pressed].Label, By: byButton}
		if err := c.answer(ctx, q.ID, answer); err != nil {
			c.log.Info().Err(err).Str("question", q.ID).Msg("a button came too late")
		}
	})
}

// closed takes away the banners of questions that are not open any more.
func (c *caller) closed(open []*supervisor.Question) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = open
	still := map[string]bool{}
	for _, q := range open {
		still[q.ID] = true
	}
	for id, cancel := range c.buttons {
		if !still[id] {
			cancel()
			delete(c.buttons, id)
		}
	}
}

// left tells how a run was left, and takes all banners away that could answer it.
func (c *caller) left(ctx context.Context, out supervisor.Outcome) {
	c.closed(nil)
	c.shown.Wait()
	if out.Run == nil || out.Code == supervisor.ExitInterrupted || out.Code == supervisor.ExitStopped || !c.rings() {
		return // who has interrupted or stopped it knows
	}
	title, body := endBanner(out)
	c.show(ctx, notify.Banner{Title: title, Body: body})
}

// endBanner says in a few words how a run was left: what it has made and measured, what to do next, how long it took
// and what it cost.
func endBanner(out supervisor.Outcome) (title, body string) {
	title = fmt.Sprintf("claude-supervise: %s %s", out.Run.ID, out.Run.Status)
	if open := out.Open(); out.Run.EndedAt == nil && len(open) > 0 {
		return title, fmt.Sprintf("%s Answer: %s, then: claude-supervise resume %s",
			terminal.CleanLine(open[0].Text, notify.MaxBody/2), view.AnswerCommand(open[0]), out.Run.ID)
	}
	took := ""
	if out.Run.EndedAt != nil {
		took = terminal.Duration(out.Run.EndedAt.Sub(out.Run.StartedAt)) + ", "
	}
	cost := 0.0
	for _, a := range out.State.Agents {
		cost += a.CostUSD
	}
	parts := []string{took + terminal.Money(cost)}
	part := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, name+terminal.CleanLine(text, notify.MaxBody/4))
		}
	}
	if r := out.Root.Report; r != nil {
		part("", r.Summary)
		part("made: ", strings.Join(r.Files, ", "))
		part("measured: ", r.Metrics)
		part("next: ", r.Recommendations)
	} else {
		part("", view.Because(out.Run.Reason))
	}
	return title, strings.Join(parts, "; ")
}

// announce tells the person's own command of a question, or how a run is left.
func (c *caller) announce(ctx context.Context, command []string, n supervisor.Notification) error {
	if !c.on {
		return nil
	}
	return notify.Send(ctx, command, event(n))
}
