package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
)

// The simulation can fail: these are faults that a supervisor could have, each with a rule that it breaks.
func TestTheSimulationFinds(t *testing.T) {
	for _, c := range []struct {
		fault, rule string
		from        uint64 // a seed that finds it; should the model have changed, one a little further on does
		subject
	}{
		{"an answer that can be changed while it is on its way", "what is delivered is the answer acknowledged last", 529,
			faulty(afterwards(forgetBegun))},
		{"a transcript that is believed without being read", "an acknowledged answer is in the conversation", 196,
			faulty(beforehand(confirm(true)))},
		{"an answer that is said again although the transcript has it", "an answer is delivered once", 214,
			faulty(beforehand(confirm(false)))},
		{"a process that is taken for dead because its supervisor is", "an agent has one launch that may live", 7529,
			faulty(takeForDead)},
		{"a process of an earlier supervisor that is not ended", "an agent has one launch that may live", 313,
			subject{step: supervisor.Step, plan: supervisor.State.Plan, spares: true}},
		{"a notice that is given twice", "a supervisor gives one notice of a question", 2,
			faulty(afterwards(forgetNotice))},
		{"no doubt of what was confirmed and then forgotten", "an acknowledged answer is in the conversation", 15765,
			faulty(doubtNothing)},
		{"an answer that is lost while its agent is parked", "an acknowledged answer is taken", 247,
			faulty(loseWhileParking)},
		{"a hold that ends the question with the process", "time alone ends no question", 2,
			faulty(afterwards(endWithHold))},
		{"a message that is lost with the turn it was said into", "a message that was acknowledged is in the conversation",
			140,
			faulty(forgetMessages)},
		{"a call that is never replied to", "a supervised run rests only where it waits for a person", 15,
			forgetful(effect.Reply)},
		{"a report that nobody checks", "a supervised run rests only where it waits for a person", 3,
			forgetful(effect.Check)},
		{"a parent that is not told of the end of a child", "the end of a child reaches its parent", 21,
			faulty(afterwards(tellNoParent))},
		{"a parent that is told of it again after every crash", "the end of a child is told once", 6,
			faulty(tellAgain)},
		{"an agent that is done before its child", "nothing is done before a child that gates", 237,
			faulty(beforeItsChildren)},
		{"a slot that is never given back", "a slot is free for nobody's sake only", 31,
			faulty(leakSlot)},
		{"a process too many", "no more processes are at work than may be", 6,
			faulty(lendSlots)},
		{"a queue without priorities", "what stands first is launched first", 38,
			faulty(withoutPriorities)},
		{"a child that is started twice", "children come by approval, once and within the limits", 2240,
			faulty(startTwice)},
		{"a stop that goes beside its mark", "a stop ends what it names, and nothing beside it", 338,
			faulty(afterwards(stopEverybody))},
		{"a free slot that nobody looks at", "a slot is free for nobody's sake only", 6,
			faulty(settleTooLate)},
		{"a hold that is forgotten", "a step settles all that follows from it", 112,
			faulty(afterwards(forgetHolds))},
		{"a call that was broken off and counts as answered", "an acknowledged answer is in the conversation", 11910,
			subject{step: supervisor.Step, plan: supervisor.State.Plan, hears: takeAsAnswered, world: ofScarcity}},
		{"a call that was broken off and counts as withdrawn", "time alone ends no question", 420,
			mishearing(takeAsWithdrawn)},
		{"a refused call that nobody is asked about", "a person is asked about a call that was refused", 478,
			mishearing(missTheCall)},
		{"a notice of a task that counts as the end of a turn", "a turn ends by its own result", 226,
			mishearing(func(_ *simulation, m procs.Message) procs.Message {
				if r, ok := m.(procs.Result); ok {
					r.Origin = ""
					return r
				}
				return m
			})},
		{"answers in files that nobody looks for before leaving", "a supervisor leaves nothing behind", 1537,
			subject{step: supervisor.Step, plan: supervisor.State.Plan, blind: true, world: ofParks}},
		{"a supervisor that does not look whether the run is still its own",
			"nothing is said and begun in a run that was taken over", 6,
			subject{step: supervisor.Step, plan: supervisor.State.Plan, heedless: true}},
		{"a supervisor that stays when its run was taken over", "a supervisor that has lost its run leaves", 70,
			faulty(afterwards(stayAllTheSame))},
		{"a snapshot that is never taken", "a snapshot that is due or asked for is taken", 14,
			forgetful(effect.Snapshot)},
		{"a script that starts over and has its question asked again",
			"what was answered to a script that is lost is not asked when it starts over", 1947, faulty(forgetLost)},
		{"a fork that counts its answer as told", "an acknowledged answer is in the conversation", 4,
			faulty(afterwards(tellNoFork))},
		{"a fork that does not wait for its folder", "a fork works in a folder of its own", 4,
			faulty(afterwards(placeNoFork))},
		{"a step that panics", "neither Step nor Plan nor the engine panics", 3, faulty(panicAtReports)},
		{"a batch whose earlier events are not in the history", "the history has no gaps", 2,
			saving(func(c checkpoints.Change) checkpoints.Change {
				c.Earlier = nil
				return c
			})},
		{"a save that nobody waits for", "an answer is delivered once", 1235,
			saving(func(c checkpoints.Change) checkpoints.Change {
				c.Lazy = true
				return c
			})},
		{"a batch whose earlier events change no question", "an acknowledged answer is delivered", 23,
			saving(func(c checkpoints.Change) checkpoints.Change {
				if len(c.Earlier) > 0 {
					c.Questions = nil
				}
				return c
			})},
	} {
		t.Run(c.fault, func(t *testing.T) {
			unbroken := sound
			unbroken.world = c.world
			asPlanted := func(f finding) bool {
				return f.rule == c.rule && play(t, f.plot, unbroken, newReached(), nil) == nil
			}
			_, found := simulate(t, c.subject, c.from, schedules, func(found []finding) bool {
				return slices.ContainsFunc(found, asPlanted)
			})
			i := slices.IndexFunc(found, asPlanted)
			if i < 0 {
				t.Errorf("%d schedules have not found it; they have found:", schedules)
				for _, f := range found {
					t.Logf("%v: %s: %s", f.plot, f.rule, f.how)
				}
				return
			}
			if found[i].seed > c.from+few && !testing.Short() {
				t.Errorf("it is found by %v: write that seed into the table, for the way there takes long", found[i].plot)
			}
		})
	}
}

// faulty is a supervisor with another Step.
func faulty(step stepping) subject { return subject{step: step, plan: supervisor.State.Plan} }

// forgetful is one that never does a kind of effect.
func forgetful(kind effect.Kind) subject {
	return subject{step: supervisor.Step, plan: func(s supervisor.State, undone []string) effect.Parts {
		return s.Plan(undone).Without(func(e effect.Effect) bool { return e.Do == kind })
	}}
}

// mishearing is one that takes what a process says for something else.
func mishearing(hears func(*simulation, procs.Message) procs.Message) subject {
	return subject{step: supervisor.Step, plan: supervisor.State.Plan, hears: hears}
}

// saving is one that saves something else than it has decided.
func saving(saves func(checkpoints.Change) checkpoints.Change) subject {
	return subject{step: supervisor.Step, plan: supervisor.State.Plan, saves: saves}
}

// takeAsAnswered takes what claude writes in the place of a result for one.
func takeAsAnswered(_ *simulation, m procs.Message) procs.Message {
	if r, ok := m.(procs.ToolResult); ok {
		r.BrokenOff = false
		return r
	}
	return m
}

// ofScarcity is a world in which processes wait for answers while others use up what all may use.
func ofScarcity(n *nature) {
	c := &n.config
	n.tree, n.script = true, 11
	c.Delegate, c.MaxParallel, c.MaxDepth, c.MaxAgents = conf.Delegates{conf.AutoDelegations}, 0, 0, 0
	c.Hold, c.MaxHeld, c.Exec, c.Budget = conf.Forever, -1, nil, conf.Budget{Tokens: 900}
}

// ofParks is a world in which a supervisor leaves at each question.
func ofParks(n *nature) {
	n.policy, n.script, n.config.Hold = conf.Park, 11, 0
}

// takeAsWithdrawn takes the result of a call that was broken off for the news that claude has withdrawn the call.
func takeAsWithdrawn(w *simulation, m procs.Message) procs.Message {
	if r, ok := m.(procs.ToolResult); ok && r.BrokenOff {
		for q := range w.disk.kept.Questions.Values() {
			if q.Tool != nil && q.Tool.ToolUse == r.ToolUse {
				return procs.AskCancelled{Request: q.Tool.Request}
			}
		}
	}
	return m
}

// missTheCall does not know the call that claude has refused.
func missTheCall(_ *simulation, m procs.Message) procs.Message {
	if r, ok := m.(procs.Refused); ok {
		r.Call = nil
		return r
	}
	return m
}

func panicAtReports(s supervisor.State, e supervisor.Happened) (supervisor.State, error) {
	if _, checked := e.Event.(supervisor.Checked); checked {
		panic("an impossible transition")
	}
	return supervisor.Step(s, e)
}

type stepping = func(supervisor.State, supervisor.Happened) (supervisor.State, error)

// beforehand is a Step that mishears.
func beforehand(mishear func(supervisor.Event) supervisor.Event) stepping {
	return func(s supervisor.State, e supervisor.Happened) (supervisor.State, error) {
		e.Event = mishear(e.Event)
		return supervisor.Step(s, e)
	}
}

func confirm(found bool) func(supervisor.Event) supervisor.Event {
	return func(b supervisor.Event) supervisor.Event {
		if c, ok := b.(supervisor.Confirmed); ok {
			c.Found = found
			return c
		}
		return b
	}
}

// afterwards is a Step that makes something else of it.
func afterwards(spoil func(before, after supervisor.State, b supervisor.Event) supervisor.State) stepping {
	return func(s supervisor.State, e supervisor.Happened) (supervisor.State, error) {
		next, err := supervisor.Step(s, e)
		if err != nil {
			return next, err
		}
		return spoil(s, next, e.Event), nil
	}
}

func withQuestion(s supervisor.State, id string, change func(*supervisor.Question)) supervisor.State {
	q := *s.Questions.Get(id)
	change(&q)
	s.Questions.Put(id, &q)
	return s
}

func forgetBegun(_, after supervisor.State, _ supervisor.Event) supervisor.State {
	for id, q := range after.Questions.All() {
		if q.Delivering && q.State == checkpoints.QuestionAnswered {
			after = withQuestion(after, id, func(q *supervisor.Question) { q.Delivering = false })
		}
	}
	return after
}

func forgetLost(s supervisor.State, e supervisor.Happened) (supervisor.State, error) {
	if _, asks := e.Event.(supervisor.FileFound); asks {
		for id, q := range s.Questions.All() {
			if q.File != nil && q.File.Lost {
				s = withQuestion(s, id, func(q *supervisor.Question) {
					file := *q.File
					file.Lost = false
					q.File = &file
				})
			}
		}
	}
	return supervisor.Step(s, e)
}

func stayAllTheSame(before, after supervisor.State, _ supervisor.Event) supervisor.State {
	if before.Run != nil && after.Run.TakenOver != nil {
		run := *after.Run
		run.TakenOver, run.Packed, run.Leaving = nil, "", before.Run.Leaving
		after.Run = &run
	}
	return after
}

func tellNoFork(_, after supervisor.State, b supervisor.Event) supervisor.State {
	if c, ok := b.(supervisor.Created); ok && c.Fork != nil {
		for id := range after.Questions.All() {
			after = withQuestion(after, id, func(q *supervisor.Question) { q.State = checkpoints.QuestionDelivered })
		}
	}
	return after
}

func placeNoFork(_, after supervisor.State, b supervisor.Event) supervisor.State {
	if c, ok := b.(supervisor.Created); ok && c.Fork != nil {
		return withAgent(after, after.Run.Root, func(a *supervisor.Agent) { a.Placed = true })
	}
	return after
}

func forgetNotice(_, after supervisor.State, b supervisor.Event) supervisor.State {
	if n, ok := b.(supervisor.NotificationSent); ok {
		return withQuestion(after, n.Question, func(q *supervisor.Question) { q.Noticed = 0 })
	}
	return after
}

func forgetMessages(s supervisor.State, e supervisor.Happened) (supervisor.State, error) {
	for id, v := range s.Deliveries.All() {
		if len(v.Messages) > 0 {
			mute := *v
			mute.Messages = nil
			s.Deliveries.Put(id, &mute)
		}
	}
	return supervisor.Step(s, e)
}

func endWithHold(_, after supervisor.State, b supervisor.Event) supervisor.State {
	if h, ok := b.(supervisor.HoldEnded); ok {
		for _, q := range after.Open(h.Agent) {
			after = withQuestion(after, q.ID, func(q *supervisor.Question) { q.State = checkpoints.QuestionWithdrawn })
		}
	}
	return after
}

func takeForDead(s supervisor.State, e supervisor.Happened) (supervisor.State, error) {
	next, err := supervisor.Step(s, e)
	if _, opened := e.Event.(supervisor.Opened); opened && err == nil {
		for _, a := range next.AllAgents() {
			if l := next.Live(a.ID); l != nil && l.End == supervisor.EndRecover {
				next, err = supervisor.Step(next,
					supervisor.Happened{At: e.At,
						Event: supervisor.Ended{Agent: a.ID, Launch: l.N, Outcome: "lost with its supervisor"}})
			}
		}
	}
	return next, err
}

func doubtNothing(s supervisor.State, e supervisor.Happened) (supervisor.State, error) {
	if _, ended := e.Event.(supervisor.Ended); ended {
		for id, v := range s.Deliveries.All() {
			if v.State == checkpoints.DeliveryDelivered {
				long := *v
				long.Turn, long.ArrivedAt = -100, time.Time{} // ago
				s.Deliveries.Put(id, &long)
			}
		}
	}
	return supervisor.Step(s, e)
}

func loseWhileParking(s supervisor.State, e supervisor.Happened) (supervisor.State, error) {
	if b, ok := e.Event.(supervisor.InboxRead); ok {
		for ls := range s.Launches.Values() {
			if l := ls[len(ls)-1]; !l.Phase.Ended() && l.End == endPark {
				for _, n := range b.Notes {
					s.Taken = max(s.Taken, n.Seq)
				}
				return s, nil
			}
		}
	}
	return supervisor.Step(s, e)
}

func withAgent(s supervisor.State, id string, change func(*supervisor.Agent)) supervisor.State {
	a := *s.Agents.Get(id)
	change(&a)
	s.Agents.Put(id, &a)
	return s
}

func tellNoParent(_, after supervisor.State, _ supervisor.Event) supervisor.State {
	for id, a := range after.Agents.All() {
		if a.Delegated != nil && len(a.Outbox) == 0 {
			continue
		}
		after = withAgent(after, id, func(a *supervisor.Agent) {
			a.Outbox = slices.DeleteFunc(slices.Clone(a.Outbox), func(s checkpoints.OutboxItem) bool {
				return strings.HasPrefix(s.Key, "child ")
			})
		})
	}
	return after
}

func tellAgain(s supervisor.State, e supervisor.Happened) (supervisor.State, error) {
	next, err := supervisor.Step(s, e)
	if _, opened := e.Event.(supervisor.Opened); opened && err == nil {
		for _, c := range next.AllAgents() {
			if c.Delegated != nil && c.Delegated.Told && c.Status.Ended() && !next.Agents.Get(c.Parent).Status.Ended() {
				next = withAgent(next, c.Parent, func(p *supervisor.Agent) {
					p.Outbox = append(slices.Clip(p.Outbox),
						checkpoints.OutboxItem{Key: "again " + c.ID, Text: endHeading + c.ID + "\nOutcome: " + string(c.Status),
							From: c.ID, At: e.At})
				})
			}
		}
	}
	return next, err
}

// seenAs is a Step that takes agents for something else while it decides.
func seenAs(s supervisor.State, e supervisor.Happened, see, restore func(*supervisor.Agent)) (supervisor.State, error) {
	seen := s
	for id := range s.Agents.All() {
		seen = withAgent(seen, id, see)
	}
	next, err := supervisor.Step(seen, e)
	if err != nil {
		return s, err
	}
	for id := range next.Agents.All() {
		next = withAgent(next, id, restore)
	}
	return next, nil
}

func beforeItsChildren(s supervisor.State, e supervisor.Happened) (supervisor.State, error) {
	was := map[string]checkpoints.Independence{}
	return seenAs(s, e, func(a *supervisor.Agent) {
		if a.Delegated != nil {
			was[a.ID] = a.Delegated.Independence
			said := *a.Delegated
			said.Independence = checkpoints.Optional
			a.Delegated = &said
		}
	}, func(a *supervisor.Agent) {
		if i, ok := was[a.ID]; ok {
			said := *a.Delegated
			said.Independence = i
			a.Delegated = &said
		}
	})
}

func withParallel(s supervisor.State, e supervisor.Happened, n int) (supervisor.State, error) {
	was := s.Config.MaxParallel
	if s.Run == nil || was == 0 {
		return supervisor.Step(s, e)
	}
	s.Config.MaxParallel = n
	next, err := supervisor.Step(s, e)
	next.Config.MaxParallel = was
	return next, err
}

func leakSlot(s supervisor.State, e supervisor.Happened) (supervisor.State, error) {
	return withParallel(s, e, max(s.Config.MaxParallel-1, 1))
}

func lendSlots(s supervisor.State, e supervisor.Happened) (supervisor.State, error) {
	return withParallel(s, e, s.Config.MaxParallel+1)
}

func withoutPriorities(s supervisor.State, e supervisor.Happened) (supervisor.State, error) {
	was := map[string]string{}
	return seenAs(s, e, func(a *supervisor.Agent) { was[a.ID], a.Priority = a.Priority, "" }, func(a *supervisor.Agent) {
		if p, ok := was[a.ID]; ok {
			a.Priority = p
		}
	})
}

func startTwice(s supervisor.State, e supervisor.Happened) (supervisor.State, error) {
	print := map[string]string{}
	return seenAs(s, e, func(a *supervisor.Agent) {
		if a.Delegated != nil {
			print[a.ID] = a.Delegated.Fingerprint
			said := *a.Delegated
			said.Fingerprint = "forgotten"
			a.Delegated = &said
		}
	}, func(a *supervisor.Agent) {
		if p, ok := print[a.ID]; ok {
			said := *a.Delegated
			said.Fingerprint = p
			a.Delegated = &said
		}
	})
}

func stopEverybody(before, after supervisor.State, b supervisor.Event) supervisor.State {
	n, ok := b.(supervisor.InboxRead)
	if !ok || len(n.Notes) == 0 || n.Notes[0].Kind != supervisor.EntryStop {
		return after
	}
	for id, a := range after.Agents.All() {
		if a.Delegated != nil && a.StopWanted == "" && !a.Status.Ended() && before.Agents.Get(id) != nil {
			after = withAgent(after, id, func(a *supervisor.Agent) { a.StopWanted = n.Notes[0].By })
		}
	}
	return after
}

// settleTooLate overlooks what an event means to agents that it is not about.
func settleTooLate(s supervisor.State, e supervisor.Happened) (supervisor.State, error) {
	next, err := supervisor.Step(s, e)
	if b, ended := e.Event.(supervisor.Ended); ended && err == nil {
		for id, a := range next.Agents.All() {
			if old := s.Agents.Get(id); id != b.Agent && old != nil && old.QueuedAt != nil && a.Status == checkpoints.Starting {
				next = withAgent(next, id, func(n *supervisor.Agent) { *n = *old })
				launches := next.Launches
				launches.Put(id, s.Launches.Get(id))
				next = withRecords(next, next.Run, next.Agents, launches)
			}
		}
	}
	return next, err
}

func forgetHolds(_, after supervisor.State, _ supervisor.Event) supervisor.State {
	for id, a := range after.Agents.All() {
		if a.HoldUntil != nil {
			after = withAgent(after, id, func(a *supervisor.Agent) { a.HoldUntil = nil })
		}
	}
	return after
}
