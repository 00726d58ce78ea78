package supervisor

import (
	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/text"
)

// program is this program as an agent is told of it.
func (s State) program() string {
	if s.Run.Program == "" {
		return "claude-supervise"
	}
	return s.Run.Program
}

// readsOwnRun reports whether a call only reads what is of the agent's own run, by a command of ours. Where the program
// lies in a folder that the agent works in, none does: the agent may have written what would run.
func (s State) readsOwnRun(agent string, call checkpoints.ToolCall) bool {
	own := func(id string) bool {
		return id == s.Run.ID || s.Agents.Get(id) != nil || s.Questions.Get(id) != nil
	}
	return s.Run.Program != "" && !text.Under(s.Run.Program, s.Folder(agent)) &&
		!text.Under(s.Run.Program, s.Run.Cwd) && calls.OnlyReads(s.Run.Program, call.Name, call.Input, own)
}
