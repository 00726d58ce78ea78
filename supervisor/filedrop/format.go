package filedrop

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
)

// quickWaitMost is the longest quick_wait that is taken for one.
const quickWaitMost = 24 * time.Hour

// ownMember holds what only this program writes.
const ownMember = "claude_supervise"

type ownership struct {
	Run   string `json:"run"`
	Agent string `json:"agent"`
}

// parseQuestionFile reads the text of a question file. It repairs nothing: ErrBadQuestionFile with the reason for what
// is no JSON object, names a member twice, nests more than 32 deep, holds a NUL or a number that no program can keep,
// or asks nothing. A member that the question can do without is kept among the others if its value has another type.
func parseQuestionFile(text []byte) (*QuestionFile, error) {
	q := new(QuestionFile)
	if err := q.parse(text); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadQuestionFile, err)
	}
	return q, nil
}

func (q *QuestionFile) parse(text []byte) error {
	if len(text) > fileDropMax {
		return fmt.Errorf("%w: more than %d MiB", files.ErrTooLarge, fileDropMax>>20)
	}
	if err := checkObject(text); err != nil {
		return err
	}
	all, err := files.Object(text)
	if err != nil {
		return err
	}
	m := others(all)
	f := m.takeQuestion("question")
	q.Question, q.Header, q.Context, q.Validate = f.Question, f.Header, f.Context, f.Validate
	q.Options, q.OptionDescriptions, q.MultiSelect = f.Options, f.OptionDescriptions, f.MultiSelect
	q.Urgent, q.OwnWords, q.Image = f.Urgent, f.OwnWords, f.Image
	if q.Questions, err = m.takeQuestions(); err != nil {
		return err
	}
	if strings.TrimSpace(q.Question) == "" && len(q.Questions) == 0 {
		return errors.New(`it asks nothing: no "question" and no "questions"`)
	}
	q.AllRequired = take(m, as[*bool], "all_required")
	q.WorkflowID = take(m, as[string], "workflow_id")
	q.Checkpoint = take(m, as[string], "checkpoint")
	q.AskedBy = take(m, as[string], "asked_by")
	q.AskedAt = take(m, asTime, "asked_at")
	q.QuickWait = take(m, asWait, "quick_wait")
	owner := take(m, asOwnership, ownMember)
	q.Run, q.Agent = owner.Run, owner.Agent
	q.Other = m.left()
	return nil
}

// others are the members of an object that have no field yet.
type others map[string]json.RawMessage

func (m others) left() map[string]json.RawMessage {
	if len(m) == 0 {
		return nil
	}
	return m
}

// take reads a member under the first of its spellings that says anything, and removes it. One that cannot be read
// stays, and so do those after it.
func take[T any](m others, read func(json.RawMessage) (T, bool), spellings ...string) T {
	var none T
	for _, name := range spellings {
		raw, present := m[name]
		if !present {
			continue
		}
		value, ok := read(raw)
		if !ok {
			return none
		}
		delete(m, name)
		if !reflect.ValueOf(&value).Elem().IsZero() {
			return value
		}
	}
	return none
}

// takeQuestion takes what a question has, be it the file's own or one of several.
func (m others) takeQuestion(spellings ...string) FileQuestion {
	f := FileQuestion{
		Question:           take(m, as[string], spellings...),
		Header:             take(m, as[string], "header"),
		Context:            take(m, as[string], "context"),
		Validate:           cmp.Or(take(m, as[string], "validate"), m.rule()),
		MultiSelect:        take(m, as[bool], "multi_select", "multiSelect"),
		Image:              take(m, as[string], "image"),
		Urgent:             take(m, as[bool], "urgent"),
		OwnWords:           take(m, as[bool], "own_words"),
		OptionDescriptions: take(m, as[[]string], "option_descriptions"),
	}
	chosen := take(m, func(raw json.RawMessage) ([]fileOption, bool) {
		options, ok := asOptions(raw)
		return options, ok && (len(f.OptionDescriptions) == 0 || !described(options))
	}, "options")
	for _, o := range chosen {
		f.Options = append(f.Options, o.Label)
	}
	if described(chosen) {
		for _, o := range chosen {
			f.OptionDescriptions = append(f.OptionDescriptions, o.Description)
		}
	}
	return f
}

// rule returns what a question's type asks for, in the words of Validate ("Answer Validation"); "" where it has none.
// Its members stay among the others, for those who read the file after us.
func (m others) rule() string {
	for _, name := range []string{"question_type", "type"} {
		switch kind, _ := as[string](m[name]); kind {
		case "choice", "path", "integer", "number", "yes_no":
			return kind
		case "regex":
			if pattern, _ := as[string](m["pattern"]); pattern != "" {
				return "regex:" + pattern
			}
		}
	}
	return ""
}

// takeQuestions takes the queue of questions. Unlike other members it has to be sound: somebody may be waiting for all.
func (m others) takeQuestions() ([]FileQuestion, error) {
	all := take(m, as[[]json.RawMessage], "questions")
	if raw, left := m["questions"]; left {
		return nil, fmt.Errorf(`"questions" is not a list: %s`, files.Shorten(string(raw)))
	}
	var questions []FileQuestion
	for i, raw := range all {
		var one others
		f := FileQuestion{Question: take(others{"": raw}, as[string], "")}
		if f.Question == "" && json.Unmarshal(raw, &one) == nil {
			f = one.takeQuestion("question", "text")
			f.ID = take(one, as[string], "id", "question_id")
			f.Other = one.left()
		}
		if strings.TrimSpace(f.Question) == "" {
			return nil, fmt.Errorf("question %d of %d asks nothing", i+1, len(all))
		}
		questions = append(questions, f)
	}
	return questions, nil
}

func as[T any](raw json.RawMessage) (value T, ok bool) {
	err := json.Unmarshal(raw, &value)
	return value, err == nil
}

// asTime reads what `date -Iseconds` prints, on BusyBox too.
func asTime(raw json.RawMessage) (time.Time, bool) {
	text, ok := as[string](raw)
	if !ok || text == "" {
		return time.Time{}, ok
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// asWait reads a number of seconds.
func asWait(raw json.RawMessage) (time.Duration, bool) {
	seconds, ok := as[float64](raw)
	if !ok || seconds < 0 || seconds > quickWaitMost.Seconds() {
		return 0, false
	}
	return time.Duration(math.Round(seconds * float64(time.Second))), true
}

func asOwnership(raw json.RawMessage) (ownership, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var o ownership
	if d.Decode(&o) != nil || !isID(checkpoints.RunPrefix, o.Run) || !isID(checkpoints.AgentPrefix, o.Agent) {
		return ownership{}, false
	}
	return o, true
}

// fileOption is an option as other forms spell it.
type fileOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// asOptions reads a list of strings, of numbers and truth values as they are written, and of labels with descriptions.
func asOptions(raw json.RawMessage) ([]fileOption, bool) {
	all, ok := as[[]json.RawMessage](raw)
	if !ok {
		return nil, false
	}
	var options []fileOption
	for _, raw := range all {
		var o fileOption
		switch raw[0] {
		case '{':
			d := json.NewDecoder(bytes.NewReader(raw))
			d.DisallowUnknownFields()
			if d.Decode(&o) != nil || o.Label == "" {
				return nil, false
			}
		case '"':
			o.Label, _ = as[string](raw)
		case '[', 'n':
			return nil, false
		default:
			o.Label = string(raw)
		}
		options = append(options, o)
	}
	return options, true
}

func described(options []fileOption) bool {
	return slices.ContainsFunc(options, func(o fileOption) bool { return o.Description != "" })
}

// encode writes the file as a JSON object, a member to a line: all of the document's "Question File Format", whose
// readers count on them, then those that are set, then the others by name. A member in Other stands in for a field of
// its name that is not set. What is added stands at the end, in the place of others of its names. The error says that a
// value given as JSON is none.
func (q *QuestionFile) encode(added ...files.Member) ([]byte, error) {
	left := maps.Clone(q.Other)
	for _, a := range added {
		delete(left, a.Name)
	}
	w := files.NewObject("a question", left)
	w.Put("question", q.Question, `""`)
	w.Put("options", q.Options, `[]`)
	w.Put("workflow_id", q.WorkflowID, `""`)
	w.Put("checkpoint", q.Checkpoint, `""`)
	w.Put("asked_at", encodedTime(q.AskedAt), `""`)
	w.Put("asked_by", q.AskedBy, `""`)
	w.Put("context", q.Context, `""`)
	var questions []json.RawMessage
	for _, f := range q.Questions {
		one, err := f.encode()
		if err != nil {
			return nil, err
		}
		questions = append(questions, one)
	}
	w.Put("questions", questions, "")
	w.Put("all_required", q.AllRequired, "")
	w.Put("header", q.Header, "")
	w.Put("option_descriptions", q.OptionDescriptions, "")
	w.Put("multi_select", q.MultiSelect, "")
	w.Put("urgent", q.Urgent, "")
	w.Put("own_words", q.OwnWords, "")
	w.Put("validate", q.Validate, "")
	w.Put("image", q.Image, "")
	w.Put("quick_wait", encodedWait(q.QuickWait), "")
	if q.Ours() {
		w.Put(ownMember, ownership{q.Run, q.Agent}, "")
	}
	return w.End("\n  ", "\n", added)
}

func (f *FileQuestion) encode() ([]byte, error) {
	w := files.NewObject("a question", f.Other)
	w.Put("id", f.ID, "")
	w.Put("question", f.Question, `""`)
	w.Put("options", f.Options, `[]`)
	w.Put("header", f.Header, "")
	w.Put("context", f.Context, "")
	w.Put("option_descriptions", f.OptionDescriptions, "")
	w.Put("multi_select", f.MultiSelect, "")
	w.Put("urgent", f.Urgent, "")
	w.Put("own_words", f.OwnWords, "")
	w.Put("validate", f.Validate, "")
	w.Put("image", f.Image, "")
	return w.End(" ", "", nil)
}

func encodedTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

func encodedWait(d time.Duration) json.Number {
	if d <= 0 {
		return ""
	}
	return json.Number(strconv.FormatFloat(d.Seconds(), 'f', -1, 64))
}

func isID(prefix, id string) bool {
	return checkpoints.PlainID(id) && strings.HasPrefix(id, prefix) && id != prefix
}
