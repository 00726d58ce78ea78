package checkpoints

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"claude-supervise/checkpoints/files"
)

// How much of a checkpoint is told, in bytes: of each part, and in all. Agents that need more read the file.
const (
	maxTextPart = 4 << 10
	maxText     = 16 << 10
	maxTextList = 100 // items of a list, the last ones
)

const cutMark = " […]"

// Text tells what the checkpoint says, in plain Markdown whatever its form, for the prompt of an agent that goes on
// from there. It is at most some 16 KiB, has no control characters but newlines and tabs, and says where something was
// cut.
func (c *Checkpoint) Text() string {
	var t boundedText
	t.line("", c.Title)
	t.line("Agent", c.Agent)
	t.line("Written", c.Timestamp)
	t.line("Workflow", strings.TrimSpace(c.WorkflowID+" "+c.WorkflowType))
	t.line("Task", c.Task)
	t.line("Current step", c.CurrentStep)
	t.list("Completed steps", c.CompletedSteps)
	t.list("Pending steps", c.PendingSteps)
	t.line("Progress", c.Progress)
	t.line("Next", c.NextAction)
	t.line("To be decided", c.Decision)
	if q := c.Question; q != nil {
		t.line("Question", q.Text)
		var options []string
		for _, o := range q.Options {
			options = append(options, strings.TrimSuffix(o.Label+": "+o.Description, ": "))
		}
		t.list("Options", options)
		t.members(q.Other)
	}
	if c.UserAnswer != nil {
		t.line("The person's answer", *c.UserAnswer)
	}
	t.line("Context", c.Context)
	t.line("", c.Preamble)
	var files []string
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		files = append(files, name+": "+c.Files[name])
	}
	t.list("Files", append(files, c.FileList...))
	t.members(c.StateVariables)
	for _, s := range c.Sections {
		t.line(s.Title, s.Text)
	}
	t.members(c.Other)
	return strings.TrimSpace(shortened(t.b.String(), maxText))
}

// A boundedText is a text that is being made of parts, until it is long enough.
type boundedText struct{ b strings.Builder }

// line adds a part; one of several lines, or without a name, stands by itself.
func (t *boundedText) line(name, text string) {
	text = strings.TrimSpace(shortened(text, maxTextPart))
	name = strings.TrimSpace(shortened(name, maxTextPart))
	switch {
	case text == "" || t.b.Len() > maxText:
	case name == "":
		fmt.Fprintf(&t.b, "%s\n\n", text)
	case strings.Contains(text, "\n"):
		fmt.Fprintf(&t.b, "**%s:**\n\n%s\n\n", name, text)
	default:
		fmt.Fprintf(&t.b, "**%s:** %s\n\n", name, text)
	}
}

func (t *boundedText) list(name string, items []string) {
	if len(items) == 0 {
		return
	}
	left := len(items) - maxTextList
	var b strings.Builder
	if left > 0 {
		fmt.Fprintf(&b, "- […] %d more before these\n", left)
	}
	for _, item := range items[max(0, left):] {
		fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(strings.TrimSpace(shortened(item, maxTextPart)), "\n", "\n  "))
	}
	if t.b.Len() <= maxText {
		fmt.Fprintf(&t.b, "**%s:**\n\n%s\n", name, shortened(b.String(), maxTextPart))
	}
}

// members adds values as they are written, a text without its quotes.
func (t *boundedText) members(of map[string]json.RawMessage) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		var text string
		if json.Unmarshal(of[name], &text) != nil {
			text = string(of[name])
		}
		t.line(name, text)
	}
}

// shortened returns at most so many bytes of a text, in whole runes, without what would act on a terminal.
func shortened(text string, most int) string {
	rest := ""
	if len(text) > most {
		text, rest = strings.ToValidUTF8(text[:most], ""), cutMark
	}
	return files.Printable(text) + rest
}
