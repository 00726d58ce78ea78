package flow

import (
	"encoding/json"
	"slices"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// What lists show of a run is bounded: a memo is in each answer of the server to a list.
const (
	maxAgents    = 50
	maxQuestions = 100
	maxNotes     = 20
	maxAnswered  = 20
	maxWords     = 4 << 10 // bytes of a text
	maxMemo      = 256 << 10
)

// StatusQueued is that of a run that no worker has, and that does not wait for a person.
const StatusQueued = "queued"

var (
	attributeOpen   = temporal.NewSearchAttributeKeyKeywordList(AttributeOpen)
	attributeStatus = temporal.NewSearchAttributeKeyKeyword(AttributeStatus)
)

// listed gives the run as lists have it.
func (r *run) listed() Listed {
	l := Listed{Epoch: r.Epoch, Labels: r.Task.Labels, Notes: r.Seen.Notes, Questions: r.open(),
		Answered: r.Answers[max(0, len(r.Answers)-maxAnswered):]}
	if r.Seen.Run != nil {
		l.RunView = *r.Seen.Run
	} else {
		l.RunView = view.RunView{ID: r.Task.Run, Name: r.Task.Name, StartedAt: r.Task.HandedIn}
	}
	l.SupervisorPID = 0 // on another machine
	switch {
	case r.ended != nil:
		l.ExitCode, l.OpenQuestions = r.ended, nil
		if r.reason != "" {
			l.Status, l.Reason, l.Since = "failed", r.reason, r.since
			if *r.ended == supervisor.ExitStopped {
				l.Status = "stopped"
			}
		}
		if l.EndedAt == nil {
			at := r.since
			l.EndedAt = &at
		}
	case r.held:
		l.Worker = r.Seen.Worker
	case !r.Parked:
		l.Status, l.Reason, l.Since = StatusQueued, r.reason, r.since
	}
	l.OpenQuestions = nil
	for _, q := range l.Questions {
		l.OpenQuestions = append(l.OpenQuestions, q.ID)
	}
	return l.bounded()
}

// bounded cuts what lists need not have whole.
func (l Listed) bounded() Listed {
	l.Reason = text.Line(l.Reason, maxWords)
	l.Agents = slices.Clone(l.Agents[:min(len(l.Agents), maxAgents)])
	for i := range l.Agents {
		l.Agents[i].Task = text.Line(l.Agents[i].Task, 200)
		l.Agents[i].Reason = text.Line(l.Agents[i].Reason, 500)
	}
	l.Notes = l.Notes[max(0, len(l.Notes)-maxNotes):]
	l.Questions = l.Questions[:min(len(l.Questions), maxQuestions)]
	l.Answered = slices.Clone(l.Answered)
	for i := range l.Answered {
		l.Answered[i].Text = text.Line(l.Answered[i].Text, 200)
	}
	return l
}

// shows puts the run into the lists, where it has changed there.
func (r *run) shows(ctx workflow.Context) {
	l := r.listed()
	phase := string(l.Status)
	if !slices.Equal(l.OpenQuestions, r.lastOpen) || phase != r.lastPhase {
		r.lastOpen, r.lastPhase = l.OpenQuestions, phase
		open := attributeOpen.ValueUnset()
		if len(l.OpenQuestions) > 0 {
			open = attributeOpen.ValueSet(l.OpenQuestions)
		}
		if err := workflow.UpsertTypedSearchAttributes(ctx, open, attributeStatus.ValueSet(phase)); err != nil {
			r.log.Error("search attributes", "error", err)
		}
	}
	doc, err := json.Marshal(l)
	if err == nil && len(doc) > maxMemo {
		for i := range l.Questions { // what is cut is in the run itself: fleet show
			l.Questions[i].Context, l.Questions[i].Input = text.Line(l.Questions[i].Context, 500), nil
		}
		doc, err = json.Marshal(l)
	}
	if err != nil || string(doc) == r.lastMemo {
		return
	}
	r.lastMemo = string(doc)
	if err := workflow.UpsertMemo(ctx, map[string]any{MemoRun: l}); err != nil {
		r.log.Error("memo", "error", err)
	}
}

func joined(words []string) string { return strings.Join(words, ", ") }

func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}
