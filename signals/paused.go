package signals

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// paused is the skill's (001) PAUSED_FOR_INPUT, with the file that holds the agent's state or without, and the question
// with its options below it.
type paused struct{}

const pausedForInput = "PAUSED_FOR_INPUT"

func (paused) starts() []string { return []string{pausedForInput} }

func (paused) open(line string, _ bool) collector {
	rest, colon, ok := argument(line, pausedForInput)
	if !ok || rest != "" && !colon {
		return nil
	}
	path, sure := pausedPath(rest)
	sure = sure || !colon
	if !sure && strings.ContainsFunc(rest, unicode.IsSpace) {
		return nil
	}
	return &openAsking{dialect: Paused, word: pausedForInput, path: path, unsure: !sure}
}

// pausedPath reads the path behind the word. It is sure if it cannot be a word of a sentence.
func pausedPath(text string) (path string, sure bool) {
	path = strings.TrimSpace(cleanText(strings.Trim(text, "\"'`")))
	return path, isTemplateID(text) || path != "" && (path != text || isPath(path))
}

// A path with blanks has to look like one all over.
var spacedPath = regexp.MustCompile(`^(?:/|~/|\./|[A-Za-z]:[\\/])[^:;,?!()]*\.[A-Za-z0-9]{1,8}$`)

// isPath reports whether a text behind the word can be a path, rather than a sentence.
func isPath(s string) bool {
	if strings.ContainsAny(s, " \t") {
		return spacedPath.MatchString(s)
	}
	return strings.ContainsAny(s, `/\.`) && !strings.HasSuffix(s, ".") && !strings.ContainsAny(s, "|()")
}

// isTemplatePath reports whether a path is what a template has in its place. A home folder that the shell would fill in
// is none.
func isTemplatePath(s string) bool {
	return isTemplateID(s) && !strings.HasPrefix(s, "$HOME/") && !strings.HasPrefix(s, "${HOME}/")
}

// encodePaused writes the shape with quotes and brackets, which can carry every text. It has no place for fields, which
// take an object.
func encodePaused(s Signal) (string, error) {
	if slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Name != "state_file" }) {
		text, err := skillObject(s)
		return pausedForInput + "\n" + text, err
	}
	var b strings.Builder
	b.WriteString(pausedForInput)
	path := s.Field("state_file")
	below := len(s.Fields) > 0
	if same, sure := pausedPath(path); sure && same == path {
		b.WriteString(": " + path)
		below = false
	}
	b.WriteByte('\n')
	line := func(name string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err) // only texts and options come here
		}
		fmt.Fprintf(&b, "%s: %s\n", name, text)
	}
	if below {
		line("State file", path)
	}
	for _, m := range []Field{{"agent_id", s.AgentID}, {"Timestamp", s.Timestamp}} {
		if m.Value != "" {
			line(m.Name, m.Value)
		}
	}
	for i, q := range s.Questions {
		line("Question", q.Text)
		if q.ID != fmt.Sprintf("Q%d", i+1) {
			line("ID", q.ID)
		}
		for _, m := range []Field{{"Header", q.Header}, {"Context", q.Context}, {"Validate", q.Validate}} {
			if m.Value != "" {
				line(m.Name, m.Value)
			}
		}
		if q.MultiSelect {
			b.WriteString("Multi-select: true\n")
		}
		if q.Optional {
			b.WriteString("Optional: true\n")
		}
		if q.Urgent {
			b.WriteString("Urgent: true\n")
		}
		if labels := plainLabels(q.Options); labels != nil {
			line("Options", labels)
		} else if len(q.Options) > 0 {
			line("Options", q.Options)
		}
	}
	return b.String(), nil
}

// plainLabels are the labels of options that can be written as mere texts; nil if there is more to them.
func plainLabels(options []Option) []string {
	if areMarked(options) {
		return nil // the marks would be taken for the options' letters
	}
	var labels []string
	for _, o := range options {
		if o.Description != "" || plainOption(o.Label) != o {
			return nil
		}
		labels = append(labels, o.Label)
	}
	return labels
}
