// Package nested is the client of a run that is started inside an agent. It leaves the task for the run that it is in,
// follows the agent that this run starts for it, and says how it went.
//
//	claude-supervise run, inside an agent ──▶ inbox of the run ──▶ a child agent ──▶ progress and exit code, here
//
// It starts no process, and decides nothing: the core does (supervisor/nested.go).
package nested
