package flow

import (
	"encoding/json"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/text"
)

// What lists show of a run is bounded: a memo is in each answer of the server to a list, and a search attribute has at
// most 2 KiB.
const (
	maxAgents    = 50
	maxQuestions = 100
	maxNotes     = 20
	maxAnswered  = 20
	maxWords     = 4 << 10   // bytes of a text
	maxAsked     = 256 << 10 // bytes of all questions
)

// MostListed is how many runs a page of a list may have, so that it fits into a message whatever they are.
const MostListed = 400

// StatusQueued is that of a run that no worker has, and that does not wait for a person.
const StatusQueued = "queued"

var (
	attributeOpen    = temporal.NewSearchAttributeKeyKeywordList(AttributeOpen)
	attributeStatus  = temporal.NewSearchAttributeKeyKeyword(AttributeStatus)
	attributeChanged = temporal.NewSearchAttributeKeyTime(AttributeChanged)
	attributeAskedAt = temporal.NewSearchAttributeKeyTime(AttributeAskedAt)
)

// listed returns the run as lists have it.
func (r *run) listed() Listed {
	l := Listed{Epoch: r.Epoch, Labels: r.Task.Labels, Notes: r.Seen.Notes, Questions: r.open(),
		Answered: r.Answers[max(0, len(r.Answers)-maxAnswered):]}
	if r.Seen.Run != nil {
		l.RunInfo = *r.Seen.Run
	} else {
		l.RunInfo = RunInfo{ID: r.Task.Run, Name: r.Task.Name, StartedAt: r.Task.HandedIn}
	}
	l.SupervisorPID = 0 // on another machine
	if r.ended == nil { // it may have been begun again
		l.EndedAt, l.ExitCode = nil, nil
	}
	switch {
	case r.ended != nil:
		l.ExitCode, l.OpenQuestions = r.ended, nil
		if r.reason != "" {
			l.Status, l.Reason, l.Since = "failed", r.reason, r.since
			if *r.ended == exit.Stopped {
				l.Status = "stopped"
			}
		}
		if l.EndedAt == nil {
			at := r.since
			l.EndedAt = &at
		}
	case r.held:
		l.Worker, l.Queue = r.Seen.Worker, r.Seen.Queue
	case !r.Parked:
		l.Status, l.Reason, l.Since = StatusQueued, r.reason, r.since
	default:
		l.Left = r.Seen.Left
	}
	return l.bounded()
}

// bounded cuts what lists need not have whole.
func (l Listed) bounded() Listed {
	l.Reason = text.Line(l.Reason, maxWords)
	l.Agents = boundedAgents(l.Agents)
	l.Notes = slices.Clone(l.Notes[max(0, len(l.Notes)-maxNotes):])
	for i := range l.Notes {
		l.Notes[i] = text.Line(l.Notes[i], 500)
	}
	l.Questions, l.OpenQuestions = fitting(l.Questions, maxAsked), nil
	for _, q := range l.Questions {
		l.OpenQuestions = append(l.OpenQuestions, q.ID)
	}
	l.Answered = slices.Clone(l.Answered)
	for i := range l.Answered {
		l.Answered[i].Text = text.Line(l.Answered[i].Text, 200)
	}
	return l
}

func boundedAgents(all []AgentInfo) []AgentInfo {
	all = slices.Clone(all[:min(len(all), maxAgents)])
	for i := range all {
		all[i].Task = text.Line(all[i].Task, 200)
		all[i].Reason = text.Line(all[i].Reason, 500)
	}
	return all
}

// Bounded returns what a worker tells of a run: as much as lists can show.
func (s Seen) Bounded() Seen {
	if s.Run != nil {
		run := *s.Run
		run.Agents = boundedAgents(run.Agents)
		s.Run = &run
	}
	s.Questions = fitting(s.Questions, maxAsked)
	return s
}

// fitting returns the questions that fit into so many bytes as JSON: all of them as they are if they do, else first
// without what they are asked with, then with short texts, and then the first ones only. What is cut says so.
func fitting(all []QuestionInfo, most int) []QuestionInfo {
	all = slices.Clone(all[:min(len(all), maxQuestions)])
	for _, cut := range []func(*QuestionInfo){
		func(*QuestionInfo) {},
		func(q *QuestionInfo) { q.Context, q.Input = text.Line(q.Context, 500), nil },
		func(q *QuestionInfo) {
			q.Question, q.Task, q.Header = text.Line(q.Question, 1000), text.Line(q.Task, 1000), text.Line(q.Header, 100)
			q.Options = slices.Clone(q.Options)
			for i, o := range q.Options {
				q.Options[i].Description, q.Options[i].Preview = text.Line(o.Description, 100), ""
			}
			if len(q.AllowRule) > maxWords { // half a rule would permit something else
				q.AllowRule = ""
			}
		},
	} {
		for i := range all {
			cut(&all[i])
		}
		if fits(all, most) {
			return all
		}
	}
	for len(all) > 1 && !fits(all, most) {
		all = all[:len(all)/2]
	}
	return all
}

func fits(all []QuestionInfo, most int) bool {
	doc, err := json.Marshal(all)
	return err != nil || len(doc) <= most // what cannot be marshaled is said where it is told
}

// changeShown marks in histories that the run is put into the lists after each change, without comparing how it looks
// there: what looks the same to one release may differ to another, which shows more of a run.
const changeShown = "shown after each change"

// changeOnce marks in histories that the run is put into the lists once for each task of the workflow, with when that
// was. It stands for changeShown and changeBound, too: each would be two events.
const changeOnce = "shown once for each task"

// showsChanges puts the run into the lists whenever it has changed. What changes with it in the same task is shown with
// it: whoever changes the run has run before this is called.
func (r *run) showsChanges(ctx workflow.Context) {
	for workflow.Await(ctx, func() bool { return r.changed }) == nil {
		r.showsNow(ctx)
	}
}

// shows puts the run into the lists, where it has changed there; with changeOnce it will be.
func (r *run) shows(ctx workflow.Context) {
	if !r.once {
		r.showsNow(ctx)
	}
}

// showsNow is shows at once.
func (r *run) showsNow(ctx workflow.Context) {
	if r.once && !r.changed {
		return
	}
	l := r.listed()
	ids, status := l.OpenQuestions, string(l.Status)
	if r.showsEach {
		ids = r.attributeIDs()
	}
	if r.once || !slices.Equal(ids, r.lastOpen) || status != r.lastPhase {
		r.lastOpen, r.lastPhase = ids, status
		open := attributeOpen.ValueUnset()
		if len(ids) > 0 {
			open = attributeOpen.ValueSet(ids)
		}
		all := []temporal.SearchAttributeUpdate{open, attributeStatus.ValueSet(status)}
		if r.once {
			all = append(all, attributeChanged.ValueSet(workflow.Now(ctx)))
		}
		if r.once && r.AskedAt {
			all = append(all, r.askedAt())
		}
		if err := workflow.UpsertTypedSearchAttributes(ctx, all...); err != nil {
			r.log.Error("search attributes", "error", err)
		}
	}
	if !r.hasChanged(l) {
		return
	}
	if err := workflow.UpsertMemo(ctx, map[string]any{MemoRun: l}); err != nil {
		r.log.Error("memo", "error", err)
	}
}

// askedAt says when the first question that is open was asked.
func (r *run) askedAt() temporal.SearchAttributeUpdate {
	var first time.Time
	for _, q := range r.open() {
		if first.IsZero() || q.AskedAt.Before(first) {
			first = q.AskedAt
		}
	}
	if first.IsZero() {
		return attributeAskedAt.ValueUnset()
	}
	return attributeAskedAt.ValueSet(first)
}

// hasChanged reports whether the memo is to be set, once after each change.
func (r *run) hasChanged(l Listed) bool {
	if r.showsEach {
		changed := r.changed
		r.changed = false
		return changed
	}
	doc, err := frozen(l)
	if err != nil || string(doc) == r.lastMemo {
		return false
	}
	r.lastMemo = string(doc)
	return true
}

// frozen returns what is compared in histories from before changeShown: all that lists showed then, and nothing that
// they show since.
func frozen(l Listed) ([]byte, error) {
	l.Summary, l.Questions = "", slices.Clone(l.Questions)
	for i := range l.Questions {
		q := &l.Questions[i]
		q.Assumption, q.Affects, q.Verdict = "", nil, ""
	}
	return json.Marshal(l)
}

// maxIDs is how many bytes the ids of open questions have in the search attribute, which takes 2 KiB as JSON.
const maxIDs = 1500

// attributeIDs returns the ids of open questions as they are looked up: as many as there is room for, by the ids alone.
func (r *run) attributeIDs() (ids []string) {
	size := 0
	for _, q := range r.open() {
		if size += len(q.ID) + len(`"",`); size > maxIDs || len(ids) == maxQuestions {
			break
		}
		ids = append(ids, q.ID)
	}
	return ids
}
