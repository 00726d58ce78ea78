package supervisor

import (
	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

// The exit codes of the program. They are an outside contract.
const (
	ExitSuccess     = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitPartial     = 3
	ExitBudget      = 4
	ExitStopped     = 5
	ExitUnreported  = 6
	ExitNoAgent     = 69
	ExitInternal    = 70
	ExitParked      = 75
	ExitTimedOut    = 124
	ExitInterrupted = 130
)

// ExitCode is what `run` exits with once the agent has ended.
func ExitCode(a *Agent) int {
	switch a.Status {
	case checkpoints.Succeeded:
		return ExitSuccess
	case checkpoints.Partial:
		return ExitPartial
	case checkpoints.Stopped:
		return ExitStopped
	case checkpoints.Unreported:
		return ExitUnreported
	case checkpoints.Parked:
		return ExitParked
	case checkpoints.OverBudget:
		return ExitBudget
	}
	switch procs.FailureKind(a.Fault) {
	case procs.NotStarted, procs.NotClaude, procs.RefusedFlag:
		return ExitNoAgent
	case procs.OverBudget:
		return ExitBudget
	}
	return ExitFailed
}

// ExitCodeOf is what a supervisor that leaves the run in this state exits with.
func ExitCodeOf(s State) int {
	if s.Run.TakenOver != nil {
		return ExitFailed
	}
	if s.Run.Left == LeavingInterrupted {
		return ExitInterrupted
	}
	if s.Run.ExitCode == nil && s.waitsForPerson() != nil {
		for _, a := range s.Agents {
			if a.Status == checkpoints.OverBudget {
				return ExitBudget
			}
		}
		return ExitParked
	}
	return ExitCode(s.decisive())
}
