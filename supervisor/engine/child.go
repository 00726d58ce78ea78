package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/questions"
)

// A child is the process of a launch, as the engine's goroutine knows it. What it holds is lost with the supervisor
// and needed by no other: what must last is in the records.
type child struct {
	listen.Listener
	process  Process
	liveness liveness
	known    chan struct{} // closed when the engine knows the child: its messages wait for that
	gone     chan struct{} // closed with the listener's exit
}

// read takes one message of a child.
func (e *engine) read(ctx context.Context, h childMessage) error {
	if err := e.readOne(ctx, h); err != nil {
		return err
	}
	return e.busyElsewhere(ctx, h.child)
}

func (e *engine) readOne(ctx context.Context, h childMessage) error {
	c := h.child
	if err := e.recordActivity(ctx, c, h.message); err != nil {
		return err
	}
	found := c.Signals.Read(h.message)
	c.Talk.Read(h.message)
	c.Printed(h.message)
	if len(e.unowned) > 0 {
		if err := e.names(ctx, c, listen.Said(h.message)); err != nil {
			return err
		}
	}
	switch m := h.message.(type) {
	case procs.Init:
		if l := e.state.Live(c.Agent); l != nil && (!l.Phase.InTurn() || !l.Begun) {
			due := l.Phase == checkpoints.LaunchTurnDue
			c.Unasked = !l.Phase.InTurn() && !e.state.SaysTo(c.Agent)
			err := e.apply(ctx, supervisor.TurnBegun{Agent: c.Agent, Launch: c.Launch, Version: m.Version, Unasked: c.Unasked,
				Types: m.Agents[:min(len(m.Agents), supervisor.MaxAgentTypes)]})
			if err == nil && c.Unasked {
				e.tell(c, notice.Notification{Type: notice.Progress, Text: listen.UnaskedTurn(due, c.WakeUp)})
			}
			c.WakeUp = ""
			return err
		}
	case procs.WakeUp:
		c.WakeUp = m.Source
	case procs.Peer:
		return e.sessionMessage(ctx, c, readPeer(&c.Listener, m))
	case procs.Text:
		e.tell(c, notice.Notification{Type: notice.TextSaid, Text: m.Text,
			Prose: c.Signals.Prose(m, found), Subagent: c.Talk.Tasks[m.Parent]})
		return e.signals(ctx, c, found)
	case procs.Raw:
		if text := strings.TrimRight(m.Text, "\r\n"); strings.TrimSpace(text) != "" {
			e.tell(c, notice.Notification{Type: notice.TextSaid, Text: text,
				Prose: c.Signals.Prose(m, found)})
		}
		return e.signals(ctx, c, found)
	case procs.ToolUse:
		c.ToolUses++
		if a := e.state.Agents.Get(c.Agent); claude.StartsSubagent(m.Name) && a != nil && !a.Subagents {
			if err := e.apply(ctx, supervisor.SubagentStarted{Agent: c.Agent, Launch: c.Launch}); err != nil {
				return err
			}
		}
		if !strings.HasPrefix(m.Name, claude.ToolPrefix) { // what comes of a call of ours is told in its own way
			e.tell(c, notice.Notification{Type: notice.Progress, Text: listen.Doing(m),
				Subagent: c.Talk.Tasks[m.Parent]})
		}
		if clash := e.edits.edited(e.state, &c.Listener, m, e.Files.Locate); clash != "" {
			e.tell(c, notice.Notification{Type: notice.Progress, Trouble: true, Text: clash})
		}
		if sent, is := supervisor.ReadSent(e.state.Config, &c.Listener, m); is {
			if err := e.sessionMessage(ctx, c, sent); err != nil {
				return err
			}
		}
		return e.signals(ctx, c, found)
	case procs.ToolResult:
		if err := e.signals(ctx, c, found); err != nil {
			return err
		}
		return e.toolResult(ctx, c, m)
	case procs.Result:
		if m.AsksNobody() {
			return nil // the turn of which it is the notice goes on, or is about to begin
		}
		c.Result = m
		if len(found) == 0 && !m.IsError {
			found = c.Signals.ClosingQuestion()
		}
		if err := e.signals(ctx, c, found); err != nil {
			return err
		}
		uses, origin := c.ToolUses, listen.OriginOf(m, c.Unasked)
		c.ToolUses, c.Unasked = 0, false
		return e.apply(ctx, supervisor.TurnEnded{ToolUses: uses,
			Agent: c.Agent, Launch: c.Launch, Failure: claude.Classify(m, nil), CostUSD: m.CostUSD,
			InputTokens: m.InputTokens, OutputTokens: m.OutputTokens, CacheRead: m.CacheRead,
			CacheCreation: m.CacheCreation, ServiceTier: m.ServiceTier,
			Turns: m.NumTurns, Origin: origin, Resets: resets(claude.Classify(m, nil), e.Now()),
		})
	case procs.Usage:
		if e.state.Bounded() {
			return e.apply(ctx, readUsage(&c.Listener, m))
		}
	case procs.Receipt:
		if state, ok := listen.Receipts[m.State]; ok {
			return e.apply(ctx, supervisor.Received{UUID: m.UUID, State: state})
		}
	case procs.PromptRefused:
		refused := supervisor.PromptRefused{UUID: m.UUID, Reason: m.Reason}
		if err := e.apply(ctx, refused); err != nil {
			return err
		}
		e.tell(c, notice.Notification{Type: notice.Progress, Trouble: true, Text: refused.String()})
	case procs.Ask:
		asked, err := e.readAsk(&c.Listener, m)
		asked.Beside = supervisor.AtWorkBeside(e.state, &c.Listener, m.ToolUse)
		if err != nil {
			asked.Refused, asked.Call.Input = err.Error(), json.RawMessage("{}") // its own may be of any size, and is of no use
		}
		return e.apply(ctx, asked)
	case procs.Call:
		return e.call(ctx, c, m)
	case procs.AskCancelled:
		return e.apply(ctx, supervisor.AskCancelled{Agent: c.Agent, Launch: c.Launch, Request: m.Request})
	case procs.StopHook:
		if err := e.signals(ctx, c, found); err != nil {
			return err
		}
		return e.apply(ctx, readStopHook(&c.Listener, m))
	case procs.Background:
		if err := e.signals(ctx, c, found); err != nil {
			return err
		}
		if l, now := e.state.Live(c.Agent), listen.Tasks(m.Tasks); l != nil && !slices.Equal(l.Background, now) {
			return e.apply(ctx, supervisor.BackgroundChanged{Agent: c.Agent, Launch: c.Launch, Tasks: now})
		}
	case procs.Retry:
		e.tell(c, notice.Notification{Type: notice.Progress, Trouble: true, Text: listen.Retrying(m),
			APIStatus: m.Status})
		if supervisor.WantsRoom(m.Status) && e.backpressure.Refused(c.Agent, e.Now()) {
			return e.apply(ctx, supervisor.Throttled{By: supervisor.APIRefuses})
		}
	case procs.Refused:
		return e.refused(ctx, c, m)
	case procs.Activity:
		if m.Text != "" {
			e.tell(c, notice.Notification{Type: notice.Progress, Text: m.Text})
		}
	case procs.Garbled:
		e.log.Warn().Str("agent", c.Agent).Str("line", m.Line).Msg("not a line of the stream protocol")
	case procs.Exit:
		c.Exit = &m
		close(c.gone)
		if err := c.process.Close(); err != nil {
			e.tell(c, notice.Notification{Type: notice.Progress, Trouble: true,
				Text: "the agent's log is not complete: " + err.Error()})
		}
		if l := e.state.Live(c.Agent); l != nil && l.N == c.Launch && l.End == "" {
			// That of an earlier process may still be in flight: another end of it may have been faster.
			e.start(ctx, effect.Effect{Do: effect.Sweep,
				Key: fmt.Sprintf("%s %s %d", effect.Sweep, c.Agent, c.Launch), Agent: c.Agent, Launch: c.Launch}, nil)
		}
	}
	return nil
}

// readAsk reads what a call asks, or would have asked that was refused. The error is for the model: why nobody is
// asked.
func (e *engine) readAsk(c *listen.Listener, m procs.Ask) (supervisor.Asked, error) {
	site := ask.CallSite{Folder: e.state.Folder(c.Agent), Cwd: m.Cwd}
	asked, err := read(&e.disk, func() (supervisor.Asked, error) {
		return supervisor.ParseAsk(m, func(tool string, input json.RawMessage) ask.CallView {
			return e.Files.Look(tool, input, site)
		})
	})
	asked.Agent, asked.Launch = c.Agent, c.Launch
	asked.Naming = e.naming(c.Agent, asked.Kind, asked.Questions, asked.Rule)
	asked.Call = checkpoints.ToolCall{
		Launch: c.Launch, Request: m.Request, ToolUse: m.ToolUse, Name: m.Name, Input: m.Input,
		From: listen.SubagentOf(m.From), Cwd: asked.Call.Cwd, Line: m.Line,
	}
	return asked, err
}

// refused tells of a call that claude has refused by itself, and has a person asked about it who wants that.
func (e *engine) refused(ctx context.Context, c *child, m procs.Refused) error {
	event, unasked := e.readRefused(&c.Listener, m)
	said := listen.Refusal(m)
	if unasked != "" {
		said += "; " + unasked
	}
	e.tell(c, notice.Notification{Type: notice.Progress, Trouble: true, Text: said})
	if event == nil {
		return nil
	}
	return e.apply(ctx, *event)
}

// readRefused reads a call that claude has refused by itself; nil if that is only told, and then why nobody is asked,
// "" if nobody wants to be.
func (e *engine) readRefused(c *listen.Listener, m procs.Refused) (event *supervisor.CallRefused, unasked string) {
	unasked, counts := e.state.RefusedUnasked(c.Agent, m)
	if !counts {
		return nil, unasked
	}
	event = &supervisor.CallRefused{Agent: c.Agent, Launch: c.Launch, ToolUse: m.ToolUse, Why: m.Why}
	if unasked != "" {
		return event, unasked
	}
	call := *m.Call
	call.Reason = "claude has refused it: " + m.Why
	asked, err := e.readAsk(c, call)
	switch {
	case err != nil:
		return nil, err.Error()
	case !supervisor.Allowable(asked.Questions):
		return nil, "not all of it can be shown, so you are not asked"
	}
	event.Call, event.Questions, event.Naming = &asked.Call, asked.Questions, asked.Naming
	return event, ""
}

// sessionMessage records a message between the agent and another session of the person, and tells it.
func (e *engine) sessionMessage(ctx context.Context, c *child, m supervisor.SessionMessage) error {
	if err := e.apply(ctx, m); err != nil {
		return err
	}
	e.tell(c, notice.Notification{Type: notice.Progress, Text: m.String()})
	return nil
}

// signals takes what the scanner found.
func (e *engine) signals(ctx context.Context, c *child, found []signals.Signal) error {
	for _, s := range found {
		for _, p := range s.Problems {
			e.log.Info().Str("agent", c.Agent).Str("code", p.Code).Int("line", p.Line).Msg(p.Message)
		}
		switch {
		case s.Foreign:
			what := "a signal with another agent's id (" + s.AgentID + ")"
			switch {
			case s.AgentID == c.Agent || s.AgentID == "":
				what = "a signal whose fields are placeholders"
			case s.Kind != signals.Progress && s.Kind != signals.Message:
				c.Foreign = s.AgentID
			}
			if !e.state.Abilities().UsesOurID && c.Foreign == s.AgentID {
				what += " is ignored; if it is this agent's own, give --accept-id"
			} else {
				what += " is ignored"
			}
			e.tell(c, notice.Notification{Type: notice.Progress, Text: what})
		default:
			if s.Kind == signals.Progress || s.Kind == signals.Message {
				e.tell(c, notice.Notification{Type: notice.Progress, Text: listen.Spoken(s),
					Subagent: c.Talk.Tasks[string(s.By)]})
			}
			if err := e.apply(ctx,
				supervisor.SignalRead{Agent: c.Agent, Launch: c.Launch, Named: e.named(c.Agent, s, c.Talk.From(s))}); err != nil {
				return err
			}
		}
	}
	return nil
}

// call takes a call of a tool of ours.
func (e *engine) call(ctx context.Context, c *child, m procs.Call) error {
	sig, _ := signals.Served(m.Name, m.Input) // check_work is no signal
	if sig.Kind == signals.Progress || sig.Kind == signals.Message {
		e.tell(c, notice.Notification{Type: notice.Progress, Text: listen.Spoken(sig), Subagent: m.From.Task})
	}
	named := supervisor.Named{Signal: sig}
	if kind, qs := supervisor.ParseQuestions(sig); len(qs) > 0 {
		named.Naming = e.naming(c.Agent, kind, qs, "")
	}
	return e.apply(ctx, supervisor.Called{
		Agent: c.Agent, Launch: c.Launch, Named: named,
		Call: checkpoints.ToolCall{
			Launch: c.Launch, Request: m.Request, ToolUse: m.ToolUse, Name: m.Name, Input: m.Input, Served: true,
			From: listen.SubagentOf(m.From), Line: m.Line,
		},
	})
}

// busyElsewhere notices, while a question waits in a call, when something else of the agent begins or ends: the process
// is held for the person from the moment on in which all of it waits.
func (e *engine) busyElsewhere(ctx context.Context, c *child) error {
	if b, changed := supervisor.CheckBusyElsewhere(e.state, &c.Listener); changed {
		return e.apply(ctx, b)
	}
	return nil
}

// toolResult takes the result of a call: that of an answered one is the receipt of its answer. What the CLI writes
// itself in the place of a result is none.
func (e *engine) toolResult(ctx context.Context, c *child, m procs.ToolResult) error {
	if e.state.DecidedElsewhere(c.Agent, m) {
		return e.apply(ctx, supervisor.DecidedByHook{Agent: c.Agent, ToolUse: m.ToolUse, Hook: m.Hook})
	}
	if m.BrokenOff {
		return nil
	}
	for _, q := range e.state.FindQuestionsOf(c.Agent, func(q *supervisor.Question) bool {
		return questions.KindOf(q.Kind).Server && q.IsOpen() && q.Index == 0 &&
			q.Tool.Launch == c.Launch && q.Tool.ToolUse == m.ToolUse
	}) { // the server has gone on without an answer
		cancelled := supervisor.AskCancelled{Agent: c.Agent, Launch: c.Launch, Request: q.Tool.Request}
		if err := e.apply(ctx, cancelled); err != nil {
			return err
		}
	}
	for _, d := range e.state.FindDeliveries(c.Agent, func(d *supervisor.Delivery) bool {
		return d.Tool != nil && d.Tool.ToolUse == m.ToolUse && d.Launch == c.Launch
	}) {
		if err := e.apply(ctx, supervisor.Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered}); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) tell(c *child, n notice.Notification) {
	n.Time, n.Run, n.Agent, n.Launch = e.Now(), e.run, c.Agent, c.Launch
	n.State, n.Who = e.state.Agents.Get(c.Agent), e.state.Who(c.Agent)
	e.say(n)
}

// resets is when a usage limit ends, as far as claude's words for it can be read. A time of day is in the zone of this
// machine.
func resets(f procs.Failure, now time.Time) *time.Time {
	if !f.IsLimit() {
		return nil
	}
	if at, ok := claude.ResetTime(f.Reset, now.Local()); ok {
		at = at.UTC()
		return &at
	}
	return nil
}
