package permission

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/text"
)

// An evidence collects what a person is shown of a call. What is of the call stands in it byte for byte, as package
// text writes it, and none of its lines can pass for one of ours: those begin with a letter or a digit, and of a text
// of several lines all but the first begin with four spaces, those of a diff with a space, +, -, @ or a backslash.
type evidence struct {
	b      strings.Builder
	hidden int // characters that are shown in another form, as they cannot be seen
	more   int // bytes that are not collected any more
}

// valueIndent begins the later lines of a value.
const valueIndent = "    "

// line adds a line of ours with names in it that are not.
func (e *evidence) line(format string, names ...any) {
	for i, name := range names {
		name := fmt.Sprint(name)
		e.hidden += text.HiddenIn(name)
		names[i] = text.VisibleLine(name)
	}
	e.add(fmt.Sprintf(format, names...))
}

// plainName is a member's name that does not read as anything else.
var plainName = text.Lazily(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// members adds a tool's input: each member on a line of its own, what the model says of the call behind calls.ItSays,
// which no member's name reads as.
func (e *evidence) members(of calls.Tool, input json.RawMessage) {
	any := false
	text.EachMember(input, func(name, value string) {
		any = true
		if slices.Contains(of.Said, name) {
			e.value(calls.ItSays, value)
			return
		}
		if !plainName().MatchString(name) {
			quoted, _ := json.Marshal(name) // of a string it cannot fail
			name = text.VisibleLine(string(quoted))
		}
		e.value(name+": ", value)
	})
	if !any {
		e.value("input: ", string(input))
	}
}

// value adds a text of others behind a name.
func (e *evidence) value(name, value string) {
	e.add(name + strings.ReplaceAll(e.visible(value), "\n", "\n"+valueIndent))
}

// diff adds a unified diff.
func (e *evidence) diff(unified string) { e.add(e.visible(strings.TrimSuffix(unified, "\n"))) }

// visible is text.Visible of what there is room for: nothing is written in fewer bytes than it has.
func (e *evidence) visible(s string) string {
	kept := text.Truncate(s, max(text.MaxPreview+1-e.b.Len(), 0))
	e.more += len(s) - len(kept)
	e.hidden += text.HiddenIn(kept)
	return text.Visible(kept)
}

func (e *evidence) add(lines string) {
	if e.b.Len() > 0 {
		e.b.WriteString("\n")
	}
	e.b.WriteString(lines)
}

// view completes what is known of a call by what was collected.
func (e *evidence) view(l ask.CallView) ask.CallView {
	if e.hidden > 0 {
		e.line("%s cannot be seen; here as \\x1b, \\u202e and so on.", text.Plural(e.hidden, "character", "characters"))
	}
	l.Preview, l.More = e.b.String(), e.more
	if len(l.Preview) > text.MaxPreview {
		kept := text.Truncate(l.Preview, text.MaxPreview)
		l.More += len(l.Preview) - len(kept)
		l.Preview = kept
	}
	if l.More > 0 {
		l.Preview += fmt.Sprintf("\n(%d bytes more, which are not shown.)", l.More)
	}
	return l
}
