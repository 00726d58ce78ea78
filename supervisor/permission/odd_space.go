package permission

import (
	"encoding/json"
	"strings"
	"unicode"

	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/rules"
)

// WhyOddSpace is what a person is told of a command that Claude Code's own rules may take for another.
const WhyOddSpace = "It has white space that a shell takes for a part of a name, and Claude Code does not."

// OddSpace says why a person is to be asked before a command: before Claude Code holds its rules against one it takes
// white space away that is a part of a name to a shell, so Bash(./x) would run the file "./x" with a no-break space
// behind it. It is "" of a run that may run any command.
func OddSpace(cfg conf.Config, tool string, input json.RawMessage) string {
	var in map[string]json.RawMessage
	var command string
	if rules.FileTool(tool) != "" || calls.Served(tool) || json.Unmarshal(input, &in) != nil ||
		json.Unmarshal(in["command"], &command) != nil || !strings.ContainsFunc(command, oddSpace) || allowsAll(cfg) {
		return ""
	}
	return WhyOddSpace
}

// oddSpace reports whether JavaScript takes a character for white space and a shell does not.
func oddSpace(r rune) bool {
	return r == '\ufeff' || unicode.IsSpace(r) && r != ' ' && r != '\t' && r != '\n'
}

// allowsAll reports whether the person's flags let any command run.
func allowsAll(cfg conf.Config) bool {
	for _, given := range cfg.Allow {
		if r, err := rules.Parse(given); err == nil && r == (rules.Rule{Tool: "Bash"}) {
			return true
		}
	}
	for _, flag := range cfg.Flags {
		for _, word := range strings.FieldsFunc(flag, func(r rune) bool { return strings.ContainsRune("=, ", r) }) {
			if word == "Bash" || word == "Bash(*)" || word == "bypassPermissions" ||
				word == "--dangerously-skip-permissions" {
				return true
			}
		}
	}
	return false
}
