package exit

import (
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

// The exit codes of the program. They are an outside contract.
const (
	Success     = 0
	Failed      = 1
	Usage       = 2
	Partial     = 3
	Budget      = 4
	Stopped     = 5
	Unreported  = 6
	NoAgent     = 69
	Internal    = 70
	Parked      = 75
	TimedOut    = 124
	Interrupted = 130
)

// Code is what `run` exits with once the agent has ended.
func Code(a *checkpoints.Agent) int {
	switch a.Status {
	case checkpoints.Succeeded:
		return Success
	case checkpoints.Partial:
		return Partial
	case checkpoints.Stopped:
		return Stopped
	case checkpoints.Unreported:
		return Unreported
	case checkpoints.Parked:
		return Parked
	case checkpoints.OverBudget:
		return Budget
	}
	switch procs.FailureKind(a.Fault) {
	case procs.NotStarted, procs.NotClaude, procs.RefusedFlag:
		return NoAgent
	case procs.OverBudget:
		return Budget
	}
	return Failed
}

// ByWorst are exit codes, the worst first.
var ByWorst = []int{
	Internal, NoAgent, Failed, Unreported, Stopped, Budget, Interrupted,
	Parked, Partial, Success,
}

// Worse reports whether the end of an agent is worse than a status.
func Worse(a *checkpoints.Agent, than checkpoints.Status) bool {
	return slices.Index(ByWorst, Code(a)) < slices.Index(ByWorst, Code(&checkpoints.Agent{Status: than}))
}
