package supervisor

import (
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/listen"
)

// BackgroundChanged lists what lives outside turns.
type BackgroundChanged struct {
	Agent  string
	Launch int
	Tasks  []checkpoints.Task
}

var _ = kind[BackgroundChanged]("background")

func (e BackgroundChanged) apply(d *transition) error {
	return d.onLaunch(e.Agent, e.Launch, func(l *Launch) {
		if len(e.Tasks) < len(l.Background) {
			switch l.Phase {
			case checkpoints.LaunchIdle:
				l.Enter(checkpoints.LaunchTurnDue)
			case checkpoints.LaunchTurnEnding:
				l.Enter(checkpoints.LaunchTurnOwed)
			}
		}
		l.Background = e.Tasks
	})
}

func (BackgroundChanged) mayBeLost() bool { return true }

// BusyElsewhere says whether something else of an agent is at work while a question of it waits in a call.
type BusyElsewhere struct {
	Agent  string
	Launch int
	AtWork bool
}

var _ = kind[BusyElsewhere]("besides")

func (e BusyElsewhere) apply(d *transition) error {
	return d.onLaunch(e.Agent, e.Launch, func(l *Launch) { l.BusyElsewhere = e.AtWork })
}

func (BusyElsewhere) mayBeLost() bool { return true }

// turnDue is of an agent whose next turn the CLI begins by itself: what is said now would fall into that.
var turnDue = concern{name: "turn due", live: func(d *transition, of subject) bool {
	if of.launch.Phase != checkpoints.LaunchTurnDue {
		return false
	}
	d.setStatus(of.Agent, checkpoints.Blocked, "its background work has ended; its next turn is about to begin")
	return true
}}

// background is of an agent whose turn has ended while something of its own lives on.
var background = concern{name: "background", live: func(d *transition, of subject) bool {
	if len(of.launch.Alive()) == 0 {
		return false
	}
	d.setStatus(of.Agent, checkpoints.Blocked, "waits for its background work: "+strings.Join(of.launch.Alive(), ", "))
	return true
}}

// CheckBusyElsewhere reports whether something else of a child is at work while a question waits in a call, and whether
// that is news.
func CheckBusyElsewhere(s State, c *listen.Listener) (b BusyElsewhere, changed bool) {
	l := s.Live(c.Agent)
	if l == nil || l.N != c.Launch || c.Talk.Idle() && !l.BusyElsewhere {
		return b, false
	}
	waiting, background := map[string]bool{}, false
	for _, q := range s.Open(c.Agent) {
		if call := s.HeldCall(q); call != nil {
			waiting[call.ToolUse] = true
		}
	}
	for _, q := range s.Open(c.Agent) {
		if call := s.HeldCall(q); call != nil && call.From != nil {
			line := call.From.Line()
			background = background || c.Talk.CallsBesides(line[len(line)-1].ToolUse, waiting)
		}
	}
	atWork := background || len(waiting) > 0 && l.Phase.InTurn() && c.Talk.AtWorkBesides(waiting)
	return BusyElsewhere{Agent: c.Agent, Launch: c.Launch, AtWork: atWork}, atWork != l.BusyElsewhere
}

// AtWorkBeside reports whether something else of a child's main conversation is at work beside a call of it that is
// about to wait for a person. Tools of ours are called one after the other: beside them nothing is.
func AtWorkBeside(s State, c *listen.Listener, toolUse string) bool {
	waiting := map[string]bool{toolUse: true}
	for _, q := range s.Open(c.Agent) {
		if call := s.HeldCall(q); call != nil {
			waiting[call.ToolUse] = true
		}
	}
	return c.Talk.Main(toolUse) && c.Talk.AtWorkBesides(waiting)
}
