package supervisor

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/text"
)

// This file is check_work: an agent looks how those get on that it has started. With block the call returns once one of
// them has ended, after its timeout, or when a message for the caller comes, whichever is first. As the CLI's own
// TaskOutput it takes milliseconds.

const (
	checkWork        = "check_work" // it only asks: no signal
	usualCheckWait   = 30 * time.Second
	longestCheckWait = 10 * time.Minute
)

// checkWork takes a call of check_work.
func (d *transition) checkWork(a *Agent, l *Launch, call checkpoints.ToolCall) {
	var in struct {
		Agent   string  `json:"agent_id"`
		Block   bool    `json:"block"`
		Timeout float64 `json:"timeout"`
	}
	_ = json.Unmarshal(call.Input, &in) // what cannot be read asks for all
	wait := usualCheckWait
	if in.Timeout > 0 {
		wait = time.Duration(min(in.Timeout, float64(longestCheckWait.Milliseconds()))) * time.Millisecond
	}
	await := checkpoints.Await{Call: call, Agent: in.Agent, Until: d.at.Add(wait)}
	for _, c := range d.Children(a.ID) {
		if in.Block && !c.Status.Ended() && (in.Agent == "" || in.Agent == c.ID) {
			await.Children = append(await.Children, c.ID)
		}
	}
	if len(await.Children) == 0 {
		d.returnWork(a, l, await)
		return
	}
	l.AnswerAtOnce(checkpoints.Reply{Request: call.Request, Await: &await})
}

// awaitedWork is told in the call that waits for it.
var awaitedWork = concern{
	name: "awaited work",
	live: func(d *transition, of subject) bool {
		d.returnAwaited(of.Agent, of.launch)
		return false
	},
	plan: func(_ State, _ *Agent, l *Launch, so []effect.Effect) []effect.Effect {
		if !l.Works() {
			return so
		}
		for _, r := range l.Replies {
			if r.Await == nil {
				so = append(so, effect.Reply.OfRequest(l, r.Request))
				continue
			}
			e := effect.Timeout.OfRequest(l, r.Request)
			e.Until = r.Await.Until
			so = append(so, e)
		}
		return so
	},
}

// returnAwaited returns the calls of check_work that have waited long enough.
func (d *transition) returnAwaited(a *Agent, l *Launch) {
	message := slices.ContainsFunc(a.Outbox, func(s checkpoints.OutboxItem) bool { return d.steers(a, s) })
	for _, r := range l.Replies {
		if r.Await != nil && (message || slices.ContainsFunc(r.Await.Children, func(id string) bool {
			return d.Agents.Get(id).Status.Ended()
		})) {
			d.returnWork(a, l, *r.Await)
		}
	}
}

// returnWork returns a call of check_work. An end that the agent has not read yet reaches it by this, and is not said
// again; one that a subagent reads is.
func (d *transition) returnWork(a *Agent, l *Launch, await checkpoints.Await) {
	d.forget(l, await.Call.Request)
	ended := slices.Clone(await.Children)
	if await.Agent != "" {
		ended = append(ended, await.Agent)
	}
	written, isError := d.work(a, await.Agent, ended)
	var read []checkpoints.OutboxItem
	if await.Call.From == nil {
		a.Outbox = slices.DeleteFunc(slices.Clone(a.Outbox), func(s checkpoints.OutboxItem) bool {
			c := d.Agents.Get(s.From)
			end := c != nil && slices.Contains(ended, c.ID) && c.Status.Ended() && s.Key == c.EndKey()
			if end {
				read = append(read, s)
			}
			return end
		})
	}
	if len(read) > 0 {
		call := await.Call
		d.begin(a, l, delivering{key: fmt.Sprintf("checked %d %s", l.N, call.Request), tool: &call,
			reply: text.JSON(ask.Reply{Message: written}), messages: read})
		return
	}
	l.AnswerAtOnce(checkpoints.Reply{Request: await.Call.Request, Text: written, IsError: isError, Child: await.Agent})
}

// TimedOut says that a call of check_work has waited for as long as it wanted to.
type TimedOut struct {
	Agent   string
	Launch  int
	Request string
}

var _ = kind[TimedOut]("timed_out")

func (e TimedOut) apply(d *transition) error {
	l, err := d.current(e.Agent, e.Launch)
	if err != nil {
		return err
	}
	i := l.ReplyAt(e.Request)
	if i < 0 || l.Replies[i].Await == nil {
		return unwelcome("request %s does not wait any more", e.Request)
	}
	d.returnWork(d.agent(e.Agent), d.last(e.Agent), *l.Replies[i].Await)
	return nil
}
