package supervisor

import (
	"bytes"
	"io"
	"os"
	"strings"

	"claude-supervise/checkpoints"
)

// This file is what stands in question and answer files, and who names them.

func answeredOf(q *Question, answer string) checkpoints.Answered {
	a := checkpoints.Answered{Question: q.Text, Answer: answer, Path: q.AnsweredBy, Asked: q.AskedAt}
	if q.AnsweredAt != nil {
		a.At = *q.AnsweredAt
	}
	return a
}

// fileOf writes a question in the form of the hybrid document (000, "Question File Format").
func fileOf(q *Question) checkpoints.QuestionFile {
	f := checkpoints.QuestionFile{
		ID: q.ID, Question: q.Text, Header: q.Header, Context: q.Context, MultiSelect: q.MultiSelect, Validate: q.Validate,
		WorkflowID: q.Run, AskedAt: q.AskedAt, AskedBy: q.Agent, Run: q.Run, Agent: q.Agent,
	}
	if q.Kept != nil {
		f.Checkpoint = q.Kept.Path
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

// inLine is a text as an answer file holds it.
func inLine(text string) string {
	return strings.TrimSpace(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " "))
}

// maxNamedIn is how far back a log is searched for the id of a question file, in bytes.
const maxNamedIn = 1 << 20

// namedIn tells whether an agent's log names an id, in its newest part.
func namedIn(path, id string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(-maxNamedIn, io.SeekEnd); err != nil {
		_, err = f.Seek(0, io.SeekStart)
		if err != nil {
			return false
		}
	}
	var b bytes.Buffer
	_, _ = io.Copy(&b, io.LimitReader(f, 2*maxNamedIn)) // what can be read of it is searched
	return containsID(b.String(), id)
}

// containsID tells whether a text names an id, and not one that it is part of.
func containsID(text, id string) bool {
	for {
		before, after, found := strings.Cut(text, id)
		if !found {
			return false
		}
		if !endsInID(before) && !beginsInID(after) {
			return true
		}
		text = after
	}
}

func endsInID(s string) bool { return s != "" && isIDByte(s[len(s)-1]) }

// beginsInID leaves out a dot: an id is named at the end of a sentence too, and before .txt.
func beginsInID(s string) bool { return s != "" && isIDByte(s[0]) && s[0] != '.' }

func isIDByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
