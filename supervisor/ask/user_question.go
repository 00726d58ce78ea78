package ask

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// This file is AskUserQuestion, the CLI's own tool to ask: one to four questions, each with at most four options,
// answered under their texts. From 2.1.260 on a question may ask for text or for a number in place of a choice
// (kind), if the CLI's environment says so. The CLI has looked at a call before it comes here; what it let through
// differs between releases.

// AskUserQuestion is the tool of the CLI that asks a person.
const AskUserQuestion = "AskUserQuestion"

// The bounds of a call, by the tool's schema.
const (
	maxUserQuestions = 4
	MaxUserOptions   = 4
)

// UserQuestions reads the input of AskUserQuestion. The error is for the model: why nobody was asked, and what to do
// about it. A question about which a person could only guess, or whose answer could not be told from another's, is
// better asked again.
func UserQuestions(input json.RawMessage) ([]signals.Question, error) {
	var in struct {
		Title     string         `json:"title"`
		Questions []userQuestion `json:"questions"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, misasked("its input cannot be read: %s", text.Misread(err))
	}
	if n := len(in.Questions); n == 0 || n > maxUserQuestions {
		return nil, misasked("it holds %d questions; it takes 1 to %d", n, maxUserQuestions)
	}
	var qs []signals.Question
	for i, asked := range in.Questions {
		q := signals.Question{
			ID: fmt.Sprintf("Q%d", i+1), Text: asked.Question, Header: asked.Header, Options: asked.Options,
			MultiSelect: asked.MultiSelect, Context: asked.context(in.Title),
		}
		if why := asked.typed(&q); why != "" {
			return nil, misasked("question %d %s", i+1, why)
		}
		switch cut := Question(questions.AskClarification, q).Truncated; {
		case !readable(q.Text):
			return nil, misasked("question %d has no text", i+1)
		case slices.ContainsFunc(qs, func(other signals.Question) bool { return other.Text == q.Text }):
			return nil, misasked("two questions have the same text, by which their answers are told apart")
		case len(q.Options) > MaxUserOptions:
			return nil, misasked("question %d has %d options; it takes at most %d", i+1, len(q.Options), MaxUserOptions)
		case cut != "":
			return nil, misasked("question %d is too long: %s. Put what is long into a file and name the file", i+1, cut)
		}
		for at, o := range q.Options {
			if !readable(o.Label) {
				return nil, misasked("option %d of question %d has no label", at+1, i+1)
			}
			if slices.ContainsFunc(q.Options[:at], func(other signals.Option) bool { return other.Label == o.Label }) {
				return nil, misasked("two options of question %d have the same label", i+1)
			}
		}
		qs = append(qs, q)
	}
	return qs, nil
}

// A userQuestion is one of a call, as the CLI hands it on.
type userQuestion struct {
	Question    string           `json:"question"`
	Header      string           `json:"header"`
	Description string           `json:"description"`
	Options     []signals.Option `json:"options"`
	MultiSelect bool             `json:"multiSelect"`
	Kind        string           `json:"kind"` // text, number; "": one of the options
	Min         *float64         `json:"min"`
	Max         *float64         `json:"max"`
	Step        *float64         `json:"step"`
	Default     json.RawMessage  `json:"defaultValue"`
	Unit        string           `json:"unit"`
}

// context is what is said with a question: what all of its call are about, what it is about itself, and what its agent
// would answer.
func (u userQuestion) context(title string) string {
	var said []string
	for _, words := range []string{title, u.Description} {
		if readable(words) {
			said = append(said, words)
		}
	}
	if suggested := strings.TrimSpace(plain(u.Default) + " " + u.Unit); len(u.Default) > 0 && readable(plain(u.Default)) {
		said = append(said, "It suggests: "+text.Line(suggested, text.MaxLine))
	}
	return strings.Join(said, "\n")
}

// plain is a member that may be a text or a number, "" if it is neither.
func plain(member json.RawMessage) string {
	var s string
	switch {
	case json.Unmarshal(member, &s) == nil:
		return s
	case len(member) > 0 && strings.ContainsRune("-0123456789", rune(member[0])):
		return string(member)
	}
	return ""
}

// typed takes what a question asks for that has no options, or says why nobody could answer it.
func (u userQuestion) typed(q *signals.Question) (why string) {
	if u.Kind != "text" && u.Kind != "number" {
		return ""
	}
	if len(u.Options) > 0 {
		return "asks for a " + u.Kind + " and has options, of which it takes none"
	}
	if q.MultiSelect = false; u.Kind == "text" {
		return ""
	}
	switch {
	case u.Min != nil && u.Max != nil && *u.Min > *u.Max:
		return "has a min that is more than its max"
	case u.Step != nil && *u.Step <= 0:
		return "has a step that is not more than 0"
	}
	q.Validate = numberRule(signals.Number{Min: u.Min, Max: u.Max, Step: u.Step, Unit: u.Unit})
	return ""
}

func misasked(format string, args ...any) error {
	return errors.New("Nobody was asked: " + fmt.Sprintf(format, args...) + ". Correct the call, or continue without it.")
}

// readable reports whether a person can see anything of a text.
func readable(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }) >= 0
}

// An annotation is what of a choice stands beside its answer: the preview of what was chosen, and the person's note.
type annotation struct {
	Preview string `json:"preview,omitempty"`
	Notes   string `json:"notes,omitempty"`
}

// annotated returns the answer of a question as the CLI takes it.
func annotated(q *checkpoints.Question) (answer string, beside annotation) {
	labels, note, ok := questions.Noted(q)
	if !ok {
		return prompts.Answer(q), annotation{}
	}
	beside.Notes = note
	for _, o := range q.Options {
		if len(labels) == 1 && o.Label == labels[0] {
			beside.Preview = o.Preview
		}
	}
	return strings.Join(labels, ", "), beside
}

// WithAnswers is the input of AskUserQuestion with its answers. Each stands under the text of its question exactly as
// the CLI has written that: there are texts in JSON that Go cannot hold.
func WithAnswers(input json.RawMessage, group []*checkpoints.Question) json.RawMessage {
	var members map[string]json.RawMessage
	var in struct {
		Questions []struct {
			Question json.RawMessage `json:"question"`
		} `json:"questions"`
	}
	if err := errors.Join(json.Unmarshal(input, &members), json.Unmarshal(input, &in)); err != nil {
		panic(fmt.Sprintf("supervisor: questions were read from an input that cannot be read: %v", err))
	}
	var answers, annotations bytes.Buffer
	for _, q := range group {
		answer, beside := annotated(q)
		fmt.Fprintf(&answers, ",%s:%s", in.Questions[q.Index].Question, text.JSON(answer))
		if beside != (annotation{}) {
			fmt.Fprintf(&annotations, ",%s:%s", in.Questions[q.Index].Question, text.JSON(beside))
		}
	}
	members["answers"] = json.RawMessage("{" + answers.String()[1:] + "}")
	if annotations.Len() > 0 {
		members["annotations"] = json.RawMessage("{" + annotations.String()[1:] + "}")
	}
	return text.JSON(members)
}

// AskedAs returns the text of a question of AskUserQuestion as the CLI has it.
func AskedAs(q *checkpoints.Question) string {
	var in struct{ Questions []struct{ Question string } }
	if json.Unmarshal(q.Tool.Input, &in) != nil || q.Index >= len(in.Questions) {
		return q.Text
	}
	return in.Questions[q.Index].Question
}

// InCall reports whether a question came by a call of the main conversation whose result is its answer. A permission is
// none, nor is an approved plan: their calls are not made by a result.
func InCall(q *checkpoints.Question) bool {
	call := q.Tool
	return call != nil && call.Launch > 0 && call.Line != "" && call.From == nil && q.Asker == "" &&
		(call.Served || call.Name == AskUserQuestion || questions.KindOf(q.Kind).Plans && q.AnsweredAt != nil &&
			!questions.Allowed(q))
}
