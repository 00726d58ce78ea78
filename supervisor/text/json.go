package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Preview shows a tool's input to the agent that has sent it, a member after the other, bounded.
func Preview(input json.RawMessage) string {
	var b strings.Builder
	EachMember(input, func(name, value string) { fmt.Fprintf(&b, "%s: %s\n", name, value) })
	s := strings.TrimRight(b.String(), "\n")
	if b.Len() == 0 {
		s = string(input)
	}
	if len(s) <= MaxRestated {
		return s
	}
	kept := Truncate(s, MaxRestated)
	return fmt.Sprintf("%s\n(%d bytes more)", kept, len(s)-len(kept))
}

// EachMember gives the members of a tool's input in their order, texts unescaped and other values as JSON; none if it
// is no object.
func EachMember(input json.RawMessage, each func(name, value string)) {
	if begin := bytes.TrimSpace(input); len(begin) == 0 || begin[0] != '{' || !json.Valid(input) {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(input))
	_, _ = dec.Token() // the opening brace
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			break
		}
		var text string
		if len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		each(fmt.Sprint(name), text)
	}
}

// JSON writes a value of ours, which can always be written.
func JSON(v any) json.RawMessage {
	doc, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("supervisor: %T cannot be written: %v", v, err))
	}
	return doc
}

// Misread says in plain words why a JSON document could not be decoded: without the names of Go's types.
func Misread(err error) string {
	wrong := new(json.UnmarshalTypeError)
	switch {
	case !errors.As(err, &wrong):
		return err.Error()
	case wrong.Field == "":
		return fmt.Sprintf("it is a JSON %s", wrong.Value)
	}
	return fmt.Sprintf("its %s is a JSON %s", wrong.Field, wrong.Value)
}
