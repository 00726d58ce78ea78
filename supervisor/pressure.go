package supervisor

import (
	"fmt"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/text"
)

// This file lets fewer processes be at work than the person allows while the API or the machine has too little room for
// them: half of those that are, and after each calm while one more again. Nothing that runs is ended.

// Calm is how long nothing was pressed until one more process may be at work.
const Calm = 2 * time.Minute

// PressAgain is how long the effect of a shrunk limit is waited for before it shrinks again.
const PressAgain = 30 * time.Second

// Pressure is why fewer may be at work than a person lets, and how many.
type Pressure = checkpoints.Pressure

// Press returns the pressure from a time on at which so many are at work and the API or the machine has too little room
// for them: half of them may be, and one at least, so that work goes on. It returns nil while the effect of a limit
// that was shrunk before is waited for.
func Press(before *Pressure, working int, by string, at time.Time) *Pressure {
	if before != nil {
		if at.Sub(before.At) < PressAgain {
			return nil
		}
		working = min(working, before.Parallel)
	}
	return &Pressure{Parallel: max(working/2, 1), By: by, At: at}
}

// Ease returns the pressure after a calm: one more may be at work. It returns nil once that are as many as most.
func Ease(before Pressure, most int, at time.Time) *Pressure {
	if before.Parallel+1 >= most {
		return nil
	}
	before.Parallel, before.At = before.Parallel+1, at
	return &before
}

// pressure holds agents back by fewer slots.
var pressure = concern{
	name: "pressure", planRun: State.planEase,
	tells: func(before, after State, e Event, tell notice.Teller) {
		switch e.(type) {
		case Throttled, Unthrottled:
			if text := parallelInWords(before, after); text != "" {
				tell(notice.Progress, "", notice.Notification{Text: text, Trouble: after.Run.Pressure != nil})
			}
		}
	},
}

// planEase plans the wait for calm.
func (s State) planEase() []effect.Effect {
	p := s.Run.Pressure
	if p == nil || s.Run.Leaving != "" {
		return nil
	}
	return []effect.Effect{{Do: effect.Ease, Key: fmt.Sprintf("ease %d %d", p.Parallel, p.At.UnixMilli()),
		Until: p.At.Add(Calm)}}
}

// parallelInWords tells a person that the number of processes that may be at work has changed; "" if it has not.
func parallelInWords(before, after State) string {
	if before.Run == nil || before.Run.Pressure == after.Run.Pressure {
		return ""
	}
	switch was, p := before.Run.Pressure, after.Run.Pressure; {
	case p == nil:
		return "as many agents may be at work again as before"
	case was == nil || p.Parallel < was.Parallel:
		return fmt.Sprintf("%s: only %s may be at work for now", p.By, text.Plural(p.Parallel, "agent", "agents"))
	default:
		return fmt.Sprintf("%s may be at work again", text.Plural(p.Parallel, "agent", "agents"))
	}
}

// manyAgents is how many agents have to be refused within a while for the API to be pressed by the run, and not by one
// of them.
const manyAgents = 2

// A Backpressure is what the engine knows of how much its agents press the API. It goes with the supervisor.
type Backpressure map[string]time.Time // when the API last refused a request of an agent for want of room

// Refused takes note of a refusal, and reports whether several agents were refused lately.
func (s Backpressure) Refused(agent string, at time.Time) bool {
	s[agent] = at
	for other, when := range s {
		if at.Sub(when) > PressAgain {
			delete(s, other)
		}
	}
	return len(s) >= manyAgents
}

// WantsRoom reports whether a status of the API says that it has too little room.
func WantsRoom(status int) bool { return status == 429 || status == 529 || status == 503 }

// MemoryShort is why fewer processes may be at work where the machine has too little memory.
const MemoryShort = "memory is short"

// APIRefuses is why fewer processes may be at work where the API has too little room.
const APIRefuses = "the API refuses requests of several agents"

// Throttled says that the API or the machine has too little room for the processes at work; By says which, for people.
type Throttled struct{ By string }

var _ = kind[Throttled]("pressed")

// apply takes note that too many processes are at work.
func (e Throttled) apply(d *transition) error {
	working := d.working()
	if working < 2 && d.Run.Pressure == nil {
		return unwelcome("one process alone presses nobody")
	}
	p := Press(d.Run.Pressure, working, e.By, d.at)
	if p == nil {
		return unwelcome("fewer processes may be at work since %s", d.Run.Pressure.At)
	}
	d.run().Pressure = p
	return nil
}

// Unthrottled says that nothing was pressed for a while.
type Unthrottled struct{}

var _ = kind[Unthrottled]("eased")

// apply lets one more process be at work.
func (Unthrottled) apply(d *transition) error {
	p := d.Run.Pressure
	if p == nil {
		return unwelcome("nothing is pressed")
	}
	most := d.Config.MaxParallel
	if most <= 0 {
		most = d.Agents.Len() + 1
	}
	d.run().Pressure = Ease(*p, most, d.at)
	return nil
}
