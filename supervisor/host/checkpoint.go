package host

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// This file is our own checkpoint of an agent's work, in the form of the hybrid document ("Checkpoint File Format").

// checkpoint returns the work in that form. What the stream does not show is taken from what the agent has said of it,
// in its own checkpoint, its signals and its reports of progress.
func (w work) checkpoint(a *supervisor.Agent, cwd string, questions []*supervisor.Question,
	written string) *checkpoints.Checkpoint {
	c := &checkpoints.Checkpoint{
		WorkflowID: a.Run, WorkflowType: "claude-supervise", CurrentStep: lastSignalField(questions, "blocked_at", "details"),
		Context: written, NextAction: "continue with the task", Files: map[string]string{},
		StateVariables: map[string]json.RawMessage{},
	}
	for _, s := range w.steps {
		if s.Status == stepDoing {
			c.CurrentStep = cmp.Or(c.CurrentStep, text.PlainLine(s.Content))
		}
	}
	own := w.from
	if own == nil || own.Form != checkpoints.FormHybrid {
		own = &checkpoints.Checkpoint{}
	}
	c.CurrentStep = cmp.Or(c.CurrentStep, own.CurrentStep)
	c.WorkflowType = cmp.Or(own.WorkflowType, c.WorkflowType)
	c.CompletedSteps, c.PendingSteps = w.allSteps(own, lastSignal(questions, "completed_work", "blocked_work"))
	if n := len(w.progress); n > 0 {
		c.CurrentStep = cmp.Or(c.CurrentStep, w.progress[n-1])
	}
	c.CurrentStep = cmp.Or(c.CurrentStep, "at work")
	c.StateVariables = stateVariables(a, own, lastSignalField(questions, "state_snapshot", "current_state"))
	maps.Copy(c.Files, own.Files)
	for _, f := range w.files {
		name, path := f, f
		if !filepath.IsAbs(f) {
			path = filepath.Join(cwd, f)
		} else if rel, err := filepath.Rel(cwd, f); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
		c.Files[name] = path
	}
	for _, q := range questions {
		if q.State == checkpoints.QuestionOpen {
			c.NextAction = "continue with the answer to: " + q.Text
		}
	}
	if answer := lastAnswer(questions); answer != nil {
		c.SetUserAnswer(answer)
	}
	return c
}

// allSteps returns the steps that are done and those that are not: of the agent's list, else of its own checkpoint,
// else of its newest signal that tells them, else what it told that it was at before.
func (w work) allSteps(own *checkpoints.Checkpoint, said signals.Signal) (done, pending []string) {
	done, pending = w.stepsOf(true), w.stepsOf(false)
	if len(w.steps) == 0 {
		done, pending = own.CompletedSteps, own.PendingSteps
	}
	if len(done)+len(pending) == 0 {
		done, pending = said.List("completed_work"), said.List("blocked_work")
	}
	if n := len(w.progress); len(done)+len(pending) == 0 && n > 0 {
		done, pending = w.progress[:n-1], w.progress[n-1:]
	}
	return done, pending
}

// stateVariables returns the agent's own, from its checkpoint and its account of its state, which may be a mapping, and
// how far it has got.
func stateVariables(a *supervisor.Agent, own *checkpoints.Checkpoint, said string) map[string]json.RawMessage {
	vs := maps.Clone(own.StateVariables)
	if vs == nil {
		vs = map[string]json.RawMessage{}
	}
	var members map[string]any
	if said != "" && (yaml.Unmarshal([]byte(said), &members) != nil || members == nil) {
		members = map[string]any{"current_state": said}
	}
	for name, value := range members {
		if encoded, err := json.Marshal(value); err == nil { // else it holds what JSON cannot say
			vs[name] = encoded
		}
	}
	if p := a.Progress; p != nil && p.Percent != "" {
		vs["percent"] = text.JSON(p.Percent)
	}
	if a.SessionID != "" {
		vs["session_id"] = text.JSON(a.SessionID)
	}
	return vs
}

// lastAnswer returns the newest answer of an agent's questions, as prompts.UserAnswer; nil while there is none, or a
// newer question is open.
func lastAnswer(asked []*supervisor.Question) json.RawMessage {
	var group []*supervisor.Question // those that were asked last, together
	for _, q := range slices.Backward(asked) {
		switch {
		case !questions.Posted(q) && q.File == nil:
			continue
		case len(group) > 0 && q.Group != group[0].Group:
			return prompts.UserAnswer(group)
		case q.AnsweredAt == nil:
			return nil
		}
		group = slices.Insert(group, 0, q)
	}
	if len(group) == 0 {
		return nil
	}
	return prompts.UserAnswer(group)
}

// lastSignal returns the newest signal with one of the fields; the zero Signal if there is none.
func lastSignal(questions []*supervisor.Question, names ...string) signals.Signal {
	for _, q := range slices.Backward(questions) {
		var sig signals.Signal
		if len(q.Signal) > 0 && json.Unmarshal(q.Signal, &sig) == nil && slices.ContainsFunc(names, func(name string) bool {
			return strings.TrimSpace(sig.Field(name)) != ""
		}) {
			return sig
		}
	}
	return signals.Signal{}
}

// lastSignalField returns the first of the fields that the newest signal with one of them has.
func lastSignalField(questions []*supervisor.Question, names ...string) string {
	sig := lastSignal(questions, names...)
	for _, name := range names {
		if v := strings.TrimSpace(sig.Field(name)); v != "" {
			return v
		}
	}
	return ""
}

// checkpointOf returns the absolute path of the checkpoint that a question goes on from: the one that its agent has
// named, else ours. Ours is written now if there is none that is whole, for its process may live; "" where it cannot be
// written. It need not outlast a power cut: the end of the process, or of what is left of it, has it written anew.
func (m Machine) checkpointOf(ctx context.Context, q *supervisor.Question) string {
	path := m.Dirs.CheckpointFile(q.Run, q.Agent)
	if q.Kept != nil && filepath.IsAbs(q.Kept.Path) {
		return q.Kept.Path
	} else if _, err := checkpoints.ReadCheckpoint(path); err == nil && q.Kept == nil {
		return path
	}
	s, err := view.State(ctx, m.Store, q.Run)
	if err != nil || s.Agents.Get(q.Agent) == nil {
		return ""
	}
	cwd := s.Folder(q.Agent)
	if q.Kept != nil {
		return m.places(s, q.Agent).Absolute(q.Kept.Path)
	}
	w, err := workOf(m.Dirs.AgentLog(q.Run, q.Agent))
	if err != nil {
		return ""
	}
	questions := s.FindQuestionsOf(q.Agent, func(*supervisor.Question) bool { return true })
	if err := w.checkpoint(s.Agents.Get(q.Agent), cwd, questions, w.text(cwd, questions)).Publish(path); err != nil {
		m.Log.Error().Err(err).Msg("checkpoint")
		return ""
	}
	return path
}

// setAnswer writes what the person has answered into the checkpoint of an agent that is about to be started again.
func (m Machine) setAnswer(s supervisor.State, agent string) {
	answer := lastAnswer(s.FindQuestionsOf(agent, func(*supervisor.Question) bool { return true }))
	path := m.Dirs.CheckpointFile(s.Run.ID, agent)
	if _, err := os.Lstat(path); err != nil || answer == nil {
		return
	}
	places := checkpoints.Places{Base: filepath.Dir(path)}
	if err := places.SetAnswer(filepath.Base(path), answer); err != nil {
		m.Log.Error().Err(err).Msg("checkpoint")
	}
}
