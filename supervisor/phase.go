package supervisor

import (
	"fmt"
	"slices"

	"claude-supervise/checkpoints"
)

// phases says which phases of a launch may follow each:
//
//	intended ──▶ idle ◀──▶ turn ──▶ turn ending ──▶ turn owed      any of a launch that lives ──▶ ended ──▶ surveyed
//	              │ ▲       ▲  ▲         │               │
//	              ▼ │       │  └─────────┴── to turn, ───┤
//	            turn due ───┘                or idle     │
//	                ▲────────────────────────────────────┘
var phases = map[checkpoints.LaunchPhase][]checkpoints.LaunchPhase{
	checkpoints.LaunchIntended: {checkpoints.LaunchIdle, checkpoints.LaunchTurn, checkpoints.LaunchEnded},
	checkpoints.LaunchIdle:     {checkpoints.LaunchTurn, checkpoints.LaunchTurnDue, checkpoints.LaunchEnded},
	checkpoints.LaunchTurn: {checkpoints.LaunchIdle, checkpoints.LaunchTurnEnding, checkpoints.LaunchTurnOwed,
		checkpoints.LaunchEnded},
	checkpoints.LaunchTurnEnding: {checkpoints.LaunchTurn, checkpoints.LaunchTurnOwed, checkpoints.LaunchIdle,
		checkpoints.LaunchEnded},
	checkpoints.LaunchTurnOwed: {checkpoints.LaunchTurn, checkpoints.LaunchTurnEnding, checkpoints.LaunchTurnDue,
		checkpoints.LaunchIdle, checkpoints.LaunchEnded},
	checkpoints.LaunchTurnDue:  {checkpoints.LaunchTurn, checkpoints.LaunchIdle, checkpoints.LaunchEnded},
	checkpoints.LaunchEnded:    {checkpoints.LaunchSurveyed},
	checkpoints.LaunchSurveyed: nil,
}

// enter brings a launch into a phase, in which it may be already. It panics where the phase cannot follow: a bug.
func enter(l *Launch, next checkpoints.LaunchPhase) {
	if l.Phase != next && !slices.Contains(phases[l.Phase], next) {
		panic(fmt.Sprintf("supervisor: launch %d of %s is %s and cannot be %s", l.N, l.Agent, l.Phase, next))
	}
	l.Phase = next
}
