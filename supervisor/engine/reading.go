package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
)

// named gives a signal of an agent what its questions need.
func (e *engine) named(agent string, s signals.Signal, from *checkpoints.Subagent) supervisor.Named {
	if s.Dialect == signals.Escalated && len(s.Questions) == 0 {
		s = e.fromFile(s)
	}
	kept, left := e.keep(agent, s)
	if s.Unasked() && left != nil && left.Question != nil && left.Question.Text != "" {
		s.Questions = []signals.Question{supervisor.QuestionLeft(left.Question)}
	}
	kind, qs := supervisor.ParseQuestions(s)
	return supervisor.Named{Signal: s, Kept: kept, From: from, Naming: e.naming(agent, kind, qs, "")}
}

// fromFile gives an escalation (000) the questions of its file. One that cannot be read is a question all the same.
func (e *engine) fromFile(s signals.Signal) signals.Signal {
	id := s.Field("question_id")
	f, err := e.questionFile(id)
	if known := supervisor.AskedByFile(e.state, id); err != nil && known != nil { // it was read while it lay there
		sig := supervisor.SignalOf(known)
		s.Fields, s.Questions = sig.Fields, sig.Questions
		return s
	}
	if err != nil {
		why := err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			why = "there is no such file"
		}
		s.Questions = []signals.Question{{
			ID: id,
			Text: fmt.Sprintf("The agent asks by the question file %s.json, which cannot be read. What should it be told?",
				id),
			Context: "The file: " + why + ".",
		}}
		return s
	}
	return supervisor.WithFile(s, f)
}

// questionFile reads a question file by its id.
func (e *engine) questionFile(id string) (*checkpoints.QuestionFile, error) {
	if e.fileDrop == nil {
		return nil, errors.New("the folder of question files cannot be used")
	}
	return read(&e.disk, func() (*checkpoints.QuestionFile, error) { return e.fileDrop.Question(id) })
}

// escalated reports whether an id is that of a question file which some agent's script has put there: one that lies
// there still, whether it can be read or not, or was read before. It may be called by any goroutine.
func (e *engine) escalated(id string) bool {
	f, err := e.questionFile(id)
	switch {
	case err == nil:
		return !f.Ours()
	case errors.Is(err, checkpoints.ErrBadQuestionFile):
		return true
	}
	return e.fileDrop != nil && e.fileDrop.Knows(id)
}

// keep keeps a copy of the checkpoint that a signal names, and reads it; nil if it names none, or none that can be
// read.
func (e *engine) keep(agent string, s signals.Signal) (*checkpoints.Kept, *checkpoints.Checkpoint) {
	path := s.Field("state_file")
	if s.Dialect == signals.Escalated {
		path = s.Field("checkpoint")
	}
	if path = strings.TrimSpace(path); path == "" {
		return nil, nil
	}
	kept := &checkpoints.Kept{Path: path}
	name := fmt.Sprintf("%s.%.12s.kept", agent, s.Fingerprint())
	state := e.state
	c, err := read(&e.disk, func() (*checkpoints.Checkpoint, error) { return e.Files.Keep(state, agent, path, name) })
	if err != nil {
		kept.Problem = err.Error()
		return kept, nil
	}
	kept.Copy, kept.Form = name, string(c.Form)
	return kept, c
}
