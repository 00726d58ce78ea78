// Package notices tells a person who may be looking elsewhere what their runs ask, and how they are left. A way to tell
// them is a file of this package and a row of channels; one by the network is a file and a row of notify.Networks.
//
// The person's own command (--notify) is none of them: the engine has it told, and keeps in the database what it was.
package notices

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"claude-supervise/cmd/internal/config"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/view"
)

// A channel is one way to tell a person. Its methods are called one after the other, and block for a moment at most,
// but for left.
type channel interface {
	// begin says which run it is about. It comes first.
	begin(run string)
	// told is the one notice of a question.
	told(ctx context.Context, q *supervisor.Question)
	// open has all questions that are asked now, whenever that has changed. What is told of others is withdrawn. What is
	// told by itself, and not once for all supervisors of a run, is told here.
	open(asked []*supervisor.Question)
	// parked tells that nobody has answered a question for long, and its agent is parked.
	parked(q *supervisor.Question)
	// left takes back what could still be answered, tells how the run is left, and ends the telling. It may block, within
	// a bound of the channel's own. The end is nil where the person knows: it is they who have stopped or left the run.
	left(end *ending)
}

// silent does nothing of what a channel does.
type silent struct{}

func (silent) begin(string)                               {}
func (silent) told(context.Context, *supervisor.Question) {}
func (silent) open([]*supervisor.Question)                {}
func (silent) parked(*supervisor.Question)                {}
func (silent) left(*ending)                               {}

// channels are the ways to tell a person, each made of what they have set up; nil where that one is not to be used.
var channels = []func(Person) (channel, error){bell, desktop, network}

// A Person is whom a run belongs to, and what there is to reach them by.
type Person struct {
	Client  client.Client
	Config  config.Config
	URL     string            // --notify-url: in the place of the channels by the network that the config has
	Secrets map[string]string // of the channels by the network, from the environment
	Screen  bool              // the run is somebody's at a terminal, or was detached from there
	Banner  []string          // the command that shows a banner (Show)
	Printer *terminal.Printer
	Log     zerolog.Logger
	Event   func(notice.Notification) any // a notice as programs read it
}

// Channels are all by which a person is told. The zero Channels tell nobody.
type Channels struct {
	all []channel

	mu    sync.Mutex
	asked []*supervisor.Question
}

// Open makes the channels of a person. The error is one of usage: nothing was begun.
func Open(p Person) (*Channels, error) {
	c := &Channels{}
	for _, of := range channels {
		one, err := of(p)
		if err != nil {
			return nil, err
		}
		if one != nil {
			c.all = append(c.all, one)
		}
	}
	return c, nil
}

// Begin says which run it is about.
func (c *Channels) Begin(run string) {
	for _, one := range c.all {
		one.begin(run)
	}
}

// Told gives a question its one notice.
func (c *Channels) Told(ctx context.Context, q *supervisor.Question) {
	for _, one := range c.all {
		one.told(ctx, q)
	}
}

// Open takes the questions that are asked now.
func (c *Channels) Open(asked []*supervisor.Question) {
	c.mu.Lock()
	c.asked = asked
	c.mu.Unlock()
	for _, one := range c.all {
		one.open(asked)
	}
}

// waitedLong is how long a question was open when its agent is parked, for a person to be called again.
const waitedLong = time.Minute

// Parked takes the notice that an agent is parked: nobody has answered while its process was held.
func (c *Channels) Parked(n notice.Notification) {
	c.mu.Lock()
	i := slices.IndexFunc(c.asked, func(q *supervisor.Question) bool { return q.Agent == n.Agent })
	var q *supervisor.Question
	if i >= 0 {
		q = c.asked[i]
	}
	c.mu.Unlock()
	if q == nil || n.Time.Sub(q.AskedAt) < waitedLong {
		return
	}
	for _, one := range c.all {
		one.parked(q)
	}
}

// Left tells how a run is left, and ends all telling. It blocks for the slowest channel, within that one's bound.
func (c *Channels) Left(out supervisor.Outcome) {
	var end *ending
	if out.Run != nil && out.Code != exit.Interrupted && out.Code != exit.Stopped {
		end = endingOf(out)
	}
	var last sync.WaitGroup
	for _, one := range c.all {
		last.Go(func() { one.left(end) })
	}
	last.Wait()
}

// An ending is how a run is left.
type ending struct {
	supervisor.Outcome
	title, body string // in a few words
}

// endingOf says how a run is left: what it has made and measured, what to do next, how long it took and what it cost.
func endingOf(out supervisor.Outcome) *ending {
	end := &ending{Outcome: out, title: fmt.Sprintf("claude-supervise: %s %s", out.Run.ID, out.Run.Status)}
	if open := out.Open(); out.Run.EndedAt == nil && len(open) > 0 {
		end.body = fmt.Sprintf("%s Answer: %s, then: claude-supervise resume %s",
			terminal.CleanLine(open[0].Text, maxBody/2), view.AnswerCommand(open[0]), out.Run.ID)
		return end
	}
	took := ""
	if out.Run.EndedAt != nil {
		took = terminal.Duration(out.Run.EndedAt.Sub(out.Run.StartedAt)) + ", "
	}
	cost := 0.0
	for a := range out.State.Agents.Values() {
		cost += a.CostUSD
	}
	parts := []string{took + terminal.Money(cost)}
	part := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, name+terminal.CleanLine(text, maxBody/4))
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
	end.body = strings.Join(parts, "; ")
	return end
}
