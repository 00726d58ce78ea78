package view

import (
	"cmp"
	"context"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// Meanwhile is what happened in several runs while nobody looked: `report --since` shows it.
type Meanwhile struct {
	Record
	Waits []Waiting // for a person, the longest first
	Spent float64   // by all runs since then, in US dollars
}

// A Waiting is a question that waits for a person, with its run, and how many agents go on only after it.
type Waiting struct {
	Decision
	Of    RunView
	Holds int
}

// Refused reports whether a decision says no to what an agent wanted to do.
func (d Decision) Refused() bool {
	if d.Answer == nil || !questions.KindOf(d.Kind).Lets || d.State == checkpoints.QuestionWithdrawn {
		return false
	}
	q := supervisor.Question{Kind: d.Kind, State: d.State}
	q.Answer, q.Skipped, q.Declined = *d.Answer, d.Skipped, d.Declined
	return !questions.Grants(&q)
}

// MeanwhileSince returns what happened since a moment in the runs that went on then, oldest first, of those that wanted
// chooses, and what waits for a person in them.
func (r Reader) MeanwhileSince(ctx context.Context, since time.Time, cwd string,
	wanted func(RunView) bool) (Meanwhile, error) {
	record, err := r.RecordSince(ctx, since, cwd, wanted)
	m := Meanwhile{Record: record}
	if err != nil {
		return m, err
	}
	for i := range m.Runs {
		run := &m.Runs[i]
		s, err := State(ctx, r.Store, run.Run.ID)
		if err != nil {
			return m, err
		}
		run.From, run.To = run.Run.StartedAt, cmp.Or(run.Run.EndedAt, &m.To).UTC()
		EachBelow(run.Run.Agents, func(_ int, a AgentView) {
			run.Agents = append(run.Agents, ReportedAgent{AgentView: a, Report: s.Agents.Get(a.ID).Report})
		})
		for _, d := range run.Asked {
			if d.State == checkpoints.QuestionOpen {
				m.Waits = append(m.Waits, Waiting{d, run.Run, len(s.HeldBack(s.Questions.Get(d.ID)))})
			}
		}
		before, err := r.spentBefore(ctx, run.Run, since)
		if err != nil {
			return m, err
		}
		m.Spent += run.Run.CostUSD - before
	}
	beside, _, _ := r.OfNoRun(ctx, nil) // that files cannot be read, others say
	for _, q := range beside {
		if cwd == "" || text.Under(q.Cwd, cwd) {
			m.Waits = append(m.Waits, Waiting{Decision: Decision{QuestionView: q, After: m.To.Sub(q.AskedAt)}})
		}
	}
	slices.SortStableFunc(m.Waits, func(a, b Waiting) int { return a.AskedAt.Compare(b.AskedAt) })
	return m, nil
}

// spentBefore is what a run had cost at a moment. One whose history this release cannot read has cost nothing then.
func (r Reader) spentBefore(ctx context.Context, run RunView, moment time.Time) (usd float64, err error) {
	if !run.StartedAt.Before(moment) {
		return 0, nil
	}
	events, err := r.Store.Events(ctx, run.ID, 0)
	if err != nil {
		return 0, err
	}
	then := slices.IndexFunc(events, func(e checkpoints.Event) bool { return !e.At.Before(moment) })
	if then >= 0 {
		events = events[:then]
	}
	var s supervisor.State
	if fold(events, func(_ time.Time, _, after supervisor.State) { s = after }) != nil {
		return 0, nil
	}
	for a := range s.Agents.Values() {
		usd += a.CostUSD
	}
	return usd, nil
}
