package calls

import (
	"encoding/json"
	"slices"
	"strings"

	"claude-supervise/supervisor/text"
)

// A Headline says in one line what a call does. It is written as package text writes evidence, and says how much it
// leaves out. Only this file makes one, of a call's input or of the very command: what the model says about it is none.
type Headline struct{ line string }

// String returns the line; "" if the input says nothing.
func (h Headline) String() string { return h.line }

// Headline returns what a call with this input does: the members that the tool's row names, or all of them.
func (t Tool) Headline(input json.RawMessage) Headline {
	members := t.members(input)
	if members == nil {
		if empty := strings.TrimSpace(string(input)); empty == "{}" || empty == "null" {
			return Headline{}
		}
		return headline(string(input))
	}
	_, row := Known(t.Name)
	var parts []string
	for _, m := range members {
		switch {
		case !row:
			parts = append(parts, m.name+": "+m.value)
		case slices.Contains(t.Head, m.name) && m.value != "":
			parts = append(parts, m.value)
		}
	}
	if row {
		return headline(strings.Join(parts, ": "))
	}
	return headline(strings.Join(parts, ", "))
}

// AtPath returns what a call does that is about one file: its path, as a person finds it.
func AtPath(path string) Headline { return headline(path) }

// OfCommand returns what a command of the person's does: the command itself.
func OfCommand(command string) Headline { return headline(command) }

func headline(of string) Headline { return Headline{text.Line(of, text.MaxNamed)} }

// Members writes an input, a member a line, what says most about the call first.
func (t Tool) Members(input json.RawMessage) string {
	members := t.members(input)
	if members == nil {
		return string(input)
	}
	lines := make([]string, len(members))
	for i, m := range members {
		lines[i] = m.name + ": " + m.value
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// ItSays stands before what the model says of a call.
const ItSays = "it says: "

type member struct{ name, value string }

// members returns those of an input: first those that say what the call does, last those by which a model may say
// anything; nil if it has none.
func (t Tool) members(input json.RawMessage) []member {
	var all []member
	text.EachMember(input, func(name, value string) { all = append(all, member{name, value}) })
	first, last := t.Head, t.Said
	if _, row := Known(t.Name); !row {
		first, last = telling, saying
	}
	rank := func(m member) int {
		if at := slices.Index(first, m.name); at >= 0 {
			return at
		}
		if slices.Contains(last, m.name) {
			return len(first) + 1
		}
		return len(first)
	}
	slices.SortStableFunc(all, func(a, b member) int { return rank(a) - rank(b) })
	return all
}

// Of tools that have no row: the names that tend to say what a call does, and those by which a model may say anything.
var (
	telling = []string{"command", "script", "code", "file_path", "path", "url"}
	saying  = []string{"description", "title", "summary", "reason", "explanation", "label", "header", "purpose"}
)
