package ask

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/signals"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// What a server is answered.
const (
	AcceptIt  = "accept"
	DeclineIt = "decline"
	cancelIt  = "cancel"
)

// The options of what has no fields.
const (
	agreed   = "Accept"
	opened   = "Opened"
	Declines = "Decline"
)

// The options of what cannot be answered from here: the first cancels, the second is declines.
const cancels = "Cancel"

// maxFields is how many fields a form may have.
const maxFields = 30

// An asked is what a server asks, as far as it can be asked here.
type asked struct {
	claude.Elicitation
	fields []field // of its form
	why    string  // it cannot be asked: after "It"
}

func readElicitation(input json.RawMessage) (e asked) {
	err := json.Unmarshal(input, &e.Elicitation)
	u, _ := url.Parse(e.URL)
	switch {
	case err != nil:
		e.why = "cannot be read"
	case e.Withheld.Why != "":
		e.why = e.Withheld.Why
	case e.Mode == "url" && (u == nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == ""):
		e.why = "names " + text.Line(e.URL, text.MaxNamed) + ", which is not an address that a browser opens"
	case e.Mode != "url":
		e.fields, e.why = fieldsOf(e.Elicitation)
	}
	if e.why != "" {
		return e
	}
	for _, q := range e.questions() {
		if cut := Question(questions.AskElicitation, q).Truncated; cut != "" {
			e.fields, e.why = nil, "is too long to be shown whole: "+cut
			break
		}
	}
	return e
}

// Elicitation makes the questions of an elicitation.
func Elicitation(input json.RawMessage) []signals.Question {
	e := readElicitation(input)
	if e.why == "" {
		return e.questions()
	}
	server := text.Line(e.Server, MaxToolName)
	context := fmt.Sprintf("It %s.\nNothing was answered, and its call waits. Cancel tells the server that nobody chose, "+
		"Decline that you refuse. To have it told neither, stop the run.", e.why)
	if said := text.Truncate(e.Message, maxSaid); said != "" {
		context = fmt.Sprintf("The MCP server %s asks:\n%s\n%s", server, quoted(said), context)
	}
	return []signals.Question{{
		ID: withheld, Header: server, Text: "What the MCP server " + server + " asks cannot be answered here. Cancel it?",
		Context: context, Options: []signals.Option{{Label: cancels}, {Label: Declines}}, Validate: "choice",
	}}
}

// withheld is the id of what asks only whether the server is cancelled.
const withheld = "withheld"

// Withheld reports whether what a server asks cannot be answered by these questions, but only cancelled.
func Withheld(qs []signals.Question) bool { return qs[0].ID == withheld }

// maxSaid bounds what is shown of a message that is not shown whole, in bytes.
const maxSaid = 1 << 10

// questions are those of one that can be asked.
func (e asked) questions() (qs []signals.Question) {
	server := text.Line(e.Server, MaxToolName)
	from := fmt.Sprintf("The MCP server %s asks:\n%s", server, quoted(e.Message))
	if e.Mode == "url" {
		u, _ := url.Parse(e.URL) // it is one
		return []signals.Question{{
			ID: "url", Header: server, Text: "Open the address that the MCP server " + server + " names?",
			Context: fmt.Sprintf("%s\nThe address, which leads to %s:\n%s\nNothing here opens it. Open it yourself if you "+
				"trust it, and do there what is asked.", from, text.Line(u.Host, text.MaxNamed), text.VisibleLine(e.URL)),
			Options:  []signals.Option{{Label: opened, Description: "you have done it"}, {Label: Declines}},
			Validate: "choice",
		}}
	}
	fields := e.fields
	if len(fields) == 0 {
		return []signals.Question{{
			ID: "confirm", Header: server, Text: "Agree to what the MCP server " + server + " asks?", Context: from,
			Options: []signals.Option{{Label: agreed}, {Label: Declines}}, Validate: "choice",
		}}
	}
	for i, f := range fields {
		q := f.question()
		q.Header = server
		q.Text = fmt.Sprintf("%s (for the MCP server %s)", q.Text, server)
		if len(fields) > 1 {
			q.Context = strings.TrimSpace(fmt.Sprintf("Field %d of %d. %s", i+1, len(fields), q.Context))
		}
		q.Context = strings.TrimSpace(from + "\n" + q.Context)
		if f.secret(e.Message) {
			q.Context += "\n" + likeASecret + " What you type goes to the server, and stays readable in the records " +
				"of this machine. Decline it, unless you want that."
		}
		qs = append(qs, q)
	}
	return qs
}

// quoted returns a server's text so that no line of it looks like one of ours.
func quoted(message string) string {
	lines := strings.Split(strings.TrimSpace(text.Shown(message)), "\n")
	return "> " + strings.Join(lines, "\n> ")
}

// A field is one that a form asks for: a member of its schema.
type field struct {
	name     string
	required bool
	schema   fieldSchema
	labels   []string          // of what can be chosen,
	values   []json.RawMessage // and what each stands for
	multi    bool
}

// A fieldSchema is what the protocol knows of one: a string, a number, a boolean, or a choice of texts.
type fieldSchema struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Enum        []string        `json:"enum"`
	EnumNames   []string        `json:"enumNames"`
	OneOf       []titled        `json:"oneOf"`
	Items       struct {
		Enum  []string `json:"enum"`
		AnyOf []titled `json:"anyOf"`
	} `json:"items"`
	questions.Bounds
}

type titled struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// fieldsOf reads the form, or says why it cannot be asked.
func fieldsOf(e claude.Elicitation) (fields []field, why string) {
	var form struct {
		Properties map[string]fieldSchema `json:"properties"`
		Required   []string               `json:"required"`
	}
	if len(e.Schema) > 0 {
		if err := json.Unmarshal(e.Schema, &form); err != nil {
			return nil, "has a form that cannot be read"
		}
	}
	names := slices.Sorted(maps.Keys(form.Properties))
	if len(names) > maxFields {
		return nil, fmt.Sprintf("has %d fields, of at most %d", len(names), maxFields)
	}
	place := func(name string) int {
		if at := slices.Index(e.Order, name); at >= 0 {
			return at
		}
		return len(e.Order)
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	for _, name := range names {
		f := field{name: name, required: slices.Contains(form.Required, name), schema: form.Properties[name]}
		if why := f.offer(); why != "" {
			return nil, "has a field " + text.Line(name, text.MaxNamed) + why
		}
		fields = append(fields, f)
	}
	return fields, ""
}

// offer takes what the schema lets choose from, or says why nobody can: after the name of the field.
func (f *field) offer() (why string) {
	s := f.schema
	choices := s.OneOf
	switch s.Type {
	case "array":
		f.multi = true
		choices = s.Items.AnyOf
		for _, value := range s.Items.Enum {
			choices = append(choices, titled{Const: value})
		}
		if len(choices) == 0 {
			return ", a list of what it does not name"
		}
	case "string":
		for i, value := range s.Enum {
			c := titled{Const: value}
			if i < len(s.EnumNames) {
				c.Title = s.EnumNames[i]
			}
			choices = append(choices, c)
		}
	case "integer", "number", "boolean":
	default:
		return " of the type " + text.Line(s.Type, text.MaxNamed) + ", which no form has"
	}
	for _, c := range choices {
		label := c.Title
		if !readable(label) {
			label = c.Const
		}
		if !readable(label) || slices.Contains(f.labels, label) {
			return ", whose choices cannot be told apart"
		}
		f.labels, f.values = append(f.labels, label), append(f.values, text.JSON(c.Const))
	}
	return ""
}

func (f *field) question() signals.Question {
	q := signals.Question{
		ID: f.name, Text: text.Line(f.title(), text.MaxNamed), Optional: !f.required, MultiSelect: f.multi,
	}
	if f.schema.Description != "" {
		q.Context = quoted(f.schema.Description)
	}
	if len(f.schema.Default) > 0 {
		suggested := text.Line(string(f.schema.Default), text.MaxLine)
		q.Context = strings.TrimSpace(q.Context + "\nThe server suggests: " + suggested)
	}
	for i, label := range f.labels {
		o := signals.Option{Label: label}
		if value := string(f.values[i]); value != string(text.JSON(label)) {
			o.Description = value
		}
		q.Options = append(q.Options, o)
	}
	switch {
	case len(q.Options) > 0:
		q.Validate = "choice"
	case f.schema.Type == "boolean":
		q.Validate = "yes_no"
	case f.schema.Type == "string" && f.schema.Bounds == questions.Bounds{}:
	default:
		q.Validate = questions.Schema{Type: f.schema.Type, Bounds: f.schema.Bounds}.Validate()
	}
	return q
}

func (f *field) title() string {
	if readable(f.schema.Title) {
		return f.schema.Title
	}
	return f.name
}

// secretWords are those of what nobody should be asked for in a form.
var secretWords = text.Lazily(`(?i)passwor[dt]|passphrase|passcode|secret|token|api.?key|private.?key|` +
	`credential|\b(pin|otp|cvc|cvv|ssn|2fa|iban)\b|card.?number`)

// secret reports whether what is asked for looks like one.
func (f *field) secret(message string) bool {
	return secretWords().MatchString(strings.Join([]string{f.name, f.schema.Title, f.schema.Description, message}, "\n"))
}

// likeASecret begins the warning about a field that looks like one.
const likeASecret = "This looks like a secret."

// AsksForSecret reports whether a question looks like one for a secret: nothing that is typed for it is to be written
// down before it is the answer.
func AsksForSecret(question, context string) bool {
	return secretWords().MatchString(question) || strings.Contains(context, likeASecret)
}

// value is the answer of a question as the form has it; nil if it has none. An answer that is not of the field's type
// is left to the server to refuse.
func (f *field) value(q *checkpoints.Question) json.RawMessage {
	if q.Skipped {
		return nil
	}
	var picked []json.RawMessage
	for _, label := range questions.Chosen(q) {
		if at := slices.Index(f.labels, label); at >= 0 {
			picked = append(picked, f.values[at])
		}
	}
	answer := strings.TrimSpace(q.Answer)
	switch {
	case f.multi:
		return text.JSON(picked)
	case len(picked) == 1:
		return picked[0]
	case f.schema.Type == "boolean":
		return text.JSON(answer == "yes")
	case f.schema.Type != "string":
		number := json.RawMessage(strings.TrimPrefix(answer, "+"))
		if json.Valid(number) {
			return number
		}
	}
	return text.JSON(q.Answer)
}

// Elicited answers an elicitation with the answers of its questions. One that is declined declines all of it.
func Elicited(call *checkpoints.ToolCall, group []*checkpoints.Question) Reply {
	e := readElicitation(call.Input)
	switch {
	case serverDeclined(group):
		return Reply{Action: DeclineIt}
	case e.why != "":
		return Reply{Action: cancelIt}
	case len(e.fields) == 0:
		return Reply{Action: AcceptIt}
	}
	content := map[string]json.RawMessage{}
	for _, q := range group {
		if q.Index >= len(e.fields) {
			continue
		}
		if value := e.fields[q.Index].value(q); value != nil {
			content[e.fields[q.Index].name] = value
		}
	}
	return Reply{Action: AcceptIt, Content: text.JSON(content)}
}

// serverDeclined reports whether a person declines what a server asks: one field, or by the option of what has none.
func serverDeclined(group []*checkpoints.Question) bool {
	return slices.ContainsFunc(group, func(q *checkpoints.Question) bool { return q.Declined }) ||
		group[0].Answer == Declines && len(readElicitation(group[0].Tool.Input).fields) == 0
}

// serverLost is in the context of what a server asked in a process that is gone.
const serverLost = "The process of this call is gone, and with it what the server had begun; no answer of yours has " +
	"reached it. Answer it all the same: the agent is told to make the call again, and if the server asks the same, it " +
	"gets the answer."

// LoseServer says in the question of a server that its call is gone.
func LoseServer(q *checkpoints.Question) {
	q.Context = strings.TrimSpace(q.Context + "\n" + serverLost)
}

// LostServer says that a server's question has outlived its call with this change; "" if none has.
func LostServer(old, q *checkpoints.Question) string {
	if !questions.KindOf(q.Kind).Server || q.Index > 0 || q.State != checkpoints.QuestionOpen || old == nil ||
		strings.Contains(old.Context, serverLost) || !strings.Contains(q.Context, serverLost) {
		return ""
	}
	return fmt.Sprintf("what the MCP server %s had begun is lost with the process; no answer of yours has reached it. "+
		"Answer %s all the same: the agent makes the call again", q.Header, q.ID)
}

// ServerAction is what a server is answered once its call is made again; "" if that is to be asked.
func ServerAction(group []*checkpoints.Question) string {
	switch {
	case Revoked(group):
		return ""
	case serverDeclined(group):
		return DeclineIt
	case readElicitation(group[0].Tool.Input).why != "":
		return cancelIt
	}
	return AcceptIt
}

// Revoked reports whether the answer of any of these questions was taken back.
func Revoked(group []*checkpoints.Question) bool {
	return slices.ContainsFunc(group, func(q *checkpoints.Question) bool { return q.Revoked != "" })
}
