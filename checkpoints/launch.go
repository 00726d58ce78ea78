package checkpoints

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"claude-supervise/checkpoints/files"
)

// LaunchPhase is how far a launch has got. Which phases may follow each, phases says.
type LaunchPhase string

// The phases of a launch.
const (
	LaunchIntended   LaunchPhase = "intended"    // saved before the exec
	LaunchIdle       LaunchPhase = "idle"        // its process runs: before its first turn, or between two
	LaunchTurn       LaunchPhase = "turn"        // a turn is under way, or a prompt is about to begin one
	LaunchTurnEnding LaunchPhase = "turn ending" // the turn may end: what happens now is told in the next one
	LaunchTurnOwed   LaunchPhase = "turn owed"   // the same, and background work has ended that it is not told of
	LaunchTurnDue    LaunchPhase = "turn due"    // background work has ended: the CLI is about to begin a turn by itself
	LaunchEnded      LaunchPhase = "ended"       // its process is gone
	LaunchSurveyed   LaunchPhase = "surveyed"    // the same, and its checkpoint was written
)

// InTurn reports whether a turn is under way.
func (p LaunchPhase) InTurn() bool {
	return p == LaunchTurn || p == LaunchTurnEnding || p == LaunchTurnOwed
}

// Ended reports whether the process of a launch is gone.
func (p LaunchPhase) Ended() bool { return p == LaunchEnded || p == LaunchSurveyed }

// Runs reports whether the process of a launch runs.
func (p LaunchPhase) Runs() bool { return p == LaunchIdle || p == LaunchTurnDue || p.InTurn() }

// A Launch is one process of an agent.
type Launch struct {
	Agent         string      `json:"agent"`
	N             int         `json:"n"`
	Epoch         int         `json:"epoch"`            // of the supervisor that made it
	Phase         LaunchPhase `json:"-"`                // see storedPhase
	Resume        bool        `json:"resume"`           // --resume SESSION, else a fresh conversation
	At            string      `json:"at,omitempty"`     // the line at which it continues, with Delivery.Results
	NotAt         string      `json:"not_at,omitempty"` // why it does not, though it was to
	PID           int         `json:"pid,omitempty"`
	StartTicks    uint64      `json:"start_ticks,omitempty"` // with PID the identity of the process
	StartedAt     *time.Time  `json:"started_at,omitempty"`
	EndedAt       *time.Time  `json:"ended_at,omitempty"`
	Begun         bool        `json:"heard,omitempty"`       // the conversation exists: the CLI has begun a turn
	Version       string      `json:"version,omitempty"`     // the release of claude, once it has said it
	AgentTypes    []string    `json:"agent_types,omitempty"` // of agents that claude knows in its folder
	Background    []Task      `json:"background,omitempty"`  // what lives on after a turn
	WakeUps       []string    `json:"wake_ups,omitempty"`    // scheduled; each starts a turn by itself
	ReportWaived  bool        `json:"excused,omitempty"`     // a turn was let end without a report, for what is waited for
	Gate          *Gate       `json:"gate,omitempty"`        // a stop hook that waits for its reply
	Turns         int         `json:"turns"`                 // ended turns
	End           string      `json:"end,omitempty"`         // why we end it: finish, park, stop, interrupt, fail, recover
	EndReason     string      `json:"end_reason,omitempty"`  // for people
	Outcome       string      `json:"outcome,omitempty"`     // how it ended, for people
	Foreign       string      `json:"foreign,omitempty"`     // an id of another agent's under which it ended or asked
	Transcript    string      `json:"transcript,omitempty"`  // path, once the CLI has said it
	Stalled       *Stall      `json:"silent,omitempty"`      // it works, and nothing is heard of it
	BusyElsewhere bool        `json:"besides,omitempty"`     // while a question waits in a call, something else is at work
	Replies       []Reply     `json:"replies,omitempty"`     // to calls of our tools that nobody is asked about
	ShareUSD      float64     `json:"share_usd,omitempty"`   // what it may cost by its agent's budgets; 0: no bound
	MaxTurns      int         `json:"max_turns,omitempty"`   // how many requests each of its turns may make by these
	CostUSD       float64     `json:"cost_usd,omitempty"`    // what its results say that it has cost
	Used          *Used       `json:"used,omitempty"`        // by the turn under way; nil: nothing was heard of that
}

// storedPhase is a phase as records keep it: that of the first release, which had no phases.
type storedPhase struct {
	State    LaunchPhase `json:"state"` // intended, started or ended
	Turn     bool        `json:"turn"`
	Due      bool        `json:"turn_due,omitempty"`
	Ending   bool        `json:"let_go,omitempty"`
	Owed     bool        `json:"untold,omitempty"`
	Surveyed bool        `json:"surveyed,omitempty"`
}

const launchStarted = "started" // what records call every phase in which the process runs

// MarshalJSON writes the phase as every release can read it.
func (l Launch) MarshalJSON() ([]byte, error) {
	type plain Launch
	p := storedPhase{State: l.Phase, Surveyed: l.Phase == LaunchSurveyed}
	switch {
	case l.Phase.Runs():
		p = storedPhase{
			State: launchStarted, Turn: l.Phase.InTurn(), Due: l.Phase == LaunchTurnDue,
			Ending: l.Phase == LaunchTurnEnding || l.Phase == LaunchTurnOwed, Owed: l.Phase == LaunchTurnOwed,
		}
	case l.Phase.Ended():
		p.State = LaunchEnded
	}
	return json.Marshal(struct {
		plain
		storedPhase
	}{plain(l), p})
}

// UnmarshalJSON reads what any release has written. A state that none has written is an error.
func (l *Launch) UnmarshalJSON(data []byte) error {
	type plain Launch
	var p storedPhase
	if err := json.Unmarshal(data, &struct {
		*plain
		*storedPhase
	}{(*plain)(l), &p}); err != nil {
		return err
	}
	switch l.Phase = p.State; {
	case p.State == LaunchEnded && p.Surveyed:
		l.Phase = LaunchSurveyed
	case p.State == LaunchEnded, p.State == LaunchIntended:
	case p.State != launchStarted:
		return fmt.Errorf("launch %d of agent %s has the state %q",
			l.N, files.Shorten(l.Agent), files.Shorten(string(p.State)))
	case p.Turn && p.Owed:
		l.Phase = LaunchTurnOwed
	case p.Turn && p.Ending:
		l.Phase = LaunchTurnEnding
	case p.Turn:
		l.Phase = LaunchTurn
	case p.Due:
		l.Phase = LaunchTurnDue
	default:
		l.Phase = LaunchIdle
	}
	return nil
}

// Alive lists what of the agent's own lives on outside its turns.
func (l *Launch) Alive() []string {
	var names []string
	for _, t := range l.Background {
		names = append(names, t.Name)
	}
	return append(names, l.WakeUps...)
}

// AnswerAtOnce replies to a call that nobody has to be asked about.
func (l *Launch) AnswerAtOnce(r Reply) { l.Replies = append(slices.Clip(l.Replies), r) }

// ReplyAt returns the place of the reply to a request among those of a launch, or -1.
func (l *Launch) ReplyAt(request string) int {
	return slices.IndexFunc(l.Replies, func(r Reply) bool { return r.Request == request })
}

// LastWords says why a launch has ended, as well as it is known.
func (l *Launch) LastWords() string {
	if l.EndReason != "" {
		return l.EndReason
	}
	return l.Outcome
}

// Works reports whether a process runs that is not to end.
func (l *Launch) Works() bool { return l != nil && l.Phase.Runs() && l.End == "" }

// phases says which phases of a launch may follow each:
//
//	intended ──▶ idle ◀──▶ turn ──▶ turn ending ──▶ turn owed
//	              │ ▲       ▲  ▲         │               │
//	              ▼ │       │  └─────────┴── to turn, ───┤
//	            turn due ───┘                or idle     │
//	                ▲------------------------------------┘
//
//	any of a launch that lives ──▶ ended ──▶ surveyed
var phases = map[LaunchPhase][]LaunchPhase{
	LaunchIntended:   {LaunchIdle, LaunchTurn, LaunchEnded},
	LaunchIdle:       {LaunchTurn, LaunchTurnDue, LaunchEnded},
	LaunchTurn:       {LaunchIdle, LaunchTurnEnding, LaunchTurnOwed, LaunchEnded},
	LaunchTurnEnding: {LaunchTurn, LaunchTurnOwed, LaunchIdle, LaunchEnded},
	LaunchTurnOwed:   {LaunchTurn, LaunchTurnEnding, LaunchTurnDue, LaunchIdle, LaunchEnded},
	LaunchTurnDue:    {LaunchTurn, LaunchIdle, LaunchEnded},
	LaunchEnded:      {LaunchSurveyed},
	LaunchSurveyed:   nil,
}

// Enter brings a launch into a phase, in which it may be already. It panics where the phase cannot follow: a bug.
func (l *Launch) Enter(next LaunchPhase) {
	if l.Phase != next && !slices.Contains(phases[l.Phase], next) {
		panic(fmt.Sprintf("supervisor: launch %d of %s is %s and cannot be %s", l.N, l.Agent, l.Phase, next))
	}
	l.Phase = next
}

// LacksType reports whether claude knows no agents of that type where a launch works.
func (l *Launch) LacksType(kind string) bool {
	return kind != "" && l != nil && len(l.AgentTypes) > 0 && !slices.Contains(l.AgentTypes, kind)
}
