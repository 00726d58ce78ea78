package calls

import (
	"encoding/json"
	"slices"
	"strings"

	"claude-supervise/supervisor/rules"
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

// OnlyReads reports whether a call of a tool is one such command of a program, and nothing else. own reports whether an
// id is one of the agent's run.
func OnlyReads(program, tool string, input json.RawMessage, own func(id string) bool) bool {
	var in map[string]json.RawMessage
	var line string
	if tool != "Bash" || json.Unmarshal(input, &in) != nil || json.Unmarshal(in["command"], &line) != nil {
		return false
	}
	for name := range in {
		if name != "command" && name != "description" && name != "timeout" {
			return false
		}
	}
	words, ok := rules.Words(line)
	if !ok || len(words) < 2 || words[0] != program {
		return false
	}
	command, known := readings[words[1]]
	return known && command.takes(words[2:], own)
}

// takes reports whether a command's words are ids of the run and flags that it may have.
func (r reading) takes(words []string, own func(id string) bool) bool {
	ids := 0
	for i := 0; i < len(words); i++ {
		name, value, joined := strings.Cut(words[i], "=")
		switch {
		case slices.Contains(r.flags, words[i]):
		case slices.Contains(r.values, name):
			if !joined {
				if i++; i == len(words) {
					return false
				}
				value = words[i]
			}
			if strings.HasPrefix(value, "-") {
				return false
			}
		case r.ids && own(words[i]):
			ids++
		default:
			return false
		}
	}
	return !r.ids || ids > 0
}
