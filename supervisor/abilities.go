package supervisor

import "claude-supervise/procs"

// Abilities returns what the agents can do.
func (s State) Abilities() procs.Abilities { return s.Config.Abilities() }

// Serves reports whether our tools are at the agents' hands.
func (s State) Serves() bool { return s.Abilities().ServesTools && !s.Config.Toolless }
