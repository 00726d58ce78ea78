package supervisor

import (
	"encoding/json"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/rules"
	"claude-supervise/supervisor/text"
)

// This file is what an agent may run unasked: our own commands that only read, about nothing but its own run. The
// program is named by its whole path, which the agent reads where it is told of them: a bare name may be another's.

// A reading is what a command takes that only reads.
type reading struct {
	ids    bool // it takes ids; else, inside an agent, it lists the agent's own run alone
	flags  []string
	values []string // flags with a value
}

var readings = map[string]reading{
	"logs":      {ids: true, flags: []string{"--raw", "--json"}, values: []string{"--tail", "--since"}},
	"show":      {ids: true, flags: []string{"--json", "--findings"}},
	"wait":      {ids: true, flags: []string{"--json", "--any", "--question"}, values: []string{"--timeout"}},
	"ps":        {flags: []string{"--json", "--tree", "-a", "--all", "-q", "--ids"}},
	"questions": {flags: []string{"--json"}},
}

// program is this program as an agent is told of it.
func (s State) program() string {
	if s.Run.Program == "" {
		return "claude-supervise"
	}
	return s.Run.Program
}

// readsOwnRun reports whether a call is one such command, and nothing else. Where the program lies in a folder that the
// agent works in, none is: the agent may have written what would run.
func (s State) readsOwnRun(agent string, call checkpoints.ToolCall) bool {
	var in map[string]json.RawMessage
	var line string
	if call.Name != "Bash" || s.Run.Program == "" || json.Unmarshal(call.Input, &in) != nil ||
		json.Unmarshal(in["command"], &line) != nil {
		return false
	}
	for name := range in {
		if name != "command" && name != "description" && name != "timeout" {
			return false
		}
	}
	if text.Under(s.Run.Program, s.Folder(agent)) || text.Under(s.Run.Program, s.Run.Cwd) {
		return false
	}
	words, ok := rules.Words(line)
	if !ok || len(words) < 2 || words[0] != s.Run.Program {
		return false
	}
	command, known := readings[words[1]]
	return known && s.takesReading(command, words[2:])
}

// takesReading reports whether a command's words are ids of this run and flags that it may have.
func (s State) takesReading(command reading, words []string) bool {
	ids := 0
	for i := 0; i < len(words); i++ {
		name, value, joined := strings.Cut(words[i], "=")
		switch {
		case slices.Contains(command.flags, words[i]):
		case slices.Contains(command.values, name):
			if !joined {
				if i++; i == len(words) {
					return false
				}
				value = words[i]
			}
			if strings.HasPrefix(value, "-") {
				return false
			}
		case command.ids && (words[i] == s.Run.ID || s.Agents.Get(words[i]) != nil || s.Questions.Get(words[i]) != nil):
			ids++
		default:
			return false
		}
	}
	return !command.ids || ids > 0
}
