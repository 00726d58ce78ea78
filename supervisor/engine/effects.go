package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/prompts"
)

// launch starts the process of a launch. The engine learns of the child before its first message.
func (e *engine) launch(f effect.Effect) func(context.Context) result {
	s, a, l := e.state, e.state.Agents.Get(f.Agent), e.state.Launch(f.Agent)
	escalated := e.escalated
	if !s.Abilities().TakesInput { // it cannot be told before its end that a question file is not there: the person is
		escalated = func(string) bool { return true }
	}
	c := &child{
		Listener: listen.Listener{Agent: a.ID, Launch: l.N,
			Signals: listen.NewSignalReader(a.ID, s.FormerIDs(a.ID), escalated)}, liveness: liveness{begun: time.Now()},
		known: make(chan struct{}), gone: make(chan struct{}),
	}
	return func(context.Context) result {
		process, lost, err := e.Processes.Start(s, a.ID, func(m procs.Message) {
			select {
			case <-c.known:
			case <-e.done:
				return
			}
			select {
			case e.messages <- childMessage{child: c, message: m}:
			case <-e.done:
			}
		})
		if err != nil {
			return result{event: notStarted(f, err)}
		}
		c.process = process
		return result{
			finish: func() supervisor.Event {
				e.children[a.ID] = c
				c.process.Expect(e.state.Expected(a.ID))
				close(c.known)
				if lost != "" && l.N == 1 {
					e.tell(c, notice.Notification{Type: notice.Progress, Trouble: true, Text: lost})
				}
				at, notAt := c.process.At()
				e.log.Info().Str("agent", a.ID).Int("launch", l.N).Str("at", at).Str("not_at", notAt).Msg("started")
				if notAt != "" {
					e.tell(c, notice.Notification{Type: notice.Progress, Text: supervisor.Restated(notAt)})
				}
				return supervisor.Started{Agent: a.ID, Launch: l.N, PID: c.process.PID(),
					StartTicks: c.process.StartTicks(), At: at, NotAt: notAt}
			},
			undo: func() { c.process.End(context.Background(), procs.Kill) },
		}
	}
}

func notStarted(f effect.Effect, err error) supervisor.Ended {
	return supervisor.Ended{
		Agent: f.Agent, Launch: f.Launch, Outcome: "never ran",
		Failure: procs.Failure{Kind: procs.NotStarted, Reason: err.Error()},
	}
}

// end ends a process in the way that the record of its launch says.
func (e *engine) end(f effect.Effect) func(context.Context) result {
	l := e.state.Launch(f.Agent)
	how := supervisor.Endings[l.End]
	if l.End == supervisor.EndFinish && e.state.Config.KeepProcesses {
		how |= procs.KeepProcesses
	}
	return e.escalate(e.children[f.Agent], how)
}

// sweep ends what a process that is gone has left behind.
func (e *engine) sweep(f effect.Effect) func(context.Context) result {
	return e.escalate(e.children[f.Agent], procs.Park)
}

// escalate ends a process by the stop ladder, and all that it left behind. It does nothing where there is no child: it
// has been swept, and the news of its end waits behind what a person has said meanwhile.
func (e *engine) escalate(c *child, how procs.Ending) func(context.Context) result {
	if c == nil {
		return func(context.Context) result { return result{} }
	}
	return func(ctx context.Context) result {
		survivors := c.process.End(ctx, how)
		if !e.knowsExit(c) {
			return result{}
		}
		return result{finish: func() supervisor.Event {
			if e.children[c.Agent] == c { // another end of this launch may have been faster, and the next one begun
				delete(e.children, c.Agent)
			}
			return readExit(&c.Listener, survivors)
		}}
	}
}

// recover ends what is left of a launch of an earlier supervisor.
func (e *engine) recover(f effect.Effect) func(context.Context) result {
	marker := procs.Marker{Run: e.run, Agent: f.Agent, Launch: f.Launch}
	return func(context.Context) result {
		if err := e.Processes.Sweep(marker); err != nil {
			e.log.Error().Err(err).Msg("sweep")
		}
		return result{event: supervisor.Ended{Agent: f.Agent, Launch: f.Launch, Outcome: "lost with its supervisor"}}
	}
}

// knowsExit waits until the engine has read the process's exit; false if it ended before.
func (e *engine) knowsExit(c *child) bool {
	select {
	case <-c.gone:
		return true
	case <-e.done:
		return false
	}
}

// deliver writes a delivery to the process.
func (e *engine) deliver(f effect.Effect) func(context.Context) result {
	c, d := e.children[f.Agent], e.state.Deliveries.Get(f.Delivery)
	sent := supervisor.Sent{UUID: d.UUID, Launch: d.Launch}
	late := supervisor.Event(sent)
	changed := e.looksDifferent(d)
	if changed {
		e.tell(c, notice.Notification{Type: notice.Progress, Text: "not done although it was allowed: " +
			"the file has changed since the call was shown; the agent is told to make it again"})
	}
	if d.Tool != nil { // the news that it was withdrawn may be on its way
		late = supervisor.AskCancelled{Agent: f.Agent, Launch: d.Launch, Request: d.Tool.Request}
	}
	images := pictures(d.Agent, d.Images)
	return e.write(c, func() error {
		if len(d.Results) > 0 {
			return c.process.SendResults(d.UUID, callResults(d))
		}
		if d.Tool == nil {
			return c.process.Send(d.UUID, d.Text, images...)
		}
		var r ask.Reply
		if err := json.Unmarshal(d.Reply, &r); err != nil {
			return err
		}
		if d.Tool.Served {
			return c.process.Return(d.Tool.Request, r.Message, false, images...)
		}
		if r.Action != "" {
			return c.process.Elicit(d.Tool.Request, r.Action, r.Content)
		}
		if changed {
			return c.process.Deny(d.Tool.Request, prompts.ChangedSince, false)
		}
		if r.Behavior == supervisor.Allow {
			return c.process.Allow(d.Tool.Request, r.UpdatedInput)
		}
		return c.process.Deny(d.Tool.Request, r.Message, false)
	}, sent, late)
}

// looksDifferent reports whether a delivery allows a call that would be shown otherwise now than when a person was
// asked: Claude Code makes a change also of a file that has changed since (2.1.329 and newer), or of one that is there
// by now. What cannot be looked at is taken for different.
func (e *engine) looksDifferent(d *supervisor.Delivery) bool {
	if d.Tool == nil || len(d.Groups) != 1 {
		return false
	}
	q := e.state.Questions.Get(d.Groups[0])
	if q == nil || q.ByRule || !ask.Permits(q) {
		return false
	}
	folder := e.state.Folder(d.Agent)
	site := ask.CallSite{Folder: folder, Cwd: cmp.Or(d.Tool.Cwd, folder)}
	if site.Cwd == checkpoints.ElsewhereUnknown {
		site.Cwd = ""
	}
	now, err := read(&e.disk, func() (ask.CallView, error) {
		return e.Files.Look(d.Tool.Name, d.Tool.Input, site), nil
	})
	return err != nil || !strings.HasPrefix(q.Context, now.Preview)
}

// gate replies to the Stop hook.
func (e *engine) gate(f effect.Effect) func(context.Context) result {
	c, block := e.children[f.Agent], e.state.Launch(f.Agent).Gate.Block
	replied := supervisor.GateReplied{Agent: f.Agent, Launch: f.Launch, Request: f.Request}
	return e.write(c, func() error { return c.process.Gate(f.Request, block) }, replied, replied)
}

// reply replies to a call of a tool of ours that nobody has to be asked about.
func (e *engine) reply(f effect.Effect) func(context.Context) result {
	c, l := e.children[f.Agent], e.state.Launch(f.Agent)
	r := l.Replies[l.ReplyAt(f.Request)]
	if child := e.children[r.Child]; child != nil {
		r.Text += prompts.LastOutput(child.Output)
	}
	replied := supervisor.Replied{Agent: f.Agent, Launch: f.Launch, Request: f.Request}
	return e.write(c, func() error { return c.process.Return(r.Request, r.Text, r.IsError) }, replied, replied)
}

// mergeAgain is how long to wait before findings are merged again that a full disk did not take.
const mergeAgain = 5 * time.Second

// merge merges the findings of a run that has ended; once more, after a while.
func (e *engine) merge(f effect.Effect) func(context.Context) result {
	s := e.state
	return func(ctx context.Context) result {
		if s.Run.Merged != nil && !sleep(ctx, mergeAgain) {
			return result{}
		}
		return result{event: e.Merge(ctx, s, f)}
	}
}

// survey writes the checkpoint of an ended launch: what a new conversation would need, should this one be gone.
func (e *engine) survey(f effect.Effect) func(context.Context) result {
	s, c := e.state, &listen.Listener{Agent: f.Agent, Launch: f.Launch,
		Signals: listen.NewSignalReader(f.Agent, e.state.FormerIDs(f.Agent), e.escalated)}
	return func(ctx context.Context) result {
		b, unread := e.Survey(ctx, s, f, c)
		return result{finish: func() supervisor.Event {
			for _, s := range unread {
				if !s.Foreign {
					b.Unread = append(b.Unread, e.named(f.Agent, s, c.Talk.From(s)))
				}
			}
			for _, m := range c.Refused {
				if refused, _ := e.readRefused(c, m); refused != nil {
					b.Refused = append(b.Refused, *refused)
				}
			}
			return b
		}}
	}
}

// notify returns a question's one notice.
func (e *engine) notify(f effect.Effect) func(context.Context) result {
	q, tell := e.state.Questions.Get(f.Question), e.command("of "+f.Question)
	return func(ctx context.Context) result {
		e.Notify(ctx, q)
		return result{event: supervisor.NotificationSent{Question: q.ID, Problem: tell(ctx, notice.Asking(q))}}
	}
}

// announcePatience is how long the person's own command is given.
const announcePatience = 30 * time.Second

// announce tells the person's own command how the run is left. A command that fails changes nothing of that.
func (e *engine) announce(effect.Effect) func(context.Context) result {
	s, tell := e.state, e.command("how the run is left")
	return func(ctx context.Context) result {
		return result{event: supervisor.Announced{Leaving: s.Run.Leaving,
			Problem: tell(ctx, supervisor.EndNotice(s, e.Now()))}}
	}
}

// command returns what tells the person's own command of something, if there is one, and reports why that failed. It is
// called in the engine's own goroutine; what it returns blocks.
func (e *engine) command(what string) func(context.Context, notice.Notification) (problem string) {
	command := e.state.Config.Notify
	switch {
	case len(command) == 0:
		return func(context.Context, notice.Notification) string { return "" }
	case !e.toldUntil.IsZero() && !time.Now().Before(e.toldUntil):
		return func(context.Context, notice.Notification) string {
			return fmt.Sprintf("%v; it was not told %s", errNoTime, what)
		}
	}
	return func(ctx context.Context, n notice.Notification) string {
		ctx, cancel := context.WithTimeoutCause(ctx, announcePatience, fmt.Errorf("it took longer than %v", announcePatience))
		defer cancel()
		switch err := e.Announce(ctx, command, n); {
		case err == nil:
			return ""
		case ctx.Err() != nil: // it was killed
			return fmt.Sprintf("%v; it may not have told %s", err, what)
		default:
			return err.Error()
		}
	}
}

// write writes to the process, which gives event; late, if the process does not wait for it any more. Where writing
// fails the process is dying, and its end tells what follows: the effect then stays in flight until the end is known,
// so that it is not begun again and again.
func (e *engine) write(c *child, do func() error, event, late supervisor.Event) func(context.Context) result {
	return func(context.Context) result {
		switch err := do(); {
		case errors.Is(err, procs.ErrNotWaiting):
			return result{event: late}
		case err != nil:
			e.knowsExit(c)
			return result{}
		}
		return result{event: event}
	}
}
