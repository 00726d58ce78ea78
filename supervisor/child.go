package supervisor

import (
	"context"
	"crypto/rand"
	"encoding/json"
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
	agent    string
	launch   int
	process  *procs.Process
	ears     ears
	talk     conversation
	pulse    pulse
	output   io.Closer
	result   procs.Result  // the last
	toolUses int           // of the turn under way, its subagents' included
	exit     *procs.Exit   // set once the process is gone
	known    chan struct{} // closed when the engine knows the child: its messages wait for that
	gone     chan struct{} // closed with exit
}

// hear takes one message of a child.
func (e *engine) hear(ctx context.Context, h heard) error {
	if err := e.hearOne(ctx, h); err != nil {
		return err
	}
	return e.besides(ctx, h.child)
}

func (e *engine) hearOne(ctx context.Context, h heard) error {
	c := h.child
	if err := e.stirred(ctx, c, h.message); err != nil {
		return err
	}
	found := c.ears.hear(h.message)
	c.talk.hear(h.message)
	if len(e.unowned) > 0 {
		if err := e.names(ctx, c, said(h.message)); err != nil {
			return err
		}
	}
	switch m := h.message.(type) {
	case procs.Init:
		if l := e.state.live(c.agent); l != nil && (!l.Turn || !l.Heard || l.TurnDue) {
			return e.apply(ctx, TurnBegun{Agent: c.agent, Launch: c.launch, Version: m.Version})
		}
	case procs.Text:
		e.tell(c, Notice{Type: TextSaid, Text: m.Text, Prose: prose(m.Text, found), Subagent: c.talk.tasks[m.Parent]})
		return e.signals(ctx, c, found)
	case procs.Raw:
		if text := strings.TrimRight(m.Text, "\r\n"); strings.TrimSpace(text) != "" {
			e.tell(c, Notice{Type: TextSaid, Text: text, Prose: prose(text, found)})
		}
		return e.signals(ctx, c, found)
	case procs.ToolUse:
		c.toolUses++
		if !strings.HasPrefix(m.Name, procs.ToolPrefix) { // what comes of a call of ours is told in its own way
			e.tell(c, Notice{Type: Progress, Text: doing(m), Subagent: c.talk.tasks[m.Parent]})
		}
		if clash := e.edits.edited(e.state, c, m); clash != "" {
			e.tell(c, Notice{Type: Progress, Trouble: true, Text: clash})
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
		c.result = m
		if err := e.signals(ctx, c, found); err != nil {
			return err
		}
		uses := c.toolUses
		c.toolUses = 0
		return e.apply(ctx, TurnEnded{ToolUses: uses,
			Agent: c.agent, Launch: c.launch, Failure: procs.Classify(m, nil), CostUSD: m.CostUSD,
			InputTokens: m.InputTokens, OutputTokens: m.OutputTokens, Turns: m.NumTurns, Resets: resets(procs.Classify(m, nil)),
		})
	case procs.Usage:
		if e.state.bounded() {
			return e.apply(ctx, spent(c, m))
		}
	case procs.Receipt:
		if state, ok := receipts[m.State]; ok {
			return e.apply(ctx, Received{UUID: m.UUID, State: state})
		}
	case procs.Ask:
		asked, err := asking(m, e.state.folder(c.agent))
		asked.Agent, asked.Launch, asked.Naming = c.agent, c.launch, e.naming(asked.Kind, asked.Questions, asked.Rule)
		asked.Call = checkpoints.ToolCall{
			Launch: c.launch, Request: m.Request, ToolUse: m.ToolUse, Name: m.Name, Input: m.Input, From: caller(m.From),
		}
		if err != nil {
			asked.Refused, asked.Call.Input = err.Error(), json.RawMessage("{}") // its own may be of any size, and is of no use
		}
		return e.apply(ctx, asked)
	case procs.Call:
		return e.call(ctx, c, m)
	case procs.AskCancelled:
		return e.apply(ctx, AskCancelled{Agent: c.agent, Launch: c.launch, Request: m.Request})
	case procs.StopHook:
		return e.apply(ctx, gateAsked(c, m))
	case procs.Background:
		if l, now := e.state.live(c.agent), tasks(m.Tasks); l != nil && !slices.Equal(l.Background, now) {
			return e.apply(ctx, BackgroundChanged{Agent: c.agent, Launch: c.launch, Tasks: now})
		}
	case procs.Retry:
		e.tell(c, Notice{Type: Progress, Trouble: true, Text: retrying(m)})
		if wantsRoom(m.Status) && e.strain.refused(c.agent, now()) {
			return e.apply(ctx, Pressed{By: "the API refuses requests of several agents"})
		}
	case procs.Activity:
		if m.Text != "" {
			e.tell(c, Notice{Type: Progress, Text: m.Text})
		}
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

// said gives what an agent says or does in a message, as one text.
func said(m procs.Message) string {
	switch m := m.(type) {
	case procs.Text:
		return m.Text
	case procs.Raw:
		return m.Text
	case procs.ToolUse:
		return string(m.Input)
	case procs.ToolResult:
		return m.Text
	}
	return ""
}

// receipts names what the CLI says of a message as the state of its delivery.
var receipts = map[string]checkpoints.DeliveryState{
	"started":   checkpoints.DeliveryStarted,
	"completed": checkpoints.DeliveryDelivered,
	"cancelled": checkpoints.DeliveryDelivered, // its turn failed; the conversation has it
}

// gateAsked reads the Stop hook, with what the scanner would make of the turn if it ended now.
func gateAsked(c *child, m procs.StopHook) GateAsked {
	g := GateAsked{
		Agent: c.agent, Launch: c.launch, Request: m.Request, Transcript: m.Transcript,
		Background: tasks(m.Background), WakeUps: m.Crons, Untold: c.talk.untold,
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

// tasks gives what a process says of its background work as it is recorded.
func tasks(said []procs.Task) []checkpoints.Task {
	var kept []checkpoints.Task
	for _, t := range said {
		kept = append(kept, checkpoints.Task(t))
	}
	return kept
}

// signals takes what the scanner found.
func (e *engine) signals(ctx context.Context, c *child, found []signals.Signal) error {
	for _, s := range found {
		for _, p := range s.Problems {
			e.log.Info().Str("agent", c.agent).Str("code", p.Code).Int("line", p.Line).Msg(p.Message)
		}
		switch {
		case s.Foreign:
			what := "a signal with another agent's id (" + s.AgentID + ")"
			if s.AgentID == c.agent || s.AgentID == "" {
				what = "a signal whose fields are placeholders"
			}
			e.tell(c, Notice{Type: Progress, Text: what + " is not acted on"})
		default:
			if s.Kind == signals.Progress || s.Kind == signals.Message {
				e.tell(c, Notice{Type: Progress, Text: spoken(s)})
			}
			if err := e.apply(ctx, Heard{Agent: c.agent, Launch: c.launch, Named: e.named(c.agent, s)}); err != nil {
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
		e.tell(c, Notice{Type: Progress, Text: spoken(sig)})
	}
	named := Named{Signal: sig}
	if kind, qs := asks(sig); len(qs) > 0 {
		named.Naming = e.naming(kind, qs, "")
	}
	return e.apply(ctx, Called{
		Agent: c.agent, Launch: c.launch, Named: named,
		Call: checkpoints.ToolCall{
			Launch: c.launch, Request: m.Request, ToolUse: m.ToolUse, Name: m.Name, Input: m.Input, Served: true, From: caller(m.From),
		},
	})
}

// besides notices, while a question waits in a call, when something else of the agent begins or ends: the process is held for
// the person from the moment on in which all of it waits.
func (e *engine) besides(ctx context.Context, c *child) error {
	if b, changed := besides(e.state, c); changed {
		return e.apply(ctx, b)
	}
	return nil
}

// besides tells whether something else of a child is at work while a question waits in a call, and whether that is news.
func besides(s State, c *child) (b Besides, changed bool) {
	l := s.live(c.agent)
	if l == nil || l.N != c.launch || len(c.talk.calls) == 0 && !l.Besides {
		return b, false
	}
	waiting := map[string]bool{}
	for _, q := range s.open(c.agent) {
		if q.Tool != nil && s.held(q) != nil {
			waiting[q.Tool.ToolUse] = true
		}
	}
	atWork := len(waiting) > 0 && l.Turn && c.talk.atWorkBesides(waiting)
	return Besides{Agent: c.agent, Launch: c.launch, AtWork: atWork}, atWork != l.Besides
}

// toolResult takes the result of a call: that of an answered one is the receipt of its answer. What the CLI writes itself
// in the place of a result is none.
func (e *engine) toolResult(ctx context.Context, c *child, m procs.ToolResult) error {
	if m.BrokenOff {
		return nil
	}
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
	n.State, n.Who = e.state.Agents[c.agent], e.state.who(c.agent)
	e.say(n)
}

// naming gives questions their ids, and the answers that were given in advance: for each the preset whose key names
// it most exactly, among those that it can take. rule is the one that they offer.
func (e *engine) naming(kind checkpoints.QuestionKind, qs []signals.Question, rule string) Naming {
	n := Naming{IDs: make([]string, len(qs)), Presets: make([]Preset, len(qs))}
	if kind == checkpoints.AskDelegation {
		n.Child = newAgent()
	}
	for i, q := range qs {
		n.IDs[i] = checkpoints.NewID("q-", rand.Reader)
		best := 0
		for _, p := range e.state.Config.Answers {
			fit := p.names(q)
			if fit <= best || p.FromFile && !writable(kind) {
				continue
			}
			asked := newQuestion(kind, q)
			asked.Rule = rule
			value, err := e.Choose(asked, p.Value)
			if err != nil {
				e.say(Notice{Time: now(), Run: e.run, Type: Progress, Trouble: true, Text: p.by() + " does not answer it: " + err.Error()})
				continue
			}
			best, n.Presets[i] = fit, Preset{Key: p.Key, Value: value, By: p.By, FromFile: p.FromFile}
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
