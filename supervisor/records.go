package supervisor

import "claude-supervise/checkpoints"

// What lasts of a run is kept in records (package checkpoints).
type (
	// Run is the record of a run.
	Run = checkpoints.Run
	// Agent is the record of an agent.
	Agent = checkpoints.Agent
	// Launch is the record of one of its processes.
	Launch = checkpoints.Launch
	// Question is the record of what a person is asked.
	Question = checkpoints.Question
	// Report is the record of what an agent has reported.
	Report = checkpoints.Report
	// PartReport is the record of what a subagent has reported to its agent.
	PartReport = checkpoints.PartReport
	// Delivery is the record of one thing said to an agent.
	Delivery = checkpoints.Delivery
	// Status is the state of an agent or run, in the words that every reader sees.
	Status = checkpoints.Status
	// InboxEntry is a row of the inbox.
	InboxEntry = checkpoints.InboxEntry
)
