package effect

import (
	"fmt"
	"slices"
	"time"

	"claude-supervise/checkpoints"
)

// An Effect is one thing that ought to be under way. Key is stable: the same wish in two plans is one effect.
type Effect struct {
	Do       Kind
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

// A Kind is a kind of effect.
type Kind string

// The effects. Those that end a process run to their end once begun; waits are cancelled when they are planned no more.
const (
	Launch    Kind = "launch"   // start the process of a launch
	End       Kind = "end"      // end it, in the way its record says
	Recover   Kind = "recover"  // end what is left of a launch of an earlier supervisor
	Deliver   Kind = "deliver"  // write a delivery to the process
	Confirm   Kind = "confirm"  // look in the transcript whether a delivery had reached an ended launch
	Gate      Kind = "gate"     // reply to the Stop hook
	Reply     Kind = "reply"    // reply to a call of a tool of ours
	Survey    Kind = "survey"   // write the checkpoint of an ended launch
	Check     Kind = "check"    // look for the deliverables of a report
	Place     Kind = "place"    // make the folder ready in which an agent is about to work
	Moment    Kind = "moment"   // keep the work as it is when something is asked
	Tidy      Kind = "tidy"     // look through the worktree of an agent that is about to end
	Merge     Kind = "merge"    // merge the findings that the agents of a run have shared
	Prepare   Kind = "prepare"  // do what an answer needs before it is said
	Run       Kind = "run"      // run the command that a person let run
	Drop      Kind = "drop"     // write an answer where an agent's script looks for it
	Reclaim   Kind = "reclaim"  // look whether the script has taken it
	Notify    Kind = "notify"   // give a question's one notice
	Hold      Kind = "hold"     // wait until a process was held long enough
	Watch     Kind = "watch"    // wait until nothing was heard of a process at work for too long
	Timeout   Kind = "timeout"  // wait until a call of check_work has waited long enough
	Retry     Kind = "retry"    // wait until an agent may be launched again
	Overdue   Kind = "overdue"  // wait until an agent's work takes longer than its estimate
	Clock     Kind = "clock"    // measure how long what a budget bounds is at work
	Ease      Kind = "ease"     // wait until more processes may be at work again
	AskBudget Kind = "budget"   // name the question of a budget that is used up
	Snapshot  Kind = "snapshot" // put the run as it is where it can be gone on with elsewhere
	Announce  Kind = "announce" // tell the person's own command how the run is left
	Leave     Kind = "leave"    // nothing is left to do for this supervisor
)

// Sweep follows an exit that nobody asked for: whatever the process left behind is ended before the launch counts
// as ended. It is not planned, since only a living supervisor sees the exit; after a crash DoRecover does the same.
const Sweep Kind = "sweep"

// Kinds lists all but DoLeave, which the loop sees to.
var Kinds = []Kind{
	Launch, End, Sweep, Recover, Deliver, Confirm, Gate, Reply, Survey, Check, Place, Moment, Tidy,
	Merge,
	Prepare, Run, Drop, Reclaim, Notify, Hold, Watch, Timeout, Retry, Overdue, Clock,
	Ease, AskBudget, Snapshot, Announce,
}

// Wait reports whether the effect only waits for a time.
func (d Kind) Wait() bool {
	switch d {
	case Hold, Watch, Timeout, Retry, Overdue, Clock, Ease:
		return true
	}
	return false
}

// Acts reports whether the effect does more than wait for a time.
func (e Effect) Acts() bool { return !e.Do.Wait() }

// Of returns an effect upon a launch.
func (d Kind) Of(l *checkpoints.Launch) Effect {
	return Effect{Do: d, Key: fmt.Sprintf("%s %s %d", d, l.Agent, l.N), Agent: l.Agent, Launch: l.N}
}

// OfRequest returns an effect upon a launch that is about one of its requests.
func (d Kind) OfRequest(l *checkpoints.Launch, request string) Effect {
	return Effect{Do: d, Key: string(d) + " " + request, Agent: l.Agent, Launch: l.N, Request: request}
}

// OfDelivery returns an effect upon a launch that is about a delivery.
func (d Kind) OfDelivery(l *checkpoints.Launch, uuid string) Effect {
	return Effect{Do: d, Key: string(d) + " " + uuid, Agent: l.Agent, Launch: l.N, Delivery: uuid}
}

// NeedsLease reports whether an effect says something to an agent, begins a turn, or acts in the person's name: a
// supervisor does it only as long as the run is its own.
func (d Kind) NeedsLease() bool {
	switch d {
	case Launch, Deliver, Run, Drop, Snapshot:
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
	return len(p.First) == 0 && len(p.Agents) == 0 && len(p.Rest) == 1 && p.Rest[0].Do == Leave
}

// OnlyTells reports whether nothing is left to do but to tell a person: all else waits for a time.
func (p Parts) OnlyTells() bool {
	tells := false
	for _, e := range p.All() {
		switch {
		case e.Do == Notify, e.Do == Announce:
			tells = true
		case e.Acts():
			return false
		}
	}
	return tells
}

// Acts reports whether anything of it does more than wait for a time.
func (p Parts) Acts() bool {
	return slices.ContainsFunc(p.First, Effect.Acts) || slices.ContainsFunc(p.Rest, Effect.Acts) ||
		slices.ContainsFunc(p.Agents, func(alone *Part) bool { return slices.ContainsFunc(alone.Effects, Effect.Acts) })
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
