package supervisor

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
)

// A child is the process of a launch, as the engine's goroutine knows it. What it holds is lost with the supervisor
// and needed by no other: what must last is in the records.
type child struct {
	agent   string
	launch  int
	process *procs.Process
	ears    ears
	output  io.Closer
	result  procs.Result  // the last
	exit    *procs.Exit   // set once the process is gone
	known   chan struct{} // closed when the engine knows the child: its messages wait for that
	gone    chan struct{} // closed with exit
}

// hear takes one message of a child.
func (e *engine) hear(ctx context.Context, h heard) error {
	c := h.child
	found := c.ears.hear(h.message)
	switch m := h.message.(type) {
	case procs.Init:
		if l := e.state.live(c.agent); l != nil && (!l.Turn || !l.Heard) {
			return e.apply(ctx, TurnBegun{Agent: c.agent, Launch: c.launch, Version: m.Version})
		}
	case procs.Text:
		e.tell(c, Notice{Type: TextSaid, Text: m.Text, Prose: prose(m.Text, found)})
		return e.signals(ctx, c, found)
	case procs.ToolUse:
		e.tell(c, Notice{Type: Progress, Text: doing(m)})
	case procs.ToolResult:
		if err := e.signals(ctx, c, found); err != nil {
			return err
		}
		return e.toolResult(ctx, c, m)
	case procs.Result:
		c.result = m
		if err := e.signals(ctx, c, found); err != nil {
			return err
		}
		return e.apply(ctx, TurnEnded{
			Agent: c.agent, Launch: c.launch, Failure: procs.Classify(m, nil), CostUSD: m.CostUSD,
			InputTokens: m.InputTokens, OutputTokens: m.OutputTokens,
		})
	case procs.Receipt:
		if state, ok := receipts[m.State]; ok {
			return e.apply(ctx, Received{UUID: m.UUID, State: state})
		}
	case procs.Ask:
		kind, qs := asking(m)
		return e.apply(ctx, Asked{
			Agent: c.agent, Launch: c.launch, Kind: kind, Questions: qs, Naming: e.naming(kind, qs),
			Call: checkpoints.ToolCall{Launch: c.launch, Request: m.Request, ToolUse: m.ToolUse, Name: m.Name, Input: m.Input},
		})
	case procs.AskCancelled:
		return e.apply(ctx, AskCancelled{Agent: c.agent, Launch: c.launch, Request: m.Request})
	case procs.StopHook:
		return e.apply(ctx, gate(c, m))
	case procs.Background:
		if l := e.state.live(c.agent); l != nil && !slices.Equal(l.Background, m.Tasks) {
			return e.apply(ctx, BackgroundChanged{Agent: c.agent, Launch: c.launch, Tasks: m.Tasks})
		}
	case procs.Retry:
		e.tell(c, Notice{Type: Progress, Trouble: true, Text: retrying(m)})
	case procs.Activity:
		e.tell(c, Notice{Type: Progress, Text: m.Text})
	case procs.Garbled:
		e.log.Warn().Str("agent", c.agent).Str("line", m.Line).Msg("not a line of the stream protocol")
	case procs.Exit:
		c.exit = &m
		close(c.gone)
		if err := errors.Join(c.process.LogErr(), c.output.Close()); err != nil {
			e.tell(c, Notice{Type: Progress, Trouble: true, Text: "the agent's log is not complete: " + err.Error()})
		}
		if l := e.state.live(c.agent); l != nil && l.N == c.launch && l.End == "" {
			e.start(ctx, Effect{Do: doSweep, Key: string(doSweep) + " " + c.agent, Agent: c.agent, Launch: c.launch})
		}
	}
	return nil
}

// receipts names what the CLI says of a message as the state of its delivery.
var receipts = map[string]checkpoints.DeliveryState{
	"started":   checkpoints.DeliveryStarted,
	"completed": checkpoints.DeliveryDelivered,
	"cancelled": checkpoints.DeliveryDelivered, // its turn failed; the conversation has it
}

// gate reads the Stop hook, with what the scanner would make of the turn if it ended now.
func gate(c *child, m procs.StopHook) GateAsked {
	g := GateAsked{
		Agent: c.agent, Launch: c.launch, Request: m.Request, Transcript: m.Transcript,
		Background: m.Background, WakeUps: m.Crons,
	}
	for _, s := range c.ears.scanner.AtEnd() {
		switch {
		case s.Foreign:
		case s.Kind == signals.Completion, s.Kind == signals.WorkflowComplete:
			g.Report = true
		case s.Kind == signals.Clarification, s.Kind == signals.Stop, s.Kind == signals.Delegate:
			g.Ask = true
		}
	}
	return g
}

// signals takes what the scanner found.
func (e *engine) signals(ctx context.Context, c *child, found []signals.Signal) error {
	for _, s := range found {
		for _, p := range s.Problems {
			e.log.Info().Str("agent", c.agent).Str("code", p.Code).Int("line", p.Line).Msg(p.Message)
		}
		switch {
		case s.Foreign:
			e.tell(c, Notice{Type: Progress, Text: "a signal with another agent's id (" + s.AgentID + ") is not acted on"})
		case s.Kind == signals.Progress, s.Kind == signals.Message:
			e.tell(c, Notice{Type: Progress, Text: spoken(s)})
		default:
			if err := e.apply(ctx, Heard{Agent: c.agent, Launch: c.launch, Named: e.named(s)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// toolResult takes the result of a call: that of an answered one is the receipt of its answer.
func (e *engine) toolResult(ctx context.Context, c *child, m procs.ToolResult) error {
	for _, d := range e.state.deliveries(c.agent, func(d *Delivery) bool {
		return d.Tool != nil && d.Tool.ToolUse == m.ToolUse && d.Launch == c.launch
	}) {
		if err := e.apply(ctx, Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered}); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) tell(c *child, n Notice) {
	n.Time, n.Run, n.Agent, n.Launch = now(), e.run, c.agent, c.launch
	n.State = e.state.Agents[c.agent]
	e.Tell(n)
}

// named gives a signal what its questions need.
func (e *engine) named(s signals.Signal) Named {
	kind, qs := asks(s)
	return Named{Signal: s, Naming: e.naming(kind, qs)}
}

// naming gives questions their ids, and the answers that were given in advance: for each the preset whose key names
// it most exactly, among those that it can take.
func (e *engine) naming(kind checkpoints.QuestionKind, qs []signals.Question) Naming {
	n := Naming{IDs: make([]string, len(qs)), Presets: make([]Preset, len(qs))}
	for i, q := range qs {
		n.IDs[i] = checkpoints.NewID("q-", rand.Reader)
		best := 0
		for _, p := range e.state.Config.Answers {
			fit := p.names(q)
			if fit <= best {
				continue
			}
			value, err := e.Choose(newQuestion(kind, q), p.Value)
			if err != nil {
				e.Tell(Notice{Time: now(), Run: e.run, Type: Progress, Trouble: true, Text: p.by() + " does not answer it: " + err.Error()})
				continue
			}
			best, n.Presets[i] = fit, Preset{Key: p.Key, Value: value, By: p.By}
		}
	}
	return n
}

// prose is what is left of a text for people without the signals, which are shown in their own way.
func prose(text string, found []signals.Signal) string {
	for _, s := range found {
		if !s.Foreign && s.Raw != "" {
			text = strings.Replace(text, s.Raw, "", 1)
		}
	}
	return strings.TrimSpace(text)
}
