package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/sessions"
	"claude-supervise/supervisor/text"
)

// A RunReport is what happened in a run, for people who were not there: `report` shows it.
type RunReport struct {
	Run      RunView
	From, To time.Time // what the timeline shows; To is now while the run goes on
	Agents   []ReportedAgent
	Asked    []Decision // by a person or for one: questions and what was answered, oldest first
	Rules    []PermissionView
	Problem  string // why there is no timeline; "": there is one
	Changes  string // what it has changed, as a diff for people; the caller fills it, for view runs no git
}

// Took is how long the run has taken, waiting included.
func (r RunReport) Took() time.Duration { return r.To.Sub(r.From) }

// A ReportedAgent is one agent of a report. Parents stand before their children.
type ReportedAgent struct {
	AgentView
	Spans    []Span
	Worked   time.Duration // how long its processes have lived
	Report   *checkpoints.Report
	Parts    []checkpoints.PartReport // what its subagents have reported
	Worktree *WorktreeView            // nil: it worked in the folder of its parent
	Changed  []string                 // files in that; the caller fills it, for view runs no git
}

// A Decision is a question with what became of it.
type Decision struct {
	QuestionView
	After  time.Duration // from the question to its answer; of an open one until now
	ByRule bool          // nobody was asked: a rule had decided it
	Ran    string        // of a command that a person let run: how that ended
	RunID  string        // of the run, where decisions of several stand together
}

// A Span is a time in which an agent stood in one way.
type Span struct {
	From, To time.Time
	Kind     SpanKind
	Reason   string
}

// Took is how long the span is.
func (s Span) Took() time.Duration { return s.To.Sub(s.From) }

// SpanKind is how an agent stood.
type SpanKind string

// The kinds of span.
const (
	SpanWorking SpanKind = "working"
	SpanAsking  SpanKind = "waiting for a person"
	SpanParked  SpanKind = "parked"
	SpanLimited SpanKind = "limited"
	SpanBlocked SpanKind = "blocked"
	SpanQueued  SpanKind = "queued"
	SpanNobody  SpanKind = "interrupted" // or its supervisor had died
)

// SpanKinds are all of them, as a legend lists them.
var SpanKinds = []SpanKind{SpanWorking, SpanAsking, SpanParked, SpanLimited, SpanBlocked, SpanQueued, SpanNobody}

// spanOf returns the kind of span of a status; "" once the agent has ended.
func spanOf(s supervisor.Status) SpanKind {
	switch {
	case s.Ended():
		return ""
	case s == checkpoints.Waiting, s == checkpoints.OverBudget:
		return SpanAsking
	case s == checkpoints.Parked:
		return SpanParked
	case s == checkpoints.Limited:
		return SpanLimited
	case s == checkpoints.Blocked:
		return SpanBlocked
	case s == checkpoints.Queued:
		return SpanQueued
	case s == checkpoints.Interrupted:
		return SpanNobody
	}
	return SpanWorking
}

// Report returns what happened in the run that an id, its start or a name names; of an agent, in its run.
func (r Reader) Report(ctx context.Context, id string) (RunReport, error) {
	run, _, err := RunNamed(ctx, r.Store, id)
	if err != nil {
		return RunReport{}, err
	}
	d, err := r.Show(ctx, run)
	if err != nil {
		return RunReport{}, err
	}
	rep := RunReport{Run: d.Run, From: d.Run.StartedAt, To: checkpoints.Now(), Rules: d.Rules}
	if d.Run.EndedAt != nil {
		rep.To = *d.Run.EndedAt
	}
	if rep.Asked, err = r.decisions(ctx, run); err != nil {
		return RunReport{}, err
	}
	events, err := r.Store.Events(ctx, run, 0)
	if err != nil {
		return RunReport{}, err
	}
	spans, err := timeline(events, rep.To)
	if err != nil {
		rep.Problem = err.Error()
	}
	EachBelow(d.Run.Agents, func(_ int, a AgentView) {
		one := ReportedAgent{AgentView: a, Spans: spans[a.ID], Report: d.Reports[a.ID], Parts: d.Agents[a.ID].SubagentReports,
			Worked: time.Duration(d.Agents[a.ID].Worked * float64(time.Second))}
		if w, own := d.Worktrees[a.ID]; own {
			one.Worktree = &w
		}
		rep.Agents = append(rep.Agents, one)
	})
	nameAskers(rep.Asked, d.Run.Agents)
	return rep, nil
}

// nameAskers says of each decision which agent asked, if the run has several now: of one that was asked before there
// was a second agent, the record does not say it.
func nameAskers(asked []Decision, agents []AgentView) {
	if len(agents) < 2 {
		return
	}
	who := map[string]string{}
	for _, a := range agents {
		who[a.ID] = a.Who
	}
	for i := range asked {
		asked[i].Who = cmp.Or(asked[i].Who, who[asked[i].Agent])
	}
}

// decisions returns what was asked in a run.
func (r Reader) decisions(ctx context.Context, run string) ([]Decision, error) {
	qs, err := r.Store.Questions(ctx, checkpoints.QuestionFilter{Run: run})
	if err != nil {
		return nil, err
	}
	var asked []Decision
	for i := range qs {
		q := &qs[i]
		d := Decision{QuestionView: r.View(q), ByRule: q.ByRule, RunID: run}
		switch {
		case q.AnsweredAt != nil:
			d.After = q.AnsweredAt.Sub(q.AskedAt)
		case q.State == checkpoints.QuestionOpen:
			d.After = checkpoints.Now().Sub(q.AskedAt)
		}
		if q.Ran != nil {
			d.Ran = cmp.Or(q.Ran.Exit, "its end is not known")
		}
		asked = append(asked, d)
	}
	return asked, nil
}

// timeline folds the history of a run into how its agents stood, by agent, until a moment. A history that this release
// cannot read gives an error, for people.
func timeline(events []checkpoints.Event, until time.Time) (map[string][]Span, error) {
	spans := map[string][]Span{}
	var last time.Time // of the event before
	if err := fold(events, func(at time.Time, before, after supervisor.State) {
		// Its supervisor had died: the first one takes over from nobody.
		if before.Run != nil && before.Run.Epoch > 0 && after.Run.Epoch > before.Run.Epoch && before.Run.Left == "" {
			for id := range spans {
				if open := lastOpen(spans[id]); open != nil && open.Kind != SpanParked && last.Before(at) {
					kind := open.Kind
					spans[id] = began(spans[id], last, SpanNobody, "its supervisor had died")
					spans[id] = began(spans[id], at, kind, "")
				}
			}
		}
		for id, a := range after.Agents.All() {
			if old := before.Agents.Get(id); old == nil || old.Status != a.Status || old.Reason != a.Reason {
				spans[id] = began(spans[id], at, spanOf(a.Status), a.Reason)
			}
		}
		last = at
	}); err != nil {
		return nil, err
	}
	for id := range spans {
		spans[id] = began(spans[id], until, "", "")
		spans[id] = slices.DeleteFunc(spans[id], func(s Span) bool { return !s.To.After(s.From) })
	}
	return spans, nil
}

// fold returns what each event of a history has made of the state before it. The error, for people, says that this
// release cannot read the history, from there on.
func fold(events []checkpoints.Event, each func(at time.Time, before, after supervisor.State)) (err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = fmt.Errorf("the history of this run cannot be read by this release: %v", bug)
		}
	}()
	var before supervisor.State
	for _, record := range events {
		h, err := supervisor.Recorded(record)
		if err != nil {
			return fmt.Errorf("the history of this run cannot be read by this release: %w", err)
		}
		after, _ := supervisor.Step(before, h) // an unwelcome event changes nothing
		each(record.At, before, after)
		before = after
	}
	return nil
}

// lastOpen returns the span that has not ended; nil if there is none.
func lastOpen(spans []Span) *Span {
	if n := len(spans); n > 0 && spans[n-1].To.IsZero() {
		return &spans[n-1]
	}
	return nil
}

// began ends the span that has not, and begins one of a kind; one of the same goes on. "" begins none.
func began(spans []Span, at time.Time, kind SpanKind, reason string) []Span {
	if open := lastOpen(spans); open != nil {
		if open.Kind == kind {
			return spans
		}
		open.To = at
	}
	if kind == "" {
		return spans
	}
	return append(spans, Span{From: at, Kind: kind, Reason: reason})
}

// Record is what was decided in several runs: `report --since` shows it.
type Record struct {
	From, To time.Time
	Cwd      string // "": wherever they run
	Runs     []RunReport
	Beside   []Decision // of people, in sessions that are no run
}

// A Decided is a decision as `decisions --json` shows it.
type Decided struct {
	QuestionView
	Ran    string            `json:"ran"`    // of a command that a person let run: how that ended
	Status supervisor.Status `json:"status"` // what came of its run
	Reason string            `json:"reason"`
}

// Tells reports whether somebody told an agent something by it, and let nothing happen.
func (d Decided) Tells() bool { return questions.KindOf(d.Kind).Tells && !d.Skipped && !d.Declined }

// Decided returns the decisions that somebody has made, in the order in which they were made: not what a rule says, nor
// what is still open.
func (r Record) Decided() []Decided {
	all := []Decided{}
	for _, run := range r.Runs {
		for _, d := range run.Asked {
			if d.AnsweredAt != nil && !d.ByRule && d.State != checkpoints.QuestionWithdrawn {
				d.RunName, d.Cwd = run.Run.Name, run.Run.Cwd
				all = append(all, Decided{d.QuestionView, d.Ran, run.Run.Status, run.Run.Reason})
			}
		}
	}
	for _, d := range r.Beside {
		all = append(all, Decided{QuestionView: d.QuestionView})
	}
	slices.SortStableFunc(all, func(a, b Decided) int { return a.AnsweredAt.Compare(*b.AnsweredAt) })
	return all
}

// RecordSince returns what was decided in the runs that went on since a moment, oldest first, of those that wanted
// chooses.
func (r Reader) RecordSince(ctx context.Context, since time.Time, cwd string,
	wanted func(RunView) bool) (Record, error) {
	record := Record{From: since, To: checkpoints.Now(), Cwd: cwd}
	runs, err := r.Runs(ctx, true)
	if err != nil {
		return record, err
	}
	for _, v := range runs {
		if v.EndedAt != nil && v.EndedAt.Before(since) || !wanted(v) {
			continue
		}
		one := RunReport{Run: v}
		asked, err := r.decisions(ctx, v.ID)
		if err != nil {
			return record, err
		}
		nameAskers(asked, v.Agents)
		one.Asked = slices.DeleteFunc(asked, func(d Decision) bool {
			return d.AskedAt.Before(since) && (d.AnsweredAt == nil || d.AnsweredAt.Before(since)) && d.State != supervisor.Open
		})
		record.Runs = append(record.Runs, one)
	}
	for _, a := range sessions.AnsweredSince(r.Dirs, since) {
		for _, q := range a.Questions {
			if q.AnsweredAt != nil && (cwd == "" || text.Under(a.Cwd, cwd)) {
				record.Beside = append(record.Beside, Decision{QuestionView: OfSession(a, q), After: q.AnsweredAt.Sub(q.AskedAt)})
			}
		}
	}
	return record, nil
}
