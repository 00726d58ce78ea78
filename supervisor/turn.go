package supervisor

import (
	"cmp"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/text"
)

// TurnBegun says that the CLI has begun a turn, asked for or by itself.
type TurnBegun struct {
	Agent   string
	Launch  int
	Version string
	Types   []string `json:",omitempty"` // of agents that the CLI knows here
	Unasked bool     `json:",omitempty"` // nothing that was said to the process has begun it
}

var _ = kind[TurnBegun]("turn_begun")

func (e TurnBegun) apply(d *transition) error {
	return d.onLaunch(e.Agent, e.Launch, func(l *Launch) {
		l.Enter(checkpoints.LaunchTurn)
		l.Begun, l.ReportWaived, l.Version, l.AgentTypes = true, false, e.Version, e.Types
	})
}

func (TurnBegun) mayBeLost() bool { return true }

// GateAsked is the Stop hook: may the turn end?
type GateAsked struct {
	Agent      string
	Launch     int
	Request    string
	Transcript string
	Background []checkpoints.Task
	WakeUps    []string
	// EndUnreported: background work has ended since the turn's last request; it is told in a turn of its own.
	EndUnreported bool `json:"Untold"`
	Report        bool // the last message ends with a report without an id, which counts if the turn ends now
	Ask           bool // the same for a question, stop or delegation

	// Unfiled are the ids of question files that the agent says it has asked by, and that are not there.
	Unfiled []string `json:",omitempty"`
	// Unheard are the subagents that have ended with a pause that nobody was asked.
	Unheard []string `json:",omitempty"`
}

var _ = kind[GateAsked]("gate_asked")

func (e GateAsked) apply(d *transition) error {
	return d.onLaunch(e.Agent, e.Launch, func(l *Launch) {
		l.Background, l.WakeUps, l.Transcript = e.Background, e.WakeUps, e.Transcript
		l.Gate = &checkpoints.Gate{Request: e.Request}
		inTurn := l.Phase.InTurn()
		switch {
		case !inTurn:
		case e.EndUnreported:
			l.Enter(checkpoints.LaunchTurnOwed)
		default:
			l.Enter(checkpoints.LaunchTurnEnding)
		}
		if len(e.Background) == 0 {
			d.clientsGone(e.Agent)
		}
		a := d.Agents.Get(e.Agent)
		if e.Report || e.Ask || !d.canRequestReport(a) || a.StopWanted != "" || l.End != "" ||
			len(e.Background)+len(e.WakeUps) > 0 {
			return
		}
		if l.ReportWaived = len(d.WaitsFor(a.ID)) > 0 || len(d.Open(a.ID)) > 0 || d.preparing(a.ID) != "" ||
			len(a.Outbox) > 0 || len(d.FindDeliveries(a.ID, (*checkpoints.Delivery).Unsent)) > 0; l.ReportWaived {
			return
		}
		d.agent(a.ID).ReportRequested = true
		l.Gate.Block = prompts.StillAssuming(d.Assuming(a.ID)) + prompts.Gate(a, e.Unfiled, e.Unheard)
		if inTurn {
			l.Enter(checkpoints.LaunchTurn)
		}
	})
}

func (GateAsked) mayBeLost() bool { return true }

// GateReplied says that the hook has its reply.
type GateReplied struct {
	Agent   string
	Launch  int
	Request string
}

var _ = kind[GateReplied]("gate_replied")

func (e GateReplied) apply(d *transition) error {
	return d.onLaunch(e.Agent, e.Launch, func(l *Launch) {
		if l.Gate != nil && l.Gate.Request == e.Request {
			l.Gate = nil
		}
	})
}

func (GateReplied) mayBeLost() bool { return true }

// TurnEnded is a result line.
type TurnEnded struct {
	Agent                     string
	Launch                    int
	Failure                   procs.Failure
	CostUSD                   float64 // of this turn
	InputTokens, OutputTokens int64   // of this turn
	CacheRead, CacheCreation  int64   `json:",omitempty"` // of the input
	ServiceTier               string  `json:",omitempty"` // "": not said
	ToolUses                  int     `json:",omitempty"` // of this turn
	Origin                    string  `json:",omitempty"` // what has begun it, if that was nothing that was said
	Turns                     int     `json:",omitempty"` // requests that its own conversation has made in it

	Resets *time.Time `json:",omitempty"` // of a Failure that is a usage limit: when that ends, if it can be told
}

var _ = kind[TurnEnded]("turn_ended")

func (e TurnEnded) apply(d *transition) error {
	if _, err := d.current(e.Agent, e.Launch); err != nil {
		return err
	}
	l, a := d.last(e.Agent), d.agent(e.Agent)
	done := a.ReportedIn(l)
	d.billed(a, l, e)
	if !d.Abilities().TakesInput {
		return nil // its turn ends with the process, whose exit tells how
	}
	if len(l.Background) == 0 {
		d.clientsGone(a.ID)
	}
	switch l.Phase {
	case checkpoints.LaunchTurnOwed:
		l.Enter(checkpoints.LaunchTurnDue)
	case checkpoints.LaunchTurn, checkpoints.LaunchTurnEnding:
		l.Enter(checkpoints.LaunchIdle)
	}
	l.Gate = nil
	if e.Failure.EndsByItself() {
		return nil
	}
	l.Turns++
	// Called with an empty prompt, it has let no result be said, whatever else the process is ended for.
	unsaid := e.Failure.Kind == procs.HookRefused && d.notAt(l, e.Failure.Reason)
	switch {
	case e.Failure.Kind == "":
		a.Failures, a.Rejected = 0, 0
	case l.End == endBudget, l.End == "" && byOurBound(l, e):
		a.GoOn = !done
		d.end(a.ID, endBudget, e.Failure.Reason)
	case l.End != "":
	case unsaid:
		d.end(a.ID, endRetry, e.Failure.Reason)
	case e.Failure.IsLimit():
		d.rejected(a, e.Failure.Reason, e.Resets)
	default:
		d.failure(a, e.Failure)
	}
	return nil
}

func (TurnEnded) mayBeLost() bool { return true }

// gate is the Stop hook of a process, which waits for its reply.
var gate = concern{
	name: "gate",
	plan: func(_ State, _ *Agent, l *Launch, so []effect.Effect) []effect.Effect {
		if l != nil && l.Phase.Runs() && l.Gate != nil && l.End != EndRecover {
			so = append(so, effect.Gate.OfRequest(l, l.Gate.Request))
		}
		return so
	},
	tells: func(_, _ State, e Event, tell notice.Teller) {
		if e, ok := e.(GateAsked); ok {
			for _, id := range e.Unfiled {
				tell(notice.Progress, e.Agent, notice.Notification{Trouble: true,
					Text: "says that it has asked by the question file " + id + ".json, which is not there"})
			}
		}
	},
}

// singleTurn is of a command, which takes nothing in: what is to be said waits for the end of its process.
var singleTurn = concern{name: "single turn", live: func(d *transition, of subject) bool {
	if d.Abilities().TakesInput {
		return false
	}
	of.HoldUntil = nil
	reason := "at work"
	if len(of.open) > 0 {
		reason = "at work; asks: " + text.FirstLine(of.open[0].Text)
	}
	d.setStatus(of.Agent, checkpoints.Running, reason)
	return true
}}

// turn is of an agent at work, or in a call that waits for a person.
var turn = concern{name: "turn", live: func(d *transition, of subject) bool {
	switch {
	case !of.launch.Phase.InTurn():
		return false
	case slices.ContainsFunc(of.open, func(q *Question) bool { return d.Held(q) != nil }):
		d.wait(of)
	default:
		of.HoldUntil = nil
		d.setStatus(of.Agent, checkpoints.Running, d.Doing(of.Agent))
	}
	return true
}}

// spokenTo is of an agent to which a prompt is on its way.
var spokenTo = concern{
	name: "spoken to",
	live: func(d *transition, of subject) bool {
		if !d.reads(of.launch) {
			return false
		}
		d.setStatus(of.Agent, checkpoints.Running, "reads what was said to it")
		return true
	},
	plan: func(s State, a *Agent, l *Launch, so []effect.Effect) []effect.Effect {
		if l.Works() {
			for _, v := range s.UnsentTo(a.ID, l.N) {
				so = append(so, effect.Deliver.OfDelivery(l, v.UUID))
			}
		}
		return so
	},
}

// billed takes what a result says that its turn has used: what was seen of it before is in that.
func (d *transition) billed(a *Agent, l *Launch, b TurnEnded) {
	a.CostUSD += b.CostUSD
	a.InputTokens += b.InputTokens
	a.OutputTokens += b.OutputTokens
	a.CacheRead += b.CacheRead
	a.CacheCreation += b.CacheCreation
	a.ServiceTier = cmp.Or(b.ServiceTier, a.ServiceTier)
	a.ToolUses += b.ToolUses
	a.Turns += b.Turns
	l.CostUSD += b.CostUSD
	l.Used = nil
}

// byOurBound reports whether claude has ended a turn because of a bound that we gave its process.
func byOurBound(l *Launch, b TurnEnded) bool {
	const roundedOff = 1e-6
	return b.Failure.Kind == procs.OverBudget &&
		(l.ShareUSD > 0 && l.CostUSD >= l.ShareUSD-roundedOff || l.MaxTurns > 0 && b.Turns >= l.MaxTurns)
}
