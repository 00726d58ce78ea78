package checkpoints

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"

	"claude-supervise/checkpoints/files"
)

// files.MaxMembers bounds an object or a list of a checkpoint that is read into memory, member by member.

// member is one member of a JSON object. Its field is taken over only if the whole value has the field's type.
type member struct {
	name  string
	marks bool                           // other JSON files have no such member: it makes a checkpoint
	field any                            // pointer to the field
	read  func(raw json.RawMessage) bool // sets the field
	none  string                         // what stands for a field that is not set: scripts count on every member
}

func memberOf[T any](name string, field *T, none string) member {
	read := func(raw json.RawMessage) bool {
		var value T
		if bytes.HasPrefix(raw, []byte("[")) && bytes.Count(raw, []byte(",")) >= files.MaxMembers ||
			json.Unmarshal(raw, &value) != nil {
			return false
		}
		*field = value
		return true
	}
	return member{name: name, field: field, read: read, none: none}
}

func marking(m member) member {
	m.marks = true
	return m
}

// members lists the fields of a JSON form in the order of its document.
func (c *Checkpoint) members(form string) []member {
	if form == FormSkill {
		return []member{
			memberOf("agent", &c.Agent, `""`),
			memberOf("timestamp", &c.Timestamp, `""`),
			marking(memberOf("progress", &c.Progress, `""`)),
			memberOf("files", &c.FileList, `[]`),
			marking(memberOf("decision", &c.Decision, `""`)),
			marking(memberOf("question", &c.Question, `null`)),
		}
	}
	return []member{
		memberOf("workflow_id", &c.WorkflowID, `""`), // question files have it, too
		marking(memberOf("workflow_type", &c.WorkflowType, `""`)),
		marking(memberOf("current_step", &c.CurrentStep, `""`)),
		marking(memberOf("completed_steps", &c.CompletedSteps, `[]`)),
		marking(memberOf("pending_steps", &c.PendingSteps, `[]`)),
		memberOf("files", &c.Files, `{}`),
		marking(memberOf("state_variables", &c.StateVariables, `{}`)),
		memberOf("context", &c.Context, `""`),
		marking(memberOf("next_action", &c.NextAction, `""`)),
		marking(memberOf("user_answer", &c.UserAnswer, `null`)),
	}
}

// SetUserAnswer sets the answer, given as JSON: a text, or of several questions an object.
func (c *Checkpoint) SetUserAnswer(answer json.RawMessage) {
	var said *string
	if c.UserAnswer = nil; json.Unmarshal(answer, &said) == nil && said != nil {
		c.UserAnswer = said
		return
	}
	c.Other = maps.Clone(c.Other)
	if c.Other == nil {
		c.Other = map[string]json.RawMessage{}
	}
	c.Other["user_answer"] = answer
}

// parseJSON reads a JSON object in the form that more of its members mark.
func parseJSON(text []byte) (*Checkpoint, error) {
	others, err := files.Object(text)
	if err != nil {
		return nil, err
	}
	c := &Checkpoint{Form: FormHybrid}
	hybrid, skill := marks(c.members(FormHybrid), others), marks(c.members(FormSkill), others)
	switch {
	case hybrid+skill == 0:
		return nil, errors.New("it has no member that only a checkpoint has")
	case skill > hybrid:
		c.Form = FormSkill
	}
	for _, m := range c.members(c.Form) {
		if value := others[m.name]; bytes.HasPrefix(value, []byte("{")) { // one that would lose a member is no checkpoint
			if _, err := files.Object(value); err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	c.Other = takeMembers(c.members(c.Form), others)
	return c, nil
}

// takeMembers sets the fields of members that are there, and gives the others; nil if there are none.
func takeMembers(fields []member, of map[string]json.RawMessage) map[string]json.RawMessage {
	for _, m := range fields {
		if raw, present := of[m.name]; present && m.read(raw) {
			delete(of, m.name)
		}
	}
	if len(of) == 0 {
		return nil
	}
	return of
}

// marks counts the members that make a checkpoint. A question is one only as an object: in a question file it is a
// text.
func marks(form []member, of map[string]json.RawMessage) int {
	n := 0
	for _, m := range form {
		raw, present := of[m.name]
		if m.marks && present && (m.name != "question" || bytes.HasPrefix(raw, []byte("{"))) {
			n++
		}
	}
	return n
}

// encodeObject writes an object: the fields in their order, then the others by name, each after a space, and an end
// after the last one.
func encodeObject(fields []member, other map[string]json.RawMessage, space, end string) ([]byte, error) {
	w := files.NewObject("a checkpoint", other)
	for _, m := range fields {
		w.Put(m.name, reflect.ValueOf(m.field).Elem().Interface(), m.none)
	}
	return w.End(space, end, nil)
}

func (p *Pending) members() []member {
	return []member{memberOf("text", &p.Text, `""`), memberOf("options", (*optionList)(&p.Options), `[]`)}
}

// UnmarshalJSON reads an object; what has another form than the document's is kept in Other.
func (p *Pending) UnmarshalJSON(raw []byte) error {
	others, err := files.Object(raw)
	if err != nil {
		return err
	}
	*p = Pending{}
	p.Other = takeMembers(p.members(), others)
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (p *Pending) MarshalJSON() ([]byte, error) {
	return encodeObject(p.members(), p.Other, " ", "")
}

// An optionList is written as texts where there is no description, as the document has them.
type optionList []Option

func (l *optionList) UnmarshalJSON(raw []byte) error {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return err
	}
	*l = nil
	for _, item := range items {
		var o Option
		if json.Unmarshal(item, &o.Label) != nil {
			members, err := files.Object(item)
			if err != nil {
				return err
			}
			if len(takeMembers([]member{memberOf("label", &o.Label, ""), memberOf("description", &o.Description, "")},
				members)) > 0 {
				return errors.New("an option has other members")
			}
		}
		*l = append(*l, o)
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (l optionList) MarshalJSON() ([]byte, error) {
	items := make([]any, len(l))
	for i, o := range l {
		items[i] = o
		if o.Description == "" {
			items[i] = o.Label
		}
	}
	return files.PlainJSON(items)
}
