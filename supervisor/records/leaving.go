package records

import (
	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/exit"
)

// Why a supervisor leaves on purpose.
const (
	LeavingEnded       = "ended"
	LeavingParked      = "parked"
	LeavingInterrupted = "interrupted"
)

// ExitCode returns what a supervisor that leaves the run in this state exits with.
func (s Records) ExitCode() int {
	if s.Run.TakenOver != nil {
		return exit.Failed
	}
	if s.Run.Left == LeavingInterrupted {
		return exit.Interrupted
	}
	if s.Run.ExitCode == nil && s.WaitsForPerson() != nil {
		for a := range s.Agents.Values() {
			if a.Status == checkpoints.OverBudget {
				return exit.Budget
			}
		}
		return exit.Parked
	}
	return exit.Code(s.Decisive())
}
