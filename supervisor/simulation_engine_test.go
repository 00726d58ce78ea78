package supervisor

import (
	"errors"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
)

// A simEngine does what the engine does. Where that has a select, here is a choice; where that has a goroutine, here
// is a flight.
type simEngine struct {
	w           *simulation
	state       State
	seq         int64
	pid         int
	inflight    map[string]*flight
	order       []*flight            // of inflight, and those whose results nobody has taken
	children    map[string]*simChild // by agent
	heard       []*simChild          // all that may still say something
	interrupted bool
	rung        bool
}

// A simChild is a child and the process that is one in this world.
type simChild struct {
	*child
	process *simProcess
	known   bool
}

// supervise takes the run over, or begins it.
func (w *simulation) supervise(state State, opened Opened) {
	e := &simEngine{
		w: w, state: state, seq: int64(len(w.disk.events)), inflight: map[string]*flight{}, children: map[string]*simChild{},
	}
	w.ids++
	e.pid = w.ids
	w.engine = e
	w.door.reopened()
	w.do(move{name: "a supervisor takes the run over", do: func() {
		if state.Run == nil {
			e.apply(w.nature.created())
		}
		opened.PID, opened.Bell, opened.Notes = e.pid, "/tmp/bell", w.disk.unread(e.state.Taken)
		opened.Named = e.notesNamed(opened.Notes)
		e.apply(opened)
		e.carryOut()
	}})
}

// moves lists what the engine's loop could take next, and what goes on beside it.
func (e *simEngine) moves(moves []move) []move {
	for _, f := range e.order {
		switch {
		case f.done():
			moves = append(moves, move{"the engine takes the result of " + f.key, 4, func() { e.takes(f) }})
		case f.ready():
			moves = append(moves, move{f.key, 4, f.proceed})
		}
	}
	for _, c := range e.heard {
		if c.known && len(c.process.out) > 0 {
			moves = append(moves, move{"the engine hears its child", 6, func() { e.hears(c) }})
		}
	}
	if len(e.w.disk.unread(e.state.Taken)) > 0 {
		weight := 1 // within a minute it looks by itself
		if e.rung {
			weight = 4
		}
		moves = append(moves, move{"the engine looks at its inbox", weight, func() {
			e.rung = false
			e.takeInbox()
			e.carryOut()
		}})
	}
	return moves
}

func (e *simEngine) takes(f *flight) {
	e.order = slices.DeleteFunc(e.order, func(o *flight) bool { return o == f })
	if e.inflight[f.key] == f {
		delete(e.inflight, f.key)
	}
	if f.finish != nil {
		if body := f.finish(); body != nil {
			e.apply(body)
		}
	}
	e.carryOut()
}

func (e *simEngine) hears(c *simChild) {
	m := c.process.out[0]
	c.process.out = c.process.out[1:]
	e.hear(c, m)
	e.carryOut()
}

// carryOut is the engine's.
func (e *simEngine) carryOut() {
	plan := e.planned()
	keys := map[string]bool{}
	for _, effect := range plan {
		keys[effect.Key] = true
		if effect.Do == DoLeave {
			if len(e.inflight) > 0 {
				continue
			}
			e.apply(Left{})
			if e.state.Run.Left != "" {
				e.w.leave()
				return
			}
			e.carryOut()
			return
		}
		if e.inflight[effect.Key] == nil {
			e.start(effect)
		}
	}
	for key, f := range e.inflight {
		if !keys[key] {
			f.cancelled = true
		}
	}
}

// start begins an effect.
func (e *simEngine) start(effect Effect) {
	e.w.reached.deeds[effect.Do]++
	f := &flight{key: effect.Key}
	if act, ok := simDeeds[effect.Do]; ok {
		act(e, f, effect)
	} else {
		f.gives = true
		f.waits(func() bool { return false }) // nobody knows what it does: it goes when it is planned no more
	}
	e.inflight[effect.Key] = f
	e.order = append(e.order, f)
}

// apply is the engine's.
func (e *simEngine) apply(body Body) {
	for errors.Is(e.once(body), checkpoints.ErrInboxMoved) {
		e.takeInbox()
	}
}

func (e *simEngine) once(body Body) error {
	event := Event{At: e.w.wall, Body: body}
	before := e.state
	next, err := e.w.step(before, event)
	if errors.Is(err, ErrUnwelcome) {
		e.w.tell("     %s is unwelcome", describe(body))
		e.w.reached.unwelcome++
		return nil
	}
	e.w.must("Step refuses only what is unwelcome", err == nil, "%T: %v", body, err)
	record, err := event.record(next.Run.ID, e.seq+1)
	e.w.must("every event can be written", err == nil, "%v", err)
	change := changes(before, next)
	change.Event = record
	change.CheckInbox, change.IfInboxAt = decides(before, next, event), next.Taken
	e.w.mayDie()
	if err := e.w.disk.commit(change); err != nil {
		return err
	}
	e.seq++
	e.state = next
	e.w.stepped(before, next, event)
	e.w.mayDie()
	return nil
}

func (e *simEngine) takeInbox() {
	for {
		notes := e.w.disk.unread(e.state.Taken)
		if len(notes) == 0 || !errors.Is(e.once(Noted{Notes: notes, Named: e.notesNamed(notes)}), checkpoints.ErrInboxMoved) {
			return
		}
	}
}

// hear is the engine's.
func (e *simEngine) hear(c *simChild, message procs.Message) {
	if l := e.state.live(c.agent); l != nil && l.N == c.launch && l.Silent != nil {
		e.apply(Spoke{Agent: c.agent, Launch: c.launch})
	}
	found := c.ears.hear(message)
	c.talk.hear(message)
	defer e.besides(c)
	switch m := message.(type) {
	case procs.Init:
		if l := e.state.live(c.agent); l != nil && (!l.Turn || !l.Heard || l.TurnDue) {
			e.apply(TurnBegun{Agent: c.agent, Launch: c.launch, Version: m.Version})
		}
	case procs.Text, procs.Raw:
		e.signals(c, found)
	case procs.ToolUse:
		c.toolUses++
		e.signals(c, found)
	case procs.ToolResult:
		e.signals(c, found)
		for _, d := range e.state.deliveries(c.agent, func(d *Delivery) bool {
			return d.Tool != nil && d.Tool.ToolUse == m.ToolUse && d.Launch == c.launch
		}) {
			if brokenOff(m) {
				e.apply(AskCancelled{Agent: c.agent, Launch: c.launch, Request: d.Tool.Request})
			} else {
				e.apply(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
			}
		}
	case procs.Result:
		c.result = m
		e.signals(c, found)
		uses := c.toolUses
		c.toolUses = 0
		e.apply(TurnEnded{
			ToolUses: uses, Agent: c.agent, Launch: c.launch, Failure: procs.Classify(m, nil), CostUSD: m.CostUSD,
			InputTokens: m.InputTokens, OutputTokens: m.OutputTokens,
			Turns: m.NumTurns, Resets: e.resets(procs.Classify(m, nil)),
		})
	case procs.Usage:
		if e.state.bounded() {
			e.apply(spent(c.child, m))
		}
	case procs.Receipt:
		if state, ok := receipts[m.State]; ok {
			e.apply(Received{UUID: m.UUID, State: state})
		}
	case procs.Ask:
		asked, _ := asking(m, e.state.folder(c.agent))
		asked.Agent, asked.Launch, asked.Naming = c.agent, c.launch, e.naming(asked.Kind, asked.Questions)
		asked.Call = checkpoints.ToolCall{
			Launch: c.launch, Request: m.Request, ToolUse: m.ToolUse, Name: m.Name, Input: m.Input, From: caller(m.From),
		}
		e.apply(asked)
	case procs.Call:
		sig, _ := signals.Served(m.Name, m.Input)
		n := Named{Signal: sig}
		if kind, qs := asks(sig); len(qs) > 0 {
			n.Naming = e.naming(kind, qs)
		}
		e.apply(Called{Agent: c.agent, Launch: c.launch, Named: n, Call: checkpoints.ToolCall{
			Launch: c.launch, Request: m.Request, ToolUse: m.ToolUse, Name: m.Name, Input: m.Input, Served: true, From: caller(m.From),
		}})
	case procs.AskCancelled:
		e.apply(AskCancelled{Agent: c.agent, Launch: c.launch, Request: m.Request})
	case procs.StopHook:
		e.apply(gateAsked(c.child, m))
	case procs.Background:
		if l, now := e.state.live(c.agent), tasks(m.Tasks); l != nil && !slices.Equal(l.Background, now) {
			e.apply(BackgroundChanged{Agent: c.agent, Launch: c.launch, Tasks: now})
		}
	case procs.Exit:
		c.exit = &m
		if l := e.state.live(c.agent); l != nil && l.N == c.launch && l.End == "" {
			e.start(Effect{Do: doSweep, Key: string(doSweep) + " " + c.agent, Agent: c.agent, Launch: c.launch})
		}
	}
}

// besides is the engine's.
func (e *simEngine) besides(c *simChild) {
	if b, changed := besides(e.state, c.child); changed {
		e.apply(b)
	}
}

func (e *simEngine) signals(c *simChild, found []signals.Signal) {
	for _, s := range found {
		if !s.Foreign {
			s = e.read(s)
			kind, qs := asks(s)
			e.apply(Heard{Agent: c.agent, Launch: c.launch, Named: Named{Signal: s, Naming: e.naming(kind, qs)}})
		}
	}
}

// escalated tells whether a script has put a question there.
func (e *simEngine) escalated(id string) bool {
	_, there := e.w.door.pending[id]
	return there
}

// naming gives questions ids that the seed makes, and the answers that were given in advance.
func (e *simEngine) naming(kind checkpoints.QuestionKind, qs []signals.Question) Naming {
	n := Naming{IDs: make([]string, len(qs)), Presets: make([]Preset, len(qs))}
	if kind == checkpoints.AskDelegation {
		n.Child = e.w.childID()
	}
	for i, q := range qs {
		n.IDs[i] = e.w.id("q-")
		for _, p := range e.state.Config.Answers {
			if p.names(q) > 0 {
				n.Presets[i] = p
			}
		}
	}
	return n
}

// resets is when a usage limit ends, if that is known; it may be wrong.
func (e *simEngine) resets(f procs.Failure) *time.Time {
	if !isLimit(f) || e.w.one(3) {
		return nil
	}
	at := e.w.wall.Add(pick(e.w, -time.Minute, time.Second, time.Hour))
	return &at
}

// notesNamed is the engine's.
func (e *simEngine) notesNamed(notes []Note) NotesNamed {
	var all NotesNamed
	for _, n := range notes {
		if nest, ok := nestingIn(n); ok {
			named := e.naming(checkpoints.AskDelegation, []signals.Question{delegationQuestion(nest.Work)})
			named.Child = nest.Agent
			if all == nil {
				all = NotesNamed{}
			}
			all[n.Seq] = named
		}
	}
	return all
}

// nextDue gives how long it is until one of the waits is over.
func (e *simEngine) nextDue() (next time.Duration, ok bool) {
	for _, f := range e.order {
		if f.left == nil || f.cancelled {
			continue
		}
		if left := f.left(); !ok || left < next {
			next, ok = max(left, time.Millisecond), true
		}
	}
	return next, ok
}
