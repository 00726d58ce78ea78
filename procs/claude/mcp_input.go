package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"claude-supervise/procs"
)

// An input is what the input of a tool has to be.
type input struct{ schema *jsonschema.Resolved }

// describesObject fails if a schema is no JSON, or not that of an object.
func describesObject(schema json.RawMessage) error {
	var s struct{ Type string }
	if err := json.Unmarshal(schema, &s); err != nil {
		return err
	}
	if s.Type != "object" {
		return fmt.Errorf("its type is %q, not object", s.Type)
	}
	return nil
}

func newInput(schema json.RawMessage) (*input, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, err
	}
	return &input{resolved}, nil
}

// check returns an input that fits: an object, {} if there was none. Else the error tells the model which member does
// not fit, and what is expected of it.
func (in *input) check(given json.RawMessage) (json.RawMessage, error) {
	if len(given) == 0 || bytes.Equal(given, []byte("null")) {
		given = json.RawMessage("{}")
	}
	var object map[string]any
	if err := json.Unmarshal(given, &object); err != nil {
		return nil, errors.New("the input does not fit: it has to be an object")
	}
	if err := in.schema.Validate(object); err != nil {
		return nil, errors.New("the input does not fit: " + inShort(breach(err)))
	}
	return given, nil
}

// inShort leaves out the middle of a text: it quotes what the model has sent, and says behind that what is wrong.
func inShort(text string) string {
	if len(text) <= procs.MaxShown {
		return text
	}
	return strings.ToValidUTF8(text[:procs.MaxShown/2]+" … "+text[len(text)-procs.MaxShown/2:], "")
}

// breach says what is wrong in the words of the validator, but for the way through the schema: what is left of
// "validating root: validating /properties/questions: validating /properties/questions/items: required: …" is
// "questions/items: required: …".
func breach(err error) string {
	text := strings.TrimPrefix(err.Error(), "validating root: ")
	for strings.HasPrefix(text, "validating /") {
		where, what, ok := strings.Cut(text, ": ")
		if !ok {
			break
		}
		if !strings.HasPrefix(what, "validating /") {
			return strings.ReplaceAll(strings.TrimPrefix(where, "validating /"), "properties/", "") + ": " + what
		}
		text = what
	}
	return text
}
