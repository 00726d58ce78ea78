package supervisor

import (
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
)

// A flight is an effect under way: stages, between which anything else may happen, and then what the engine's own
// goroutine does with the result.
type flight struct {
	key       string
	stages    []stage
	left      func() time.Duration // of a wait: until it is over
	finish    func() Body
	gives     bool // it ends when it is cancelled
	cancelled bool
}

// A stage begins when it is ready.
type stage struct {
	ready func() bool
	do    func()
}

func (f *flight) done() bool  { return len(f.stages) == 0 }
func (f *flight) ready() bool { return f.cancelled && f.gives || f.stages[0].ready() }

func (f *flight) proceed() {
	if f.cancelled && f.gives && !f.stages[0].ready() {
		f.stages, f.finish = nil, nil
		return
	}
	next := f.stages[0]
	f.stages = f.stages[1:]
	if next.do != nil {
		next.do()
	}
}

func (f *flight) then(do func()) *flight {
	f.stages = append(f.stages, stage{ready: func() bool { return true }, do: do})
	return f
}

func (f *flight) waits(ready func() bool) *flight {
	f.stages = append(f.stages, stage{ready: ready})
	return f
}

// simDeeds is the model of each deed. One that is missing does nothing for as long as it is planned.
var simDeeds = map[Deed]func(*simEngine, *flight, Effect){
	DoLaunch:    (*simEngine).launch,
	DoEnd:       (*simEngine).end,
	doSweep:     func(e *simEngine, f *flight, effect Effect) { e.climb(f, e.children[effect.Agent], procs.Park) },
	DoRecover:   (*simEngine).recover,
	DoDeliver:   (*simEngine).deliver,
	DoConfirm:   (*simEngine).confirm,
	DoGate:      (*simEngine).gate,
	DoReply:     (*simEngine).reply,
	DoSurvey:    (*simEngine).survey,
	DoCheck:     (*simEngine).check,
	DoPlace:     (*simEngine).place,
	DoTidy:      (*simEngine).tidy,
	DoMerge:     (*simEngine).merge,
	DoPrepare:   (*simEngine).prepare,
	DoRun:       (*simEngine).runCommand,
	DoDrop:      (*simEngine).drop,
	DoReclaim:   (*simEngine).reclaim,
	DoNotify:    (*simEngine).notify,
	DoHold:      (*simEngine).hold,
	DoRetry:     (*simEngine).rest,
	DoWatch:     (*simEngine).watch,
	DoClock:     (*simEngine).clock,
	DoAskBudget: (*simEngine).askBudget,
	DoOverdue:   func(e *simEngine, f *flight, effect Effect) { e.until(f, effect, Overdue{Agent: effect.Agent}) },
	DoEase:      func(e *simEngine, f *flight, effect Effect) { e.until(f, effect, Eased{}) },
	DoAnnounce: func(e *simEngine, f *flight, _ Effect) {
		leaving := e.state.Run.Leaving
		f.then(func() {})
		f.finish = func() Body { return Announced{Leaving: leaving} }
	},
}

func (e *simEngine) launch(f *flight, effect Effect) {
	a, l := e.state.Agents[effect.Agent], e.state.launch(effect.Agent)
	c := &simChild{child: &child{agent: a.ID, launch: l.N, ears: newEars(a.ID, e.state.Config.AcceptIDs, e.escalated)}}
	prompt := e.state.promptOf(a.ID, l.N)
	f.then(func() {
		if e.w.nature.absent() {
			f.finish = func() Body {
				return Ended{Agent: a.ID, Launch: l.N, Outcome: "never ran", Failure: procs.Failure{Kind: procs.NotStarted, Reason: "no such file"}}
			}
			return
		}
		c.process = e.w.exec(e.state, a, l)
		if e.state.execs() {
			c.process.isGiven(prompt)
		}
		e.heard = append(e.heard, c)
		f.finish = func() Body {
			e.children[a.ID], c.known = c, true
			return Started{Agent: a.ID, Launch: l.N, PID: c.process.pid, StartTicks: uint64(c.process.pid)}
		}
	})
}

func (e *simEngine) end(f *flight, effect Effect) {
	e.climb(f, e.children[effect.Agent], endings[e.state.launch(effect.Agent).End])
}

// climb ends a process by the stop ladder.
func (e *simEngine) climb(f *flight, c *simChild, how procs.Ending) {
	p := c.process // without a child this panics, as the engine would
	switch how {
	case procs.Finish:
		f.then(func() { p.eof = true })
		f.waits(func() bool { return p.dead || p.stuck() })
	case procs.Stop:
		f.then(func() { p.stdin = append(p.stdin, simInput{interrupt: true}) })
		f.waits(func() bool { return p.dead || p.turn == nil || p.stuck() })
	}
	f.then(func() { p.term = true })
	f.waits(func() bool { return p.dead })
	f.waits(func() bool { return c.exit != nil })
	f.finish = func() Body {
		if e.children[c.agent] == c {
			delete(e.children, c.agent)
		}
		return c.ended(nil)
	}
}

func (e *simEngine) recover(f *flight, effect Effect) {
	f.then(func() {
		for _, p := range e.w.processes {
			if p.agent == effect.Agent && p.launch == effect.Launch && !p.dead {
				p.killed()
			}
		}
	})
	f.finish = func() Body {
		return Ended{Agent: effect.Agent, Launch: effect.Launch, Outcome: "lost with its supervisor"}
	}
}

// writes puts something on the child's stdin. Where that fails it stays in flight until the exit is known.
func (e *simEngine) writes(f *flight, c *simChild, in simInput, body Body) {
	p := c.process
	f.then(func() {
		if p.dead {
			f.waits(func() bool { return c.exit != nil })
			return
		}
		p.stdin = append(p.stdin, in)
		f.finish = func() Body { return body }
	})
}

func (e *simEngine) deliver(f *flight, effect Effect) {
	d := e.state.Deliveries[effect.Delivery]
	in := simInput{uuid: d.UUID, text: d.Text}
	if d.Tool != nil {
		in = simInput{request: d.Tool.Request, reply: d.Reply}
	}
	e.writes(f, e.children[effect.Agent], in, Sent{UUID: d.UUID, Launch: d.Launch})
}

func (e *simEngine) gate(f *flight, effect Effect) {
	block := e.state.launch(effect.Agent).Gate.Block
	e.writes(f, e.children[effect.Agent], simInput{gate: effect.Request, text: block},
		GateReplied{Agent: effect.Agent, Launch: effect.Launch, Request: effect.Request})
}

func (e *simEngine) reply(f *flight, effect Effect) {
	l := e.state.launch(effect.Agent)
	i := slices.IndexFunc(l.Replies, func(r checkpoints.Reply) bool { return r.Request == effect.Request })
	e.writes(f, e.children[effect.Agent], simInput{request: effect.Request, reply: encode(l.Replies[i].Text), returned: true},
		Replied{Agent: effect.Agent, Launch: effect.Launch, Request: effect.Request})
}

// transcript gives the conversation that a launch was in; nil if it left none.
func (e *simEngine) transcript(a *Agent, l *Launch) *talk {
	if l.Transcript != "" {
		return e.w.talks[l.Transcript]
	}
	return e.w.talks[a.SessionID]
}

func (e *simEngine) confirm(f *flight, effect Effect) {
	d, a, l := e.state.Deliveries[effect.Delivery], e.state.Agents[effect.Agent], e.state.launch(effect.Agent)
	f.then(func() {
		t, found := e.transcript(a, l), false
		switch {
		case t == nil:
		case d.Tool != nil:
			found = t.answered(d.Tool.ToolUse)
		default:
			found = t.has(d.UUID)
		}
		f.finish = func() Body { return Confirmed{UUID: d.UUID, Found: found} }
	})
}

func (e *simEngine) survey(f *flight, effect Effect) {
	a, l, ears := e.state.Agents[effect.Agent], e.state.launch(effect.Agent), newEars(effect.Agent, nil, e.escalated)
	prompts := e.state.deliveries(a.ID, func(d *Delivery) bool { return d.Launch == l.N && d.Tool == nil })
	asked := e.state.askedIn(l)
	f.then(func() {
		b := Surveyed{Agent: a.ID, Launch: effect.Launch, Checkpoint: "Files you wrote: schema.sql"}
		t := e.transcript(a, l)
		for _, q := range asked {
			sub := *q.Tool.From
			sub.Done, sub.Interrupted = "It had read.", t == nil || !t.ended(sub.ToolUse)
			if b.Subagents == nil {
				b.Subagents = map[string]checkpoints.Subagent{}
			}
			b.Subagents[q.ID] = sub
		}
		var found []signals.Signal
		if t != nil && !e.state.execs() && l.End == endRecover && len(prompts) > 0 {
			found, b.Whole = t.unheard(prompts, ears)
		}
		f.finish = func() Body {
			for _, s := range found {
				s = e.read(s)
				if kind, qs := asks(s); !s.Foreign {
					b.Unheard = append(b.Unheard, Named{Signal: s, Naming: e.naming(kind, qs)})
				}
			}
			return b
		}
	})
}

func (e *simEngine) check(f *flight, effect Effect) {
	files := e.state.Agents[effect.Agent].Report.Files
	f.then(func() {
		var missing []string
		if slices.Contains(files, neverMade) {
			missing = []string{neverMade}
		}
		f.finish = func() Body { return Checked{Agent: effect.Agent, Missing: missing} }
	})
}

func (e *simEngine) notify(f *flight, effect Effect) {
	q := e.state.Questions[effect.Question]
	f.then(func() {
		e.w.truth.noticed(e.w, q, e.state.Run.Epoch)
		f.finish = func() Body { return Noticed{Question: q.ID} }
	})
}

func (e *simEngine) hold(f *flight, effect Effect) {
	over := e.w.mono + effect.Until.Sub(e.w.wall)
	f.gives = true
	f.left = func() time.Duration { return over - e.w.mono }
	f.waits(func() bool { return f.left() <= 0 })
	f.finish = func() Body { return HoldEnded{Agent: effect.Agent, Launch: effect.Launch} }
}

func (e *simEngine) rest(f *flight, effect Effect) {
	e.until(f, effect, RetryDue{Agent: effect.Agent, Until: effect.Until})
}

func (e *simEngine) watch(f *flight, effect Effect) {
	c := e.children[effect.Agent]
	f.gives = true
	f.waits(func() bool { return c.process.hangs })
	f.finish = func() Body {
		return FellSilent{Agent: effect.Agent, Launch: effect.Launch, Since: e.w.wall, Doing: "waits for the API"}
	}
}
