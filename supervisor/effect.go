package supervisor

import (
	"fmt"
	"slices"
	"time"
)

// An Effect is one thing that ought to be under way. Key is stable: the same wish in two plans is one effect.
type Effect struct {
	Do       EffectKind
	Key      string
	Agent    string
	Launch   int
	Delivery string        // uuid
	Question string        // id
	Request  string        // of a gate or reply
	Part     int           // of a check: which report of a subagent; 0: the agent's own
	Until    time.Time     // of a wait; of a snapshot: it is not begun before
	Patience time.Duration // of a watch
}

// A EffectKind is a kind of effect.
type EffectKind string

// The effects. Those that end a process run to their end once begun; waits are cancelled when they are planned no more.
const (
	DoLaunch    EffectKind = "launch"   // start the process of a launch
	DoEnd       EffectKind = "end"      // end it, in the way its record says
	DoRecover   EffectKind = "recover"  // end what is left of a launch of an earlier supervisor
	DoDeliver   EffectKind = "deliver"  // write a delivery to the process
	DoConfirm   EffectKind = "confirm"  // look in the transcript whether a delivery had reached an ended launch
	DoGate      EffectKind = "gate"     // reply to the Stop hook
	DoReply     EffectKind = "reply"    // reply to a call of a tool of ours
	DoSurvey    EffectKind = "survey"   // write the checkpoint of an ended launch
	DoCheck     EffectKind = "check"    // look for the deliverables of a report
	DoPlace     EffectKind = "place"    // make the folder ready in which an agent is about to work
	DoTidy      EffectKind = "tidy"     // look through the worktree of an agent that is about to end
	DoMerge     EffectKind = "merge"    // merge the findings that the agents of a run have shared
	DoPrepare   EffectKind = "prepare"  // do what an answer needs before it is said
	DoRun       EffectKind = "run"      // run the command that a person let run
	DoDrop      EffectKind = "drop"     // write an answer where an agent's script looks for it
	DoReclaim   EffectKind = "reclaim"  // look whether the script has taken it
	DoNotify    EffectKind = "notify"   // give a question's one notice
	DoHold      EffectKind = "hold"     // wait until a process was held long enough
	DoWatch     EffectKind = "watch"    // wait until nothing was heard of a process at work for too long
	DoTimeout   EffectKind = "timeout"  // wait until a call of check_work has waited long enough
	DoRetry     EffectKind = "retry"    // wait until an agent may be launched again
	DoOverdue   EffectKind = "overdue"  // wait until an agent's work takes longer than its estimate
	DoClock     EffectKind = "clock"    // measure how long what a budget bounds is at work
	DoEase      EffectKind = "ease"     // wait until more processes may be at work again
	DoAskBudget EffectKind = "budget"   // name the question of a budget that is used up
	DoSnapshot  EffectKind = "snapshot" // put the run as it is where it can be gone on with elsewhere
	DoAnnounce  EffectKind = "announce" // tell the person's own command how the run is left
	DoLeave     EffectKind = "leave"    // nothing is left to do for this supervisor
)

// DoSweep follows an exit that nobody asked for: whatever the process left behind is ended before the launch counts
// as ended. It is not planned, since only a living supervisor sees the exit; after a crash DoRecover does the same.
const DoSweep EffectKind = "sweep"

// EffectKinds lists all but DoLeave, which the loop sees to.
var EffectKinds = []EffectKind{
	DoLaunch, DoEnd, DoSweep, DoRecover, DoDeliver, DoConfirm, DoGate, DoReply, DoSurvey, DoCheck, DoPlace, DoTidy,
	DoMerge,
	DoPrepare, DoRun, DoDrop, DoReclaim, DoNotify, DoHold, DoWatch, DoTimeout, DoRetry, DoOverdue, DoClock,
	DoEase, DoAskBudget, DoSnapshot, DoAnnounce,
}

// Wait reports whether the effect only waits for a time.
func (d EffectKind) Wait() bool {
	switch d {
	case DoHold, DoWatch, DoTimeout, DoRetry, DoOverdue, DoClock, DoEase:
		return true
	}
	return false
}

// acts reports whether the effect does more than wait for a time.
func (e Effect) acts() bool { return !e.Do.Wait() }

// of returns an effect upon a launch.
func (d EffectKind) of(l *Launch) Effect {
	return Effect{Do: d, Key: fmt.Sprintf("%s %s %d", d, l.Agent, l.N), Agent: l.Agent, Launch: l.N}
}

// ofRequest returns an effect upon a launch that is about one of its requests.
func (d EffectKind) ofRequest(l *Launch, request string) Effect {
	return Effect{Do: d, Key: string(d) + " " + request, Agent: l.Agent, Launch: l.N, Request: request}
}

// ofDelivery returns an effect upon a launch that is about a delivery.
func (d EffectKind) ofDelivery(l *Launch, uuid string) Effect {
	return Effect{Do: d, Key: string(d) + " " + uuid, Agent: l.Agent, Launch: l.N, Delivery: uuid}
}

// NeedsLease reports whether an effect says something to an agent, begins a turn, or acts in the person's name: a
// supervisor does it only as long as the run is its own.
func (d EffectKind) NeedsLease() bool {
	switch d {
	case DoLaunch, DoDeliver, DoRun, DoDrop, DoSnapshot:
		return true
	}
	return false
}

// A Part is what is planned of an agent by itself. It is never changed: where two states have the same one, nothing of
// it is different, and nothing of what it was made of.
type Part struct {
	Agent   string
	Effects []Effect
}

// Parts is a plan in parts, in the order in which they are carried out.
type Parts struct {
	First  []Effect // what holds others back
	Agents []*Part  // of each agent by itself, in the order in which they came, so that each keeps its place
	Rest   []Effect // of the run as a whole
}

// All returns the plan in one.
func (p Parts) All() []Effect {
	n := len(p.First) + len(p.Rest)
	for _, alone := range p.Agents {
		n += len(alone.Effects)
	}
	all := append(make([]Effect, 0, n), p.First...)
	for _, alone := range p.Agents {
		all = append(all, alone.Effects...)
	}
	return append(all, p.Rest...)
}

// Leaves reports whether nothing is left to do for this supervisor but to leave.
func (p Parts) Leaves() bool {
	return len(p.First) == 0 && len(p.Agents) == 0 && len(p.Rest) == 1 && p.Rest[0].Do == DoLeave
}

// OnlyTells reports whether nothing is left to do but to tell a person: all else waits for a time.
func (p Parts) OnlyTells() bool {
	tells := false
	for _, e := range p.All() {
		switch {
		case e.Do == DoNotify, e.Do == DoAnnounce:
			tells = true
		case e.acts():
			return false
		}
	}
	return tells
}

// acts reports whether anything of it does more than wait for a time.
func (p Parts) acts() bool {
	return slices.ContainsFunc(p.First, Effect.acts) || slices.ContainsFunc(p.Rest, Effect.acts) ||
		slices.ContainsFunc(p.Agents, func(alone *Part) bool { return slices.ContainsFunc(alone.Effects, Effect.acts) })
}

// Without returns the plan without the effects that f accepts.
func (p Parts) Without(f func(Effect) bool) Parts {
	without := func(es []Effect) []Effect { return slices.DeleteFunc(slices.Clone(es), f) }
	rest := Parts{First: without(p.First), Rest: without(p.Rest), Agents: make([]*Part, len(p.Agents))}
	for i, alone := range p.Agents {
		rest.Agents[i] = &Part{Agent: alone.Agent, Effects: without(alone.Effects)}
	}
	return rest
}
