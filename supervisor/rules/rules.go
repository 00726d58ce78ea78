// Package rules reads the rules by which Claude Code runs something without asking, and tells what of a call they
// cover.
package rules

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	visible "claude-supervise/supervisor/text"
)

// A Rule is something that runs without being asked about, in Claude Code's own syntax (its documentation, "Configure
// permissions"): a tool, or a tool with what it may be used on.
//
//	Bash                      Bash(npm test)  Bash(npm run:*)  Bash(git log *)
//	Read  Edit                Edit(//home/me/notes.md)  Edit(/src/**)  Edit(docs/*.md)
//	WebFetch  WebSearch       WebFetch(domain:go.dev)
//	mcp__github               mcp__github__*  mcp__github__get_issue
//	Skill  Agent              Skill(review)  Agent(Explore)
//
// Rules that a person gives with --allow are handed to claude, which knows best what they mean. Those that are given
// while a run is under way are held against its calls here (covers), and there a rule means that or less: in doubt it
// covers nothing, and the person is asked.
type Rule struct {
	Tool string
	Spec string // what stands in the parentheses; "": the whole tool
}

// maxRule bounds a rule, in bytes: a person has to be able to read it.
const maxRule = 500

// fileTools are the tools whose calls name a file, each with the tool that rules about it name.
var fileTools = map[string]string{
	"Read": "Read", "NotebookRead": "Read",
	"Edit": "Edit", "MultiEdit": "Edit", "Write": "Edit", "NotebookEdit": "Edit",
}

// FileTool returns the tool that rules name about the files of a tool's calls: Edit for Write; "" for one whose calls
// name none.
func FileTool(tool string) string { return fileTools[tool] }

// knownTools are the names that a misspelt one is held against. Others are taken as they are: there are new ones all
// the time.
var knownTools = []string{
	"Bash", "Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "Glob", "Grep", "WebFetch",
	"WebSearch", "Skill", "Agent",
	"Task", "TodoWrite", "ExitPlanMode",
}

var (
	toolName = visible.Lazily(`^[A-Z][A-Za-z0-9]*$`)
	mcpName  = visible.Lazily(`^mcp__[A-Za-z0-9_.-]+\*?$`)
	hostName = visible.Lazily(`^(\*\.)?[A-Za-z0-9.-]+(:[0-9]+)?$`)
)

// Parse reads a rule. The error says what is wrong, and the nearest form that is right.
func Parse(text string) (Rule, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return Rule{}, errors.New("takes a rule such as Bash(npm test), not nothing")
	case len(text) > maxRule:
		return Rule{}, fmt.Errorf("takes a rule of at most %d bytes", maxRule)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, visible.Hidden):
		return Rule{}, fmt.Errorf("takes a rule on one line, not %q", text)
	}
	r := Rule{Tool: text}
	if open := strings.IndexByte(text, '('); open >= 0 {
		r = Rule{Tool: text[:open], Spec: strings.TrimSuffix(text[open+1:], ")")}
		switch {
		case !strings.HasSuffix(text, ")"):
			return Rule{}, noRule(text, r.String())
		case strings.TrimSpace(r.Spec) == "":
			return Rule{}, noRule(text, r.Tool)
		}
	}
	if near := r.nearest(text); near != "" {
		return Rule{}, noRule(text, near)
	}
	if r.Spec == "*" { // the same as the whole tool
		r.Spec = ""
	}
	return r, nil
}

func noRule(text, near string) error {
	return fmt.Errorf("takes a rule in Claude Code's syntax, not %q; did you mean %s?", text, near)
}

// nearest returns the form that a rule should have; "" if it has one.
func (r Rule) nearest(text string) string {
	if strings.HasPrefix(r.Tool, "mcp__") {
		switch {
		case r.Spec != "":
			return r.Tool
		case !mcpName().MatchString(r.Tool):
			return "mcp__SERVER__TOOL"
		}
		return ""
	}
	if !toolName().MatchString(r.Tool) || !slices.Contains(knownTools, r.Tool) {
		for _, known := range knownTools {
			if strings.EqualFold(strings.TrimSpace(r.Tool), known) && r.Tool != known {
				return Rule{Tool: known, Spec: r.Spec}.String()
			}
		}
	}
	if !toolName().MatchString(r.Tool) { // a command, more likely than not
		return "Bash(" + text + ")"
	}
	if r.Spec == "" || r.Spec == "*" {
		return ""
	}
	switch r.Tool {
	case "Write", "MultiEdit", "NotebookEdit": // claude takes such a rule, and never looks at it
		return Rule{Tool: "Edit", Spec: r.Spec}.String()
	case "Glob", "Grep":
		return Rule{Tool: "Read", Spec: r.Spec}.String()
	case "WebFetch":
		host, isDomain := strings.CutPrefix(r.Spec, "domain:")
		if !isDomain {
			if u, err := url.Parse(r.Spec); err == nil && u.Host != "" {
				host = u.Hostname()
			}
		}
		switch {
		case !hostName().MatchString(host):
			return "WebFetch(domain:HOST)"
		case !isDomain || host != r.Spec[len("domain:"):]:
			return "WebFetch(domain:" + host + ")"
		}
	case "WebSearch":
		return r.Tool
	}
	return ""
}

// String is the rule as a person types it.
func (r Rule) String() string {
	if r.Spec == "" {
		return r.Tool
	}
	return r.Tool + "(" + r.Spec + ")"
}

// literally writes a command as a rule of its own: a * stands for anything there, and a backslash takes that from it.
var literally = strings.NewReplacer(`\`, `\\`, `*`, `\*`)

// blanks are what a shell takes away around a command. Other white space (a no-break space, a line separator) is a part
// of a word: the name of another program.
const blanks = " \t\n"

// Exactly returns the rule that permits one command, file, host or tool, and nothing else; false if no rule can, or
// none that a person could judge: it has to fit on a line.
func Exactly(tool, what string) (Rule, bool) {
	r := Rule{Tool: tool, Spec: what}
	if tool == "Bash" {
		if what = strings.Trim(what, blanks); what == "" {
			return Rule{}, false
		}
		r.Spec = literally.Replace(what)
	} else if strings.ContainsAny(tool+what, "*?[]{}\\!") { // a name that reads as a pattern
		return Rule{}, false
	}
	if again, err := Parse(r.String()); err != nil || again != r {
		return Rule{}, false
	}
	return r, true
}

// Covered reports whether rules permit what an exact rule permits: the call that it was made of. cwd is the agent's
// folder. It looks at nothing on the disk: whoever made the exact rule has seen to it that its path is no link.
func Covered(rules []Rule, call Rule, cwd string) bool {
	if call.Tool == "Bash" && call.Spec != "" {
		return commandCovered(rules, call.Spec)
	}
	return slices.ContainsFunc(rules, func(r Rule) bool { return r.covers(call, cwd) })
}

func (r Rule) covers(call Rule, cwd string) bool {
	if r == call {
		return true
	}
	if server, any := strings.CutSuffix(r.Tool, "__*"); any || strings.HasPrefix(r.Tool, "mcp__") &&
		strings.Count(r.Tool, "__") == 1 {
		return strings.HasPrefix(call.Tool, server+"__")
	}
	if r.Tool != call.Tool {
		return false
	}
	switch {
	case r.Spec == "":
		return true
	case r.Tool == "Read" || r.Tool == "Edit":
		return pathCovered(r.Spec, call.Spec, cwd)
	}
	return false
}
