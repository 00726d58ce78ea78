package checkpoints

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// A Checkpoint is what a relaunch needs so that nothing is done twice, in the form of the hybrid document ("Checkpoint File
// Format"). Agents write such files too, more or less in this form: a member of another name or type is kept in Other and
// written back as it was.
type Checkpoint struct {
	WorkflowID     string
	WorkflowType   string
	CurrentStep    string
	CompletedSteps []string
	PendingSteps   []string
	Files          map[string]string // name to absolute path
	StateVariables map[string]json.RawMessage
	Context        string // where the work stands, for people
	NextAction     string // what to do once there is an answer
	UserAnswer     *string
	Other          map[string]json.RawMessage // by name: unknown members, and known ones whose value has another type
}

// CheckpointMax bounds a checkpoint file, in bytes.
const CheckpointMax = 16 << 20

// What reading a checkpoint refuses, besides what the file system says.
var (
	ErrNotCheckpoint = errors.New("not a checkpoint")
	ErrTooLarge      = errors.New("larger than 16 MiB")
)

// member is one member of the JSON object. Its field is taken over only if the whole value has the field's type.
type member struct {
	name  string
	field any                            // pointer to the field
	read  func(raw json.RawMessage) bool // sets the field
	none  string                         // what stands for a field that is not set: scripts count on every member
}

func memberOf[T any](name string, field *T, none string) member {
	read := func(raw json.RawMessage) bool {
		var value T
		if json.Unmarshal(raw, &value) != nil {
			return false
		}
		*field = value
		return true
	}
	return member{name, field, read, none}
}

// members lists the fields in the order of the document.
func (c *Checkpoint) members() []member {
	return []member{
		memberOf("workflow_id", &c.WorkflowID, `""`),
		memberOf("workflow_type", &c.WorkflowType, `""`),
		memberOf("current_step", &c.CurrentStep, `""`),
		memberOf("completed_steps", &c.CompletedSteps, `[]`),
		memberOf("pending_steps", &c.PendingSteps, `[]`),
		memberOf("files", &c.Files, `{}`),
		memberOf("state_variables", &c.StateVariables, `{}`),
		memberOf("context", &c.Context, `""`),
		memberOf("next_action", &c.NextAction, `""`),
		memberOf("user_answer", &c.UserAnswer, `null`),
	}
}

// commonNames are members that many other JSON files have too: alone they do not make a checkpoint.
var commonNames = []string{"files", "context"}

// ParseCheckpoint reads a JSON object with at least one of the members that make a checkpoint; ErrNotCheckpoint for
// anything else, such as a package.json, which may be overwritten by nobody's answer.
func ParseCheckpoint(text []byte) (*Checkpoint, error) {
	var others map[string]json.RawMessage
	if err := json.Unmarshal(text, &others); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotCheckpoint, err)
	}
	c := new(Checkpoint)
	is := false
	for _, m := range c.members() {
		raw, present := others[m.name]
		if !present {
			continue
		}
		is = is || !slices.Contains(commonNames, m.name)
		if m.read(raw) {
			delete(others, m.name)
		}
	}
	if !is {
		return nil, fmt.Errorf("%w: none of its members is there", ErrNotCheckpoint)
	}
	if len(others) > 0 {
		c.Other = others
	}
	return c, nil
}

// Encode writes the checkpoint as a JSON object, a member to a line: those of the document in its order, then the others by
// name. A member in Other stands in for a field of its name that is not set. The error is ErrTooLarge, or that a value given
// as JSON is none.
func (c *Checkpoint) Encode() ([]byte, error) {
	var b bytes.Buffer
	put := func(name string, value []byte) {
		if b.Len() > 0 {
			b.WriteByte(',')
		} else {
			b.WriteByte('{')
		}
		fmt.Fprintf(&b, "\n  %s: %s", name, value)
	}
	for name, value := range c.Other {
		if !json.Valid(value) {
			return nil, fmt.Errorf("encode %q of a checkpoint: not JSON", shorten(name))
		}
	}
	others := maps.Clone(c.Other)
	for _, m := range c.members() {
		value := []byte(m.none)
		if !reflect.ValueOf(m.field).Elem().IsZero() {
			encoded, err := plainJSON(m.field)
			if err != nil {
				return nil, fmt.Errorf("encode %s of a checkpoint: %w", m.name, err)
			}
			value = encoded
		} else if other, present := others[m.name]; present {
			value = other
		}
		delete(others, m.name)
		put(`"`+m.name+`"`, value)
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		quoted, err := plainJSON(name)
		if err != nil {
			return nil, fmt.Errorf("encode a name in a checkpoint: %w", err)
		}
		put(string(quoted), others[name])
	}
	b.WriteString("\n}\n")
	if b.Len() > CheckpointMax {
		return nil, fmt.Errorf("encode a checkpoint: %w", ErrTooLarge)
	}
	return b.Bytes(), nil
}

// plainJSON encodes without turning < > & into escapes: people read these files. It does not indent: an agent's deeply
// nested value would grow with the square of its depth.
func plainJSON(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
