package signals

import "strings"

// This file follows the text below AWAITING_USER_INPUT and PAUSED_FOR_INPUT (001) line by line: where it goes on and
// where it ends. open_questions.go makes a signal of it. The skill's own examples have an object below the one and
// plain text below the other; agents mix them, so both are looked for below both:
//
//	blank lines, up to two paragraphs, a fence's opening line
//	either an object, which ends it,
//	or lines "Question: …", "Options: …" and the like, and options, each on a line

// A questionParser is the state between two lines. It is a plain value.
type questionParser struct {
	object   openObject
	inObject bool
	over     bool // the object came to its end
	end      int  // where in its line
	isFenced bool

	blank      bool // the line before was
	paragraphs int
	inText     bool // the line before was text that may run on
	unfilled   bool // "Question:" stood alone: its text is yet to come
	named      bool // there was a line with a name

	inState bool // below "State:", where marked and indented lines belong to it
	state   int  // the column of that line
	listing bool // below "Options:", where every line is one
	list    openObject
	inList  bool // inside the brackets of "Options: ["
	options int
	asides  int  // paragraphs between a named question and its options
	inYAML  bool // "questions:" came: what follows are its lines
	style   byte // of the options: the mark before them, 'A' for letters and numbers, 0 for none
	column  int  // of the options, or of "questions:"
}

// A part is what one line is to the text.
type part int

const (
	notPart    part = iota
	gapPart         // a blank line, the opening line of a fence
	objectPart      // of the object
	namedPart       // a name, a colon, a value
	textPart        // begins a paragraph
	optionPart      // begins an option
	morePart        // goes on with the line before
	yamlPart        // of the object's members written as YAML
)

const maxParagraphs = 2

// currentState is the field for what stands under "State:", which the skill shows above its questions.
const currentState = "current_state"

// take says what the next line is, as it stands and trimmed. After notPart, or when the object is over, nothing more
// may be passed.
func (a *questionParser) take(line, trimmed string) part {
	if a.inObject {
		switch a.object.add(line, trimmed, keeps) {
		case more:
			return objectPart
		case last:
			a.over = true
			return objectPart
		}
		return notPart
	}
	blank := a.blank
	a.blank = trimmed == ""
	if a.inList {
		switch v := a.list.add(line, trimmed, keeps); v {
		case more, last:
			a.inList = v == more
			return morePart
		}
		a.inList = false
	}
	switch {
	case trimmed == "":
		return gapPart
	case isFence(trimmed):
		if a.isFenced || a.named || a.options > 0 {
			return notPart
		}
		a.isFenced = true
		return gapPart
	case !a.named && a.options == 0 && beginsObject(trimmed):
		return a.begin(trimmed)
	}
	column, _ := indented(line)
	if _, bullet := cutBullet(trimmed); a.inState && (bullet || column > a.state) {
		return morePart
	}
	a.inState = false
	switch {
	case a.isYAML(column, trimmed):
		return yamlPart
	case a.inYAML:
		return notPart
	}
	if meaning, name, value, ok := namedLine(trimmed); ok {
		a.name(meaning, value)
		a.inState, a.state = name == currentState, column
		return namedPart
	}
	switch {
	case a.isOption(column, trimmed, blank):
		a.options++
		a.inText = false
		return optionPart
	case a.options > 0 && !blank && column > a.column && a.style != 0, a.inText && (!blank || a.unfilled):
		a.unfilled = false
		return morePart
	case !a.named && a.options == 0 && a.paragraphs < maxParagraphs:
		a.paragraphs++
		a.inText = true
		return textPart
	case a.named && a.options == 0 && a.asides == 0:
		a.asides++
		a.inText = true
		return textPart
	}
	return notPart
}

// isYAML reports whether a line is one of the object's members, from "questions:" on, written as YAML without braces.
func (a *questionParser) isYAML(column int, trimmed string) bool {
	name, _, _ := strings.Cut(trimmed, ":")
	known := snake(name)
	switch {
	case !a.inYAML:
		if known != "questions" || name == trimmed || a.options > 0 {
			return false
		}
		a.inYAML, a.named, a.column = true, true, column
		return true
	case column > a.column, skillForm.knows(known), isQuestionMember(name):
		return true
	}
	return strings.IndexByte("-*[]{}\"", trimmed[0]) >= 0
}

// begin takes the first line of the object.
func (a *questionParser) begin(trimmed string) part {
	a.object = openObject{typed: true}
	a.inObject = true
	a.end = a.object.feed(trimmed)
	a.over = a.end >= 0 || a.object.quote != 0 && trimmed[len(trimmed)-1] == '}'
	if a.end < 0 {
		a.end = len(trimmed)
	}
	return objectPart
}

// name takes a line with a name.
func (a *questionParser) name(meaning, value string) {
	a.named = true
	a.inText = meaning == "text" || meaning == "context"
	a.unfilled = a.inText && value == ""
	a.listing = meaning == "options" && value == ""
	if meaning == "text" || meaning == "options" {
		a.options = 0
	}
	if meaning == "options" && strings.HasPrefix(value, "[") {
		a.list = openObject{typed: true}
		a.inList = a.list.feed(value) < 0
	}
}

// isOption reports whether a line begins an option: the first one, or one in the style of those before.
func (a *questionParser) isOption(column int, trimmed string, blank bool) bool {
	if a.paragraphs == 0 && !a.named {
		return false
	}
	style, ok := optionStyle(trimmed, a.options)
	switch {
	case ok && (a.options == 0 || style == a.style && column <= a.column+1):
	case !ok && a.listing && !blank && (a.options == 0 || a.style == 0):
		style = 0
	default:
		return false
	}
	a.style, a.column = style, column
	return true
}

// optionStyle reads the mark before an option that has so many before it.
func optionStyle(trimmed string, before int) (style byte, ok bool) {
	if isMarkedAs(trimmed, before) {
		return 'A', true
	}
	_, bullet := cutBullet(trimmed)
	return trimmed[0], bullet
}

// cutBullet takes the bullet of a list off a line.
func cutBullet(line string) (rest string, ok bool) {
	for _, bullet := range []string{"- ", "* ", "+ ", "• ", "– ", "— "} {
		if rest, ok = strings.CutPrefix(line, bullet); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return line, false
}

// cutHeading takes the marks of a heading of Markdown off a line. "## Options" needs no colon.
func cutHeading(line string) (rest string, ok bool) {
	rest = strings.TrimLeft(line, "#")
	if marks := len(line) - len(rest); marks == 0 || marks > 6 || !strings.HasPrefix(rest, " ") {
		return line, false
	}
	return strings.TrimSpace(rest), true
}

// namedLine reads a line "Question: …", "**Options:** …", "State file: …". meaning is that of a question's member, or
// "" where the line says something of the signal itself.
func namedLine(trimmed string) (meaning, name, value string, ok bool) {
	trimmed, heading := cutHeading(trimmed)
	before, value, ok := strings.Cut(trimmed, ":")
	if !ok && !heading || len(before) > maxName {
		return "", "", "", false
	}
	bare := strings.TrimLeft(before, "*_`")
	marks := before[:len(before)-len(bare)]
	bare = strings.TrimRight(bare, "*_`")
	name = snake(strings.TrimSpace(bare))
	if marks != "" {
		value = strings.TrimPrefix(value, marks) // **Question:** has its marks around the colon
	}
	value = strings.TrimSpace(value)
	switch name {
	case "agent_id", "timestamp", "state_file", "all_required":
		return "", name, value, true
	case "state", currentState, "state_to_preserve", "saved_state":
		return "", currentState, value, true
	case "text", "prompt", "required", "optional", "image":
		if value == "" {
			return "", "", "", false
		}
	case "urgent":
		if !isTrue(value) && !isFalse(value) {
			return "", "", "", false
		}
	}
	if meaning = questionMembers[name]; meaning == "" && numberedID().MatchString(bare) {
		meaning, name = "text", bare
	}
	return meaning, name, value, meaning != ""
}
