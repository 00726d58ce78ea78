package signals

import (
	"encoding/json"
	"slices"
	"strings"
)

// This file makes signals of calls of tools: of the supervisor's own (tools.go), and of the CLI's AskUserQuestion in a
// conversation that lint reads.

// supervise is what the names of the supervisor's own tools begin with, in a conversation.
const supervise = "mcp__supervise__"

// toolKinds are the supervisor's tools that tell it something; check_work only asks.
var toolKinds = map[string]Kind{
	"ask_user":          Clarification,
	"stop_work":         Stop,
	"delegate_work":     Delegate,
	"report_completion": Completion,
	"report_progress":   Progress,
	"send_message":      Message,
}

// Served reads a call of one of Tools, by its name without the server's, as the signal that it is; its dialect is Tool
// and its fields have the names of the block. It is not ok if the call tells nothing: another tool or check_work, an
// input that is no object with members, or one of more than MaxBlock bytes. An input that fits the tool's schema and is
// no larger always makes a signal. One that does not fit it makes one too, with its faults in Problems.
func Served(name string, input json.RawMessage) (sig Signal, ok bool) {
	f, ok := servedForm(name)
	if !ok {
		return Signal{}, false
	}
	sig, _, ok = toolSignal(f, name, input)
	return sig, ok
}

// toolForm returns the form that a tool's input has, if a call of it is a signal. The CLI refuses AskUserQuestion
// inside its subagents.
func toolForm(name string, src Source) (form, bool) {
	if own, ok := strings.CutPrefix(name, supervise); ok {
		return servedForm(own)
	}
	return callForm(Clarification), name == "AskUserQuestion" && src == Main
}

func servedForm(name string) (form, bool) {
	kind, ok := toolKinds[name]
	if !ok {
		return form{}, false
	}
	f := callForm(kind)
	if kind == Stop { // whether it was a blocker or an error, the blocker's type tells
		f.required = slices.DeleteFunc(slices.Clone(f.required), func(name string) bool { return name == "stop_reason" })
	}
	return f, true
}

// callForm is the form of a block as a call has it: the stream tells who and when.
func callForm(kind Kind) form {
	f := *formNamed(string(kind))
	f.nameless, f.mustStamp = true, false
	return f
}

// toolSignal makes a signal of a call. It returns false if it cannot.
func toolSignal(f form, tool string, input json.RawMessage) (Signal, []Problem, bool) {
	if len(input) > MaxBlock {
		return Signal{},
			[]Problem{newProblem(0, "truncated", "a call of %s with more than %d bytes is not read", tool, MaxBlock)}, false
	}
	members, err := objectMembers(string(input))
	if err != nil || len(members) == 0 {
		return Signal{}, []Problem{newProblem(0, "bad_json", "the input of %s is not an object with members", tool)}, false
	}
	sig := Signal{Kind: f.kind, Dialect: Tool}
	sig.fill(&f, members, string(input))
	if f.kind == Clarification && len(sig.Questions) == 0 {
		sig.finishQuestions(false, string(input))
	}
	return sig, nil, true
}
