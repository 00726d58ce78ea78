package filedrop

import (
	"fmt"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/questions"
)

// This file is what stands in question and answer files, and who names them.

func answeredOf(q *supervisor.Question, answer string) Answered {
	a := Answered{Question: q.Text, Answer: answer, Path: q.AnsweredBy, Asked: q.AskedAt}
	if q.AnsweredAt != nil {
		a.At = *q.AnsweredAt
	}
	if said, err := time.Parse(time.RFC3339, ask.SignalOf(q).Field("asked_at")); err == nil && said.Before(a.At) {
		a.Since = said
	}
	return a
}

// decided returns the answers that are decisions and leave no file: permissions, delegations, budgets, commands.
func decided(q *supervisor.Question) bool {
	return q.File == nil && !questions.Posted(q) && q.AnsweredAt != nil && q.State != checkpoints.QuestionOpen
}

// fileOf writes a question in the form of the hybrid document (000, "Question File Format").
func fileOf(q *supervisor.Question) QuestionFile {
	f := QuestionFile{
		ID: q.ID, Question: q.Text, Header: q.Header, Context: q.Context, MultiSelect: q.MultiSelect, Validate: q.Validate,
		Urgent: q.Urgent, OwnWords: len(q.Options) > 0 && q.Validate == "",
		WorkflowID: q.Run, AskedAt: q.AskedAt, AskedBy: q.Agent, Run: q.Run, Agent: q.Agent,
	}
	described := false
	for _, o := range q.Options {
		f.Options = append(f.Options, o.Label)
		f.OptionDescriptions = append(f.OptionDescriptions, o.Description)
		described = described || o.Description != ""
	}
	if !described {
		f.OptionDescriptions = nil
	}
	return f
}

// Signal fills a signal with what the file says (000, "Question File Format" and "Question Queuing").
func (q *QuestionFile) Signal(s signals.Signal) signals.Signal {
	add := func(name, value string) {
		if value != "" {
			s.Fields = append(s.Fields, signals.Field{Name: name, Value: value})
		}
	}
	add("workflow_id", q.WorkflowID)
	add("checkpoint", q.Checkpoint)
	add("asked_by", q.AskedBy)
	add("context", q.Context)
	if !q.AskedAt.IsZero() {
		add("asked_at", q.AskedAt.Format(time.RFC3339))
	}
	if q.QuickWait > 0 {
		add("quick_wait", q.QuickWait.String())
	}
	for i, one := range q.Asked() {
		question := signals.Question{
			ID: one.ID, Text: one.Question, Header: one.Header, Context: one.Context, MultiSelect: one.MultiSelect,
			Validate: one.Validate, Image: one.Image,
			Optional: q.AllRequired != nil && !*q.AllRequired, Urgent: one.Urgent || q.Urgent, OwnWords: one.OwnWords,
		}
		if question.ID == "" {
			question.ID = fmt.Sprintf("Q%d", i+1)
		}
		for j, label := range one.Options {
			o := signals.Option{Label: label}
			if j < len(one.OptionDescriptions) {
				o.Description = one.OptionDescriptions[j]
			}
			question.Options = append(question.Options, o)
		}
		s.Questions = append(s.Questions, question)
	}
	return s
}

// Asked returns what the file asks: its list, or its one question.
func (q *QuestionFile) Asked() []FileQuestion {
	if len(q.Questions) > 0 {
		return q.Questions
	}
	return []FileQuestion{{
		ID: q.ID, Question: q.Question, Header: q.Header, Validate: q.Validate, Options: q.Options,
		OptionDescriptions: q.OptionDescriptions, MultiSelect: q.MultiSelect, Urgent: q.Urgent, OwnWords: q.OwnWords,
		Image: q.Image,
	}}
}
