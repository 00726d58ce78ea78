package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/images"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

// Start starts the process of a launch.
func (e *simEngine) Start(s supervisor.State, agent string, read func(procs.Message)) (p Process,
	lost string, err error) {
	a, l := s.Agents.Get(agent), s.Launch(agent)
	if !e.waits(fmt.Sprintf("launch %s %d", agent, l.N), func() {
		if e.w.nature.absent() {
			err = fmt.Errorf("no such file")
			return
		}
		started := e.w.exec(s, a, l)
		started.read = read
		started.isPlaced(s)
		if !s.Abilities().TakesInput {
			started.isGiven(s.PromptOf(agent, l.N))
		}
		p = simHandle{e, started}
	}) {
		err = context.Canceled
	}
	return p, "", err
}

// Sweep ends what is left of a launch.
func (e *simEngine) Sweep(m procs.Marker) error {
	e.waits(fmt.Sprintf("recover %s %d", m.Agent, m.Launch), func() {
		for _, p := range e.w.processes {
			if p.agent == m.Agent && p.launch == m.Launch && !p.dead && !e.w.subject.spares {
				p.killed()
			}
		}
	})
	return nil
}

// A simHandle is a process as the engine has it in its hands.
type simHandle struct {
	e *simEngine
	p *simProcess
}

func (h simHandle) PID() int                    { return h.p.pid }
func (h simHandle) StartTicks() uint64          { return uint64(h.p.pid) }
func (h simHandle) CPU() (time.Duration, error) { return 0, nil }
func (h simHandle) Close() error                { return nil }

// writes puts something on the process's stdin; asked is the request that it answers, "" if it answers none.
func (h simHandle) writes(in simInput, asked string) (err error) {
	if !h.e.waits("write to "+h.p.name()+" "+in.uuid+asked, func() {
		switch {
		case asked != "" && !h.p.asking[asked]:
			err = procs.ErrNotWaiting
		case h.p.dead:
			err = errDying
		default:
			delete(h.p.asking, asked)
			h.p.stdin = append(h.p.stdin, in)
		}
	}) {
		err = errDying
	}
	return err
}

func (h simHandle) Send(uuid, text string, _ ...procs.Image) error {
	return h.writes(simInput{uuid: uuid, text: text}, "")
}

func (h simHandle) SendResults(uuid string, results []procs.CallResult) error {
	return h.writes(simInput{uuid: uuid, results: results}, "")
}

func (h simHandle) At() (line, whyNot string) {
	if len(h.p.at) > 0 {
		line = h.p.w.lineOf(h.p.at[0])
	}
	return line, h.p.notAt
}

func (h simHandle) Allow(request string, input json.RawMessage) error {
	return h.replies(request, ask.Reply{Behavior: supervisor.Allow, UpdatedInput: input})
}

func (h simHandle) Deny(request, message string, _ bool) error {
	return h.replies(request, ask.Reply{Behavior: supervisor.Deny, Message: message})
}

func (h simHandle) Elicit(request, action string, content json.RawMessage) error {
	return h.replies(request, ask.Reply{Action: action, Content: content})
}

func (h simHandle) replies(request string, r ask.Reply) error {
	return h.writes(simInput{request: request, reply: text.JSON(r)}, request)
}

func (h simHandle) Return(request, returned string, _ bool, _ ...procs.Image) error {
	return h.writes(simInput{request: request, reply: text.JSON(returned)}, request)
}

func (h simHandle) Gate(request, block string) error {
	return h.writes(simInput{gate: request, text: block}, request)
}

func (h simHandle) Expect(calls []string) { h.p.expected = calls }

// End ends the process by the stop ladder.
func (h simHandle) End(ctx context.Context, how procs.Ending) []procs.Survivor {
	p, key := h.p, fmt.Sprintf("end %s %d", h.p.name(), how)
	over := func() bool { return p.dead || p.stuck() }
	gently := how == procs.Kill
	switch how {
	case procs.Finish:
		gently = h.e.until(ctx, key, nil, func() { p.eof = true }) && h.e.until(ctx, key, over, nil)
	case procs.Stop:
		gently = h.e.until(ctx, key, nil, func() { p.stdin = append(p.stdin, simInput{interrupt: true}) }) &&
			h.e.until(ctx, key, func() bool { return p.turn == nil || over() }, nil)
	case procs.Park:
		gently = true
	}
	if gently && how != procs.Kill && h.e.until(ctx, key, nil, func() { p.term = true }) &&
		h.e.until(ctx, key, func() bool { return p.dead }, nil) {
		return nil
	}
	h.e.waits("kill "+p.name(), p.killed)
	return nil
}

// executors are the effects that look at files, transcripts and folders.
func (e *simEngine) executors() Executors {
	return Executors{
		Survey: e.survey, Confirm: e.confirm, Check: e.check, Place: e.place, Tidy: e.tidy, Merge: e.merge,
		Prepare: func(_ context.Context, _ supervisor.State, f effect.Effect, b supervisor.Prepared) supervisor.Prepared {
			e.waits(f.Key, nil)
			return b
		},
		Run: e.runCommand,
		Moment: func(_ context.Context, _ supervisor.State, f effect.Effect) supervisor.MomentKept {
			e.waits(f.Key, nil)
			return supervisor.MomentKept{Question: f.Question, Moment: "moment of " + f.Question}
		},
	}
}

// transcript returns the conversation that a launch was in; nil if it left none, as a command does.
func (e *simEngine) transcript(a *supervisor.Agent, l *supervisor.Launch) *talk {
	if !e.real.state.Abilities().KeepsTranscript {
		return nil
	}
	if l.Transcript != "" {
		return e.w.talks[l.Transcript]
	}
	return e.w.talks[a.SessionID]
}

func (e *simEngine) confirm(_ context.Context, s supervisor.State, f effect.Effect) supervisor.Confirmed {
	b := supervisor.Confirmed{UUID: f.Delivery}
	d, a, l := s.Deliveries.Get(f.Delivery), s.Agents.Get(f.Agent), s.Launch(f.Agent)
	e.waits(f.Key, func() {
		switch t := e.transcript(a, l); {
		case t == nil:
		case d.Tool != nil:
			b.Found, b.Hook = t.answered(d.Tool.ToolUse), t.decided(d.Tool.ToolUse)
		case d.File != "":
			b.Found = t.taken(prompts.InLine(prompts.AnswersInOne(s.Group(d.Groups[0]))))
		case len(d.Results) > 0:
			b.Found = t.replied(d, e.w.truth.spoke[processName(a.ID, d.Launch)])
		default:
			b.Found = t.has(d.UUID)
		}
	})
	return b
}

func (e *simEngine) survey(_ context.Context, s supervisor.State, f effect.Effect,
	c *listen.Listener) (b supervisor.Surveyed, found []signals.Signal) {
	a, l := s.Agents.Get(f.Agent), s.Launch(f.Agent)
	prompts := s.FindDeliveries(a.ID, func(d *supervisor.Delivery) bool { return d.Launch == l.N && d.Prompt() })
	b = supervisor.Surveyed{Agent: a.ID, Launch: f.Launch, Checkpoint: "Files you wrote: schema.sql"}
	var t *talk
	e.waits(f.Key, func() {
		t = e.transcript(a, l)
		for _, q := range s.AskedIn(l) {
			sub := *q.AskedBy()
			sub.Done, sub.Interrupted = "It had read.", t == nil || !t.ended(sub.ToolUse)
			if b.Subagents == nil {
				b.Subagents = map[string]checkpoints.Subagent{}
			}
			b.Subagents[q.ID] = sub
		}
		if t != nil {
			for _, call := range s.Undecided(l) {
				if by := t.decided(call); by != nil {
					if b.ByHook == nil {
						b.ByHook = map[string]*procs.HookDecision{}
					}
					b.ByHook[call] = by
				}
			}
			t = &talk{entries: slices.Clone(t.entries)}
		}
	})
	if t != nil && s.Abilities().KeepsTranscript && l.End == supervisor.EndRecover && len(prompts) > 0 {
		found, b.After, b.Whole = t.unheard(prompts, c) // which looks for question files
	}
	return b, found
}

func (e *simEngine) check(_ context.Context, s supervisor.State, f effect.Effect) supervisor.Checked {
	b := supervisor.Checked{Agent: f.Agent, Part: f.Part}
	e.waits(f.Key, func() {
		if slices.ContainsFunc(task.Due(s.Agents.Get(f.Agent), f.Part),
			func(d task.Deliverable) bool { return d.Path == neverMade }) {
			b.Missing = []string{neverMade}
		}
	})
	return b
}

// runCommand is the machine's; what a command does is nobody's business here, but that it begins once.
func (e *simEngine) runCommand(ctx context.Context, s supervisor.State, f effect.Effect) supervisor.RanCommand {
	q := s.Questions.Get(f.Question)
	b := supervisor.RanCommand{Question: q.ID, Ran: checkpoints.Ran{Epoch: q.Ran.Epoch, Done: true, Exit: "exit 0"}}
	if q.Ran.Epoch != s.Run.Epoch {
		b.Ran.Exit = "cut off"
		e.waits(f.Key, nil)
		return b
	}
	e.waits(f.Key, func() { e.w.truth.ran(e.w, q) })
	if !e.until(ctx, f.Key+" ends", nil, nil) {
		b.Ran.Exit = "it was ended"
	}
	return b
}

// Look, Locate and Keep are of the files that agents name.
func (e *simEngine) Look(tool string, input json.RawMessage, _ ask.CallSite) ask.CallView {
	return seen(tool, input)
}
func (e *simEngine) Stat(string) error { return nil }

func (e *simEngine) Locate(path, _ string) string { return path }

// KeepImage finds any image.
func (e *simEngine) KeepImage(_ supervisor.State, _, path string) (checkpoints.Image, error) {
	return checkpoints.Image{Hash: images.Hash([]byte(path)), Name: path, Type: "image/png", Width: 1, Height: 1,
		Bytes: 1}, nil
}

// Keep finds no checkpoint.
func (e *simEngine) Keep(supervisor.State, string, string, string) (*checkpoints.Checkpoint, error) {
	return nil, fmt.Errorf("no such file")
}
