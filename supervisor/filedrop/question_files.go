package filedrop

import (
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
)

// This file is what stands in question and answer files, and who names them.

func answeredOf(q *supervisor.Question, answer string) checkpoints.Answered {
	a := checkpoints.Answered{Question: q.Text, Answer: answer, Path: q.AnsweredBy, Asked: q.AskedAt}
	if q.AnsweredAt != nil {
		a.At = *q.AnsweredAt
	}
	if said, err := time.Parse(time.RFC3339, supervisor.SignalOf(q).Field("asked_at")); err == nil && said.Before(a.At) {
		a.Since = said
	}
	return a
}

// decided gives the answers that are decisions and leave no file: permissions, delegations, budgets, commands.
func decided(q *supervisor.Question) bool {
	return q.File == nil && !supervisor.Posted(q) && q.AnsweredAt != nil && q.State != checkpoints.QuestionOpen
}

// fileOf writes a question in the form of the hybrid document (000, "Question File Format").
func fileOf(q *supervisor.Question) checkpoints.QuestionFile {
	f := checkpoints.QuestionFile{
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
