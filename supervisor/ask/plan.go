package ask

import (
	"encoding/json"
	"fmt"
	"strings"

	"claude-supervise/signals"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// This file is the plan of an agent in plan mode. The CLI reads it from the file that the model has written, and asks
// by ExitPlanMode whether it may be carried out: allowed, the call ends plan mode (2.1.7 to 2.1.332).

// ExitPlanMode is the tool of the CLI that asks about a plan.
const ExitPlanMode = "ExitPlanMode"

// allowedPrompts is the member of its input by which a model asks to do more without being asked, as 2.1.7 to 2.1.332
// let it. It is no part of what a person approves.
const allowedPrompts = "allowedPrompts"

// Plan makes the question of a plan, from the input of its call. What is said about the plan stands above it: all that
// follows is the plan, as package text writes it. subagent is the id of one that asks, "" for none.
func Plan(input json.RawMessage, subagent string) signals.Question {
	var in map[string]json.RawMessage
	_ = json.Unmarshal(input, &in) // else nothing of it is known, and none of it can be approved
	var plan, file string
	_ = json.Unmarshal(in["plan"], &plan)
	_ = json.Unmarshal(in["planFilePath"], &file)
	var about []string
	say := func(format string, args ...any) { about = append(about, fmt.Sprintf(format, args...)) }
	if file != "" {
		say("file: %s", text.Line(file, text.MaxLine))
	}
	if subagent != "" {
		say("Asked by the subagent %s", text.Line(subagent, text.MaxLine))
	}
	if asked := strings.TrimSpace(string(in[allowedPrompts])); asked != "" && asked != "[]" && asked != "null" {
		say("It also asks to be allowed, which no plan is: %s", text.Line(asked, text.MaxLine))
	}
	row, _ := calls.Known(ExitPlanMode)
	if strange := row.Unknown(in); len(strange) > 0 {
		say("claude-supervise does not know what %s does here, and leaves it out.",
			text.Line(strings.Join(strange, ", "), text.MaxNamed))
	}
	kept := text.Truncate(plan, text.MaxPreview)
	if n := text.HiddenIn(kept); n > 0 {
		say("%s cannot be seen; here as \\x1b, \\u202e and so on.", text.Plural(n, "character", "characters"))
	}
	shown := text.Truncate(text.Visible(kept), text.MaxPreview)
	q := signals.Question{ID: ExitPlanMode, Header: "Plan", Text: "Approve the plan?"}
	if title := strings.TrimSpace(strings.TrimLeft(text.FirstLine(strings.TrimSpace(kept)), "# ")); title != "" {
		q.Text = "Approve the plan: " + text.Line(title, text.MaxNamed) + "?"
	}
	switch {
	case !readable(plan):
		say("It is empty, so it can only be answered with words.")
		shown = ""
	case kept != plan || shown != text.Visible(kept):
		say("It can only be answered with words: it has %d bytes, of which not all can be shown.", len(plan))
	default:
		q.Options = []signals.Option{{Label: questions.Approve, Description: "it leaves plan mode and carries this out; " +
			"what was not asked about before plan mode is not asked about any more"}}
	}
	q.Context = strings.Trim(strings.Join(about, "\n")+"\n\n"+shown, "\n")
	return q
}

// ApprovedPlan returns the input that carries a plan out: what a person has seen of it, and no more.
func ApprovedPlan(input json.RawMessage) json.RawMessage {
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		return input
	}
	kept := map[string]json.RawMessage{}
	for _, name := range []string{"plan", "planFilePath"} {
		if in[name] != nil {
			kept[name] = in[name]
		}
	}
	return text.JSON(kept)
}
