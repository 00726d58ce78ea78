package supervisor

import (
	"slices"

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

// ByWorst are exit codes, the worst first.
var ByWorst = []int{
	ExitInternal, ExitNoAgent, ExitFailed, ExitUnreported, ExitStopped, ExitBudget, ExitInterrupted,
	ExitParked, ExitPartial, ExitSuccess,
}

// worse reports whether the end of an agent is worse than a status.
func worse(a *Agent, than Status) bool {
	return slices.Index(ByWorst, ExitCode(a)) < slices.Index(ByWorst, ExitCode(&Agent{Status: than}))
}
