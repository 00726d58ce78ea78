package supervisor

import (
	"fmt"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
)

// PollInterval is how often the inbox is read though nothing has rung: the wake-up socket is only a hint.
const PollInterval = time.Minute

// This file reads what a signal only names: the file that holds its question, and the agent's checkpoint. It is read at
// the moment of the signal, for it may be gone tomorrow.

// QuestionLeft is the question that an agent's state holds (001, Example 3), for a pause that does not repeat it.
func QuestionLeft(p *checkpoints.Pending) signals.Question {
	q := signals.Question{ID: "Q1", Text: p.Text}
	for _, o := range p.Options {
		q.Options = append(q.Options, signals.Option(o))
	}
	return q
}

// AskedByFile gives the first question of an agent's own file; nil if no such file is known.
func AskedByFile(s State, id string) *Question {
	qs := s.FindQuestions(func(q *Question) bool { return q.File != nil && q.File.ID == id })
	if len(qs) == 0 {
		return nil
	}
	return qs[0]
}

// WithFile fills a signal with what a question file says (000, "Question File Format" and "Question Queuing").
func WithFile(s signals.Signal, f *checkpoints.QuestionFile) signals.Signal {
	add := func(name, value string) {
		if value != "" {
			s.Fields = append(s.Fields, signals.Field{Name: name, Value: value})
		}
	}
	add("workflow_id", f.WorkflowID)
	add("checkpoint", f.Checkpoint)
	add("asked_by", f.AskedBy)
	add("context", f.Context)
	if !f.AskedAt.IsZero() {
		add("asked_at", f.AskedAt.Format(time.RFC3339))
	}
	if f.QuickWait > 0 {
		add("quick_wait", f.QuickWait.String())
	}
	for i, q := range QuestionsIn(f) {
		question := signals.Question{
			ID: q.ID, Text: q.Question, Header: q.Header, Context: q.Context, MultiSelect: q.MultiSelect, Validate: q.Validate,
			Optional: f.AllRequired != nil && !*f.AllRequired, Urgent: q.Urgent || f.Urgent, OwnWords: q.OwnWords,
		}
		if question.ID == "" {
			question.ID = fmt.Sprintf("Q%d", i+1)
		}
		for j, label := range q.Options {
			o := signals.Option{Label: label}
			if j < len(q.OptionDescriptions) {
				o.Description = q.OptionDescriptions[j]
			}
			question.Options = append(question.Options, o)
		}
		s.Questions = append(s.Questions, question)
	}
	return s
}

// QuestionsIn gives what a question file asks: its list, or its one question.
func QuestionsIn(f *checkpoints.QuestionFile) []checkpoints.FileQuestion {
	if len(f.Questions) > 0 {
		return f.Questions
	}
	return []checkpoints.FileQuestion{{
		ID: f.ID, Question: f.Question, Header: f.Header, Validate: f.Validate, Options: f.Options,
		OptionDescriptions: f.OptionDescriptions, MultiSelect: f.MultiSelect, Urgent: f.Urgent, OwnWords: f.OwnWords,
	}}
}
