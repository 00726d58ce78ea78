package desk

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor/view"
)

const (
	// listsAgain is when all runs are listed again at the earliest: no worker says that somebody has ended one with the
	// server's own tools, or handed one in. listsAgainOld is that where a run does not say when it changes.
	listsAgain    = 5 * time.Second
	listsAgainOld = time.Second
	// restsFor is for how many times as long as a list of all takes none is made: it has to cost the server little.
	restsFor = 20
	// restsSoon is that where a run does not say when it changes, and more or fewer ask than before.
	restsSoon = 2
	// behind is for how long a list may show what was before an answer that was given here.
	behind = time.Minute
)

// A sight is what one who watches sees of the runs that go on.
type sight struct {
	runs   map[string]flow.Listed
	ended  map[string]flow.Listed // that went on before
	since  fleet.Changes          // that all were listed
	old    bool                   // some do not say when they change: those of an earlier build, or that no worker read
	asking int                    // so many asked before all were listed; -1: that could not be counted
	listed time.Time              // when all were; zero: they are to be
	took   time.Duration          // to list all
	fresh  bool                   // nobody need be asked: it was just found what has changed
}

// Watch gives the overview at once, again for each value of look, and whenever it has changed. Where the fleet cannot
// be listed any more it gives the last overview again, with why among its problems; where it never could, that is the
// error. It blocks until ctx ends (nil), or each gives an error.
func (d *Desk) Watch(ctx context.Context, look <-chan struct{}, each func(view.Overview) error) error {
	var before view.Overview
	var s sight
	for more := true; more; {
		began := time.Now()
		o, err := d.look(ctx, &s, before)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && before.At.IsZero():
			return err
		case err != nil:
			o = before
			o.Gone, o.Problems = err, []string{err.Error() + "; what is shown was so at " + view.Clock(before.At)}
			o.Ended, o.Closed = nil, nil
		default:
			before = o
		}
		if err := each(o); err != nil {
			return err
		}
		more = s.awaits(ctx, d.fleet, look, time.Since(began))
	}
	return nil
}

// sees reads what is to be read: all runs, or those that have changed.
func (s *sight) sees(ctx context.Context, f fleet.Fleet) error {
	fresh := s.fresh
	s.fresh = false
	switch {
	case fresh:
		return nil
	case !s.listed.IsZero() && !s.old:
		_, err := s.asks(ctx, f)
		return err
	}
	began := time.Now()
	defer func() { s.listed, s.took = time.Now(), time.Since(began) }()
	var uncounted error
	if s.asking, uncounted = f.Asking(ctx); uncounted != nil {
		s.asking = -1
	}
	all, err := f.Runs(ctx, false, false)
	if err != nil {
		return err
	}
	s.runs, s.ended, s.old = map[string]flow.Listed{}, map[string]flow.Listed{}, false
	latest := began.Add(-time.Minute) // the server may have another time
	for _, l := range all {
		s.runs[l.ID] = l
		s.old = s.old || l.Changed.IsZero()
		if l.Changed.After(latest) {
			latest = l.Changed
		}
	}
	s.since = fleet.ChangesAfter(latest)
	return nil
}

// asks asks which runs have changed, and reports whether any has.
func (s *sight) asks(ctx context.Context, f fleet.Fleet) (news bool, err error) {
	changed, err := s.since.Ask(ctx, f)
	for _, l := range changed {
		known, goesOn := s.runs[l.ID]
		switch {
		case l.EndedAt == nil && !(goesOn && known.Changed.Equal(l.Changed)):
			s.runs[l.ID], news = l, true
		case l.EndedAt != nil && goesOn:
			s.ended[l.ID], news = l, true
			delete(s.runs, l.ID)
		}
	}
	return news, err
}

// awaits waits until something has changed, all are to be listed again, or look has a value. false: ctx has ended. What
// was before that has taken so long.
func (s *sight) awaits(ctx context.Context, f fleet.Fleet, look <-chan struct{}, took time.Duration) bool {
	again := listsAgain
	if s.old {
		again = listsAgainOld
	}
	due := time.NewTimer(time.Until(s.listed.Add(max(again, restsFor*s.took))))
	defer due.Stop()
	if s.old {
		select {
		case <-time.After(took): // who asks again and again lists for half of the time at most
		case <-ctx.Done():
		}
	}
	tick := time.NewTicker(fleet.AsksEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-look:
			return true
		case <-due.C:
			s.listed = time.Time{}
			return true
		case <-tick.C:
		}
		var err error
		s.fresh, err = s.asks(ctx, f)
		if s.fresh {
			return true
		}
		if errors.Is(err, fleet.ErrAway) || s.old && time.Since(s.listed) >= restsSoon*s.took && s.others(ctx, f) {
			s.listed = time.Time{}
			return true
		}
	}
}

// others reports whether more or fewer runs ask than before all were listed.
func (s *sight) others(ctx context.Context, f fleet.Fleet) bool {
	now, err := f.Asking(ctx)
	return err == nil && s.asking >= 0 && now != s.asking
}

// look sees what goes on, and finds what has become of what went on before.
func (d *Desk) look(ctx context.Context, s *sight, before view.Overview) (view.Overview, error) {
	o := view.Overview{At: d.clock()}
	if err := s.sees(ctx, d.fleet); err != nil {
		return o, err
	}
	listed := slices.SortedFunc(maps.Values(s.runs), func(a, b flow.Listed) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	goesOn := maps.Clone(s.runs)
	for _, v := range before.Runs {
		if _, is := goesOn[v.ID]; is {
			continue
		}
		l, is := s.ended[v.ID]
		var err error
		if !is {
			l, err = d.fleet.Run(ctx, v.ID)
		}
		var none *fleet.NoRunError
		switch {
		case errors.As(err, &none): // the server has forgotten it
			o.Ended = append(o.Ended, v)
			continue
		case err != nil:
			return o, err
		}
		if l.EndedAt == nil { // its workflow is just being replaced by the next
			listed = append(listed, l)
			s.runs[l.ID] = l
		} else {
			o.Ended = append(o.Ended, shown(l))
		}
		goesOn[l.ID] = l
	}
	clear(s.ended)
	d.mu.Lock()
	defer d.mu.Unlock()
	open := map[string]bool{}
	for _, l := range listed {
		o.Runs = append(o.Runs, shown(l))
		for _, a := range l.Agents {
			d.agents[a.ID] = l.ID
		}
		for _, q := range asked(l) {
			if c, known := d.closed[q.ID]; known && c.here && o.At.Before(c.at.Add(behind)) {
				continue
			}
			delete(d.closed, q.ID) // the run has not taken the answer, and asks on
			open[q.ID] = true
			o.Questions = append(o.Questions, q)
		}
	}
	slices.SortStableFunc(o.Questions, byUrgency)
	for _, q := range before.Questions {
		if !open[q.ID] {
			o.Closed = append(o.Closed, d.closing(q, goesOn[q.Run], o.At))
		}
	}
	d.now = o
	return o, nil
}

// closing returns a question that is open no more, as it is now. The lock is held.
func (d *Desk) closing(q view.QuestionView, of flow.Listed, at time.Time) view.QuestionView {
	if c, known := d.closed[q.ID]; known {
		return c.QuestionView
	}
	q.State = "withdrawn"
	for _, a := range of.Answered {
		if a.Question == q.ID {
			q = answeredAs(q, a)
		}
	}
	d.closes(closing{QuestionView: q, at: at})
	return q
}

// byUrgency orders the questions as a person should take them.
func byUrgency(a, b view.QuestionView) int {
	switch {
	case a.Urgent && !b.Urgent:
		return -1
	case b.Urgent && !a.Urgent:
		return 1
	}
	return a.AskedAt.Compare(b.AskedAt)
}
