package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
)

// This file reads what a signal only names: the file that holds its question, and the agent's checkpoint. It is read at the
// moment of the signal, for it may be gone tomorrow.

// named gives a signal of an agent what its questions need.
func (e *engine) named(agent string, s signals.Signal) Named {
	if s.Dialect == signals.Escalated && len(s.Questions) == 0 {
		s = e.fromFile(s)
	}
	kept, left := e.keep(agent, s)
	if s.Unasked() && left != nil && left.Question != nil && left.Question.Text != "" {
		s.Questions = []signals.Question{questionLeft(left.Question)}
	}
	kind, qs := asks(s)
	return Named{Signal: s, Kept: kept, Naming: e.naming(kind, qs, "")}
}

// questionLeft is the question that an agent's state holds (001, Example 3), for a pause that does not repeat it.
func questionLeft(p *checkpoints.Pending) signals.Question {
	q := signals.Question{ID: "Q1", Text: p.Text}
	for _, o := range p.Options {
		q.Options = append(q.Options, signals.Option(o))
	}
	return q
}

// fromFile gives an escalation (000) the questions of its file. One that cannot be read is a question all the same.
func (e *engine) fromFile(s signals.Signal) signals.Signal {
	id := s.Field("question_id")
	f, err := e.questionFile(id)
	if known := askedByFile(e.state, id); err != nil && known != nil { // it was read while it lay there
		sig := signalOf(known)
		s.Fields, s.Questions = sig.Fields, sig.Questions
		return s
	}
	if err != nil {
		why := err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			why = "there is no such file"
		}
		s.Questions = []signals.Question{{
			ID: id, Text: fmt.Sprintf("The agent asks by the question file %s.json, which cannot be read. What should it be told?", id),
			Context: "The file: " + why + ".",
		}}
		return s
	}
	return asked(s, f)
}

// questionFile reads a question file by its id.
func (e *engine) questionFile(id string) (*checkpoints.QuestionFile, error) {
	if e.door == nil {
		return nil, errors.New("the folder of question files cannot be used")
	}
	return e.door.Question(id)
}

// askedByFile gives the first question of an agent's own file; nil if no such file is known.
func askedByFile(s State, id string) *Question {
	qs := s.questions(func(q *Question) bool { return q.File != nil && q.File.ID == id })
	if len(qs) == 0 {
		return nil
	}
	return qs[0]
}

// escalated tells whether an id is that of a question file which some agent's script has put there: one that lies there still,
// whether it can be read or not, or was read before. It may be called by any goroutine.
func (e *engine) escalated(id string) bool {
	f, err := e.questionFile(id)
	switch {
	case err == nil:
		return !f.Ours()
	case errors.Is(err, checkpoints.ErrBadQuestionFile):
		return true
	}
	return e.keeper.knows(id)
}

// asked fills a signal with what a question file says (000, "Question File Format" and "Question Queuing").
func asked(s signals.Signal, f *checkpoints.QuestionFile) signals.Signal {
	add := func(name, value string) {
		if value != "" {
			s.Fields = append(s.Fields, signals.Field{Name: name, Value: value})
		}
	}
	add("workflow_id", f.WorkflowID)
	add("checkpoint", f.Checkpoint)
	add("asked_by", f.AskedBy)
	add("context", f.Context)
	if f.QuickWait > 0 {
		add("quick_wait", f.QuickWait.String())
	}
	for i, q := range questionsIn(f) {
		question := signals.Question{
			ID: q.ID, Text: q.Question, Header: q.Header, Context: q.Context, MultiSelect: q.MultiSelect, Validate: q.Validate,
			Optional: f.AllRequired != nil && !*f.AllRequired,
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

// questionsIn gives what a question file asks: its list, or its one question.
func questionsIn(f *checkpoints.QuestionFile) []checkpoints.FileQuestion {
	if len(f.Questions) > 0 {
		return f.Questions
	}
	return []checkpoints.FileQuestion{{
		ID: f.ID, Question: f.Question, Header: f.Header, Validate: f.Validate, Options: f.Options,
		OptionDescriptions: f.OptionDescriptions, MultiSelect: f.MultiSelect,
	}}
}

// keep keeps a copy of the checkpoint that a signal names, and reads it; nil if it names none, or none that can be read.
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
	c, err := e.places(agent).Keep(path, e.Dirs.RunFile(e.run, name))
	if err != nil {
		kept.Problem = err.Error()
		return kept, nil
	}
	kept.Copy, kept.Form = name, string(c.Form)
	return kept, c
}

// holdFor is how long a process waits for questions: as long as the one that may take longest. A question to be answered
// with yes or no takes a person less time than others (000, "Smart Timeout Adjustment": two minutes of five); a script may
// say itself how long it waits. It is never longer than hold.
func holdFor(open []*Question, hold time.Duration) time.Duration {
	var longest time.Duration
	for _, q := range open {
		wait := hold
		if w := quickWait(q); w > 0 {
			wait = min(w, hold)
		} else if asksYesOrNo(q) {
			wait = hold * 2 / 5
		}
		longest = max(longest, wait)
	}
	return longest
}

func asksYesOrNo(q *Question) bool {
	if q.Validate == "yes_no" {
		return true
	}
	return len(q.Options) == 2 && strings.EqualFold(q.Options[0].Label, "yes") && strings.EqualFold(q.Options[1].Label, "no")
}

// quickWait is how long the asking script means to wait; 0 if it does not say.
func quickWait(q *Question) time.Duration {
	d, err := time.ParseDuration(signalOf(q).Field("quick_wait"))
	if err != nil {
		return 0
	}
	return d
}
