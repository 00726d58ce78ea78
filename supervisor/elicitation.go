package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/text"
)

// This file is what an MCP server of the person's own asks in the middle of a call: a form, each field of which is a
// question, or that an address is opened. Only a person answers it, and the answer is the server's alone: the agent
// does not read it. After a park the call is gone, and with it the server that asked: the agent is told to make the
// call again, and the answer waits for the same question of the same server.

// What a server is answered.
const (
	acceptIt  = "accept"
	declineIt = "decline"
	cancelIt  = "cancel"
)

// The options of what has no fields.
const (
	agreed   = "Accept"
	opened   = "Opened"
	declines = "Decline"
)

// maxFields is how many fields a form may have.
const maxFields = 30

// ElicitationAsked makes the questions of an elicitation. The error says why nobody is asked.
func ElicitationAsked(input json.RawMessage) ([]signals.Question, error) {
	var e procs.Elicitation
	if err := json.Unmarshal(input, &e); err != nil {
		return nil, errors.New("what it asks cannot be read")
	}
	server := text.Line(e.Server, MaxToolName)
	from := fmt.Sprintf("The MCP server %s asks:\n%s", server, quoted(e.Message))
	if e.Mode == "url" {
		u, err := url.Parse(e.URL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			return nil, fmt.Errorf("%s is not an address that a browser opens", text.Line(e.URL, text.MaxNamed))
		}
		return whole(signals.Question{
			ID: "url", Header: server, Text: "Open the address that the MCP server " + server + " names?",
			Context: fmt.Sprintf("%s\nThe address, which leads to %s:\n%s\nNothing here opens it. Open it yourself if you "+
				"trust it, and do there what is asked.", from, text.Line(u.Host, text.MaxNamed), text.VisibleLine(e.URL)),
			Options:  []signals.Option{{Label: opened, Description: "you have done it"}, {Label: declines}},
			Validate: "choice",
		})
	}
	fields, err := fieldsOf(e)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 {
		return whole(signals.Question{
			ID: "confirm", Header: server, Text: "Agree to what the MCP server " + server + " asks?", Context: from,
			Options: []signals.Option{{Label: agreed}, {Label: declines}}, Validate: "choice",
		})
	}
	var qs []signals.Question
	for i, f := range fields {
		q := f.question()
		q.Header = server
		q.Text = fmt.Sprintf("%s (for the MCP server %s)", q.Text, server)
		if len(fields) > 1 {
			q.Context = strings.TrimSpace(fmt.Sprintf("Field %d of %d. %s", i+1, len(fields), q.Context))
		}
		q.Context = strings.TrimSpace(from + "\n" + q.Context)
		if f.secret(e.Message) {
			q.Context += "\nThis looks like a secret. What you type goes to the server, and stays readable in the records " +
				"of this machine. Decline it, unless you want that."
		}
		qs = append(qs, q)
	}
	return whole(qs...)
}

// whole refuses questions of which a part could not be shown.
func whole(qs ...signals.Question) ([]signals.Question, error) {
	for _, q := range qs {
		if cut := NewQuestion(checkpoints.AskElicitation, q).Truncated; cut != "" {
			return nil, fmt.Errorf("it is too long: %s", cut)
		}
	}
	return qs, nil
}

// quoted gives a server's text so that no line of it looks like one of ours.
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
	rule
}

type titled struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// A rule bounds what may be typed. It is the person's terminal that holds an answer to it.
type rule struct {
	Minimum   *float64 `json:"minimum,omitempty"`
	Maximum   *float64 `json:"maximum,omitempty"`
	MinLength *int     `json:"minLength,omitempty"`
	MaxLength *int     `json:"maxLength,omitempty"`
	Pattern   string   `json:"pattern,omitempty"`
	Format    string   `json:"format,omitempty"`
}

// fieldsOf reads the form.
func fieldsOf(e procs.Elicitation) ([]field, error) {
	var form struct {
		Properties map[string]fieldSchema `json:"properties"`
		Required   []string               `json:"required"`
	}
	if len(e.Schema) > 0 {
		if err := json.Unmarshal(e.Schema, &form); err != nil {
			return nil, errors.New("its form cannot be read")
		}
	}
	names := slices.Sorted(maps.Keys(form.Properties))
	if len(names) > maxFields {
		return nil, fmt.Errorf("its form has %d fields of at most %d", len(names), maxFields)
	}
	place := func(name string) int {
		if at := slices.Index(e.Order, name); at >= 0 {
			return at
		}
		return len(e.Order)
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	var fields []field
	for _, name := range names {
		f := field{name: name, required: slices.Contains(form.Required, name), schema: form.Properties[name]}
		if err := f.offer(); err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// offer takes what the schema lets choose from.
func (f *field) offer() error {
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
			return fmt.Errorf("its field %s is a list of what it does not name", text.Line(f.name, text.MaxNamed))
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
		return fmt.Errorf("its field %s is of the type %s, which no form has", text.Line(f.name, text.MaxNamed),
			text.Line(s.Type, text.MaxNamed))
	}
	for _, c := range choices {
		label := c.Title
		if !readable(label) {
			label = c.Const
		}
		if !readable(label) || slices.Contains(f.labels, label) {
			return fmt.Errorf("what its field %s lets choose cannot be told apart", text.Line(f.name, text.MaxNamed))
		}
		f.labels, f.values = append(f.labels, label), append(f.values, text.JSON(c.Const))
	}
	return nil
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
	case f.schema.Type == "string" && f.schema.rule == rule{}:
	default:
		q.Validate = "schema:" + string(text.JSON(struct {
			Type string `json:"type"`
			rule
		}{f.schema.Type, f.schema.rule}))
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

// value is the answer of a question as the form has it; nil if it has none. An answer that is not of the field's type
// is left to the server to refuse.
func (f *field) value(q *Question) json.RawMessage {
	if q.Skipped {
		return nil
	}
	var picked []json.RawMessage
	for _, label := range chosen(q) {
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

// elicited answers an elicitation with the answers of its questions. One that is declined declines all of it.
func elicited(call *checkpoints.ToolCall, group []*Question) Reply {
	if serverDeclined(group) {
		return Reply{Action: declineIt}
	}
	var e procs.Elicitation
	if err := json.Unmarshal(call.Input, &e); err != nil {
		return Reply{Action: cancelIt}
	}
	fields, err := fieldsOf(e)
	if err != nil || len(fields) == 0 || e.Mode == "url" {
		return Reply{Action: acceptIt}
	}
	content := map[string]json.RawMessage{}
	for _, q := range group {
		if q.Index >= len(fields) {
			continue
		}
		if value := fields[q.Index].value(q); value != nil {
			content[fields[q.Index].name] = value
		}
	}
	return Reply{Action: acceptIt, Content: text.JSON(content)}
}

func serverDeclined(group []*Question) bool {
	return slices.ContainsFunc(group, func(q *Question) bool {
		return q.Declined || q.Answer == declines && (q.Own == "url" || q.Own == "confirm") && len(group) == 1
	})
}

// elicitationDecided tells the agent of an answer that came when its call was gone.
func elicitationDecided(group []*Question) string {
	return fmt.Sprintf("## CLARIFICATION RESPONSE\n\nYour call of a tool of the MCP server %s was interrupted while the "+
		"server waited for the person.\n%s", group[0].Header, elicitationOutcome(group))
}

func elicitationOutcome(group []*Question) string {
	switch {
	case revoked(group):
		return "You have been moved since, and nobody has decided it here.\n\n## RESUME INSTRUCTIONS\nMake the call again " +
			"if it is still needed; the person is asked."
	case serverDeclined(group):
		return "The person declines to answer the server.\n\n## RESUME INSTRUCTIONS\nDo not make this call again. Continue " +
			"without it, or end with a report."
	}
	return "The person has answered. The answer is for the server: you do not get it.\n\n## RESUME INSTRUCTIONS\nMake " +
		"the call again, unchanged; when the server asks the same, it gets the answer."
}

func revoked(group []*Question) bool {
	return slices.ContainsFunc(group, func(q *Question) bool { return q.Revoked != "" })
}
