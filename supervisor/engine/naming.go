package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/questions"
)

// This file is what events need from outside: the ids of their questions, the answers that were given in advance, and
// what a signal only names.

// naming gives an agent's questions their ids, and the answers that were given in advance: for each the preset whose
// key names it most exactly, among those that it can take. rule is the one that they offer.
func (e *engine) naming(agent string, kind checkpoints.QuestionKind, qs []signals.Question,
	rule string) supervisor.Naming {
	n := supervisor.Naming{IDs: make([]string, len(qs)), Presets: make([]conf.Preset, len(qs))}
	if questions.KindOf(kind).Hands {
		n.Child = e.IDs.Agent()
	}
	n.Images = e.keepImages(agent, qs)
	for i, q := range qs {
		n.IDs[i] = e.IDs.Question()
		best := 0
		for _, p := range e.state.Config.Answers {
			fit := p.Names(q)
			if fit <= best {
				continue
			}
			value, why := e.preset(p, agent, kind, q, rule)
			if why != "" {
				e.say(notice.Notification{Time: e.Now(), Run: e.run, Type: notice.Progress,
					Trouble: true, Text: p.Origin() + " does not answer it: " + why})
				continue
			}
			p.Value = value
			best, n.Presets[i] = fit, p
		}
	}
	return n
}

// preset returns a preset as the answer to a question, or says why it is none.
func (e *engine) preset(p conf.Preset, agent string, kind checkpoints.QuestionKind, asked signals.Question,
	rule string) (value, why string) {
	q := ask.Question(kind, asked)
	q.Run, q.Agent, q.Rule = e.run, agent, rule // a path begins where the agent works
	if questions.OfBudget(q) {
		q.Exceeded = &checkpoints.Exceeded{} // to finish and to stop are the same for all
	}
	value, err := e.judge(q, p.Value)
	if q.Answer = value; err != nil {
		q.Answer = p.Value
	}
	switch why = p.Grants(q, e.state.Config); {
	case why != "":
		return "", why
	case err != nil:
		return "", err.Error()
	}
	return value, ""
}

// judge returns what a text answers to a question of an agent, or why it is no answer.
func (e *engine) judge(q *supervisor.Question, typed string) (string, error) {
	return questions.Judge(q, typed, questions.Place{Dir: e.state.Folder(q.Agent), Stat: func(path string) error {
		_, err := read(&e.disk, func() (struct{}, error) { return struct{}{}, e.Files.Stat(path) })
		return err
	}})
}

// notesNamed gives the questions of runs inside agents their ids, and the answers that were given in advance. Those
// that need no question do not use them.
func (e *engine) notesNamed(notes []supervisor.InboxEntry) supervisor.NotesNamed {
	var all supervisor.NotesNamed
	for _, n := range notes {
		nest, ok := ask.NestingIn(n)
		if !ok {
			continue
		}
		if all == nil {
			all = supervisor.NotesNamed{}
		}
		named := e.naming(n.Agent, questions.AskDelegation,
			[]signals.Question{ask.Delegation(nest.Work)}, "")
		named.Child = nest.Agent
		all[n.Seq] = named
	}
	return all
}

// askBudget names the question of a budget. What was answered in advance is the answer to the first: it raises a bound
// once.
func (e *engine) askBudget(f effect.Effect) func(context.Context) result {
	s, scope := e.state, e.state.Agents.Get(f.Agent)
	return func(context.Context) result {
		return result{finish: func() supervisor.Event {
			used := s.ComputeUsage()[scope.ID].Used
			over := questions.Exceeding(*scope.Budget, used, questions.Exceeded(*scope.Budget, used))
			n := e.naming(f.Agent, questions.AskBudget, []signals.Question{s.BudgetQuestion(scope, over)}, "")
			if slices.ContainsFunc(s.FindQuestionsOf(scope.ID, questions.OfBudget),
				func(q *supervisor.Question) bool { return q.AnsweredAt != nil }) {
				n.Presets = nil
			}
			return supervisor.BudgetAsked{Agent: scope.ID, Naming: n}
		}}
	}
}

// prepare does what an answer needs before it is said.
func (e *engine) prepare(f effect.Effect) func(context.Context) result {
	s, b := e.state, e.preparedFor(e.state.Group(f.Question)[0])
	return func(ctx context.Context) result { return result{event: e.Prepare(ctx, s, f, b)} }
}

// preparedFor returns what an answer needs from outside before it is said, whatever is found on disk.
func (e *engine) preparedFor(first *supervisor.Question) supervisor.Prepared {
	b := supervisor.Prepared{Question: first.ID}
	r := questions.Resolve(first)
	if r.Asks() {
		kind, asked := ask.Further(r, first, e.state.Folder(first.Agent))
		b.Naming = e.naming(first.Agent, kind, []signals.Question{asked}, "")
	}
	if r.How == questions.DelegateIt {
		b.Child = e.IDs.Agent()
	}
	return b
}

// named returns a signal of an agent what its questions need.
func (e *engine) named(agent string, s signals.Signal, from *checkpoints.Subagent) supervisor.Named {
	if s.Dialect == signals.Escalated && len(s.Questions) == 0 {
		s = e.fromFile(s)
	}
	kept, left := e.keep(agent, s)
	if s.Unasked() && left != nil && left.Question != nil && left.Question.Text != "" {
		s.Questions = []signals.Question{ask.Left(left.Question)}
	}
	kind, qs := supervisor.ParseQuestions(s)
	return supervisor.Named{Signal: s, Kept: kept, From: from, Naming: e.naming(agent, kind, qs, "")}
}

// fromFile returns an escalation (000) the questions of its file. One that cannot be read is a question all the same.
func (e *engine) fromFile(s signals.Signal) signals.Signal {
	id := s.Field("question_id")
	f, err := e.questionFile(id)
	if known := supervisor.AskedByFile(e.state, id); err != nil && known != nil { // it was read while it lay there
		sig := ask.SignalOf(known)
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
	return f.Signal(s)
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
