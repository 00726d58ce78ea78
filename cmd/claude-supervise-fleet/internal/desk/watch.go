package desk

import (
	"context"
	"errors"
	"slices"
	"time"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor/view"
)

const (
	// restsAtLeast is how long the runs are left alone between two lists, where nobody asks for one.
	restsAtLeast = time.Second
	// restsFor is for how many times as long as a list takes: it has to cost the server little.
	restsFor = 20
	// countsEvery is how often it is counted meanwhile how many runs ask: that costs the server little, however many there
	// are. Where it has changed they are listed after restsSoon times as long as a list takes.
	countsEvery = time.Second
	restsSoon   = 2
	// behind is for how long a list may show what was before an answer that was given here.
	behind = time.Minute
)

// Watch gives the overview at once, again for each value of look, and once in a while. Where the fleet cannot be
// listed any more it gives the last overview again, with why among its problems; where it never could, that is the
// error. It blocks until ctx ends (nil), or each gives an error.
func (d *Desk) Watch(ctx context.Context, look <-chan struct{}, each func(view.Overview) error) error {
	var before view.Overview
	for {
		began := time.Now()
		asking, uncounted := d.fleet.Asking(ctx)
		o, err := d.look(ctx, before)
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
		took := time.Since(began)
		if uncounted != nil {
			asking = -1
		}
		d.rests(ctx, took, asking, look)
	}
}

// rests returns when the runs are to be listed again, after a list that took so long; asking: so many asked before it,
// -1: that could not be counted.
func (d *Desk) rests(ctx context.Context, took time.Duration, asking int, look <-chan struct{}) {
	rest, soon := time.NewTimer(max(restsAtLeast, restsFor*took)), time.NewTimer(restsSoon*took)
	defer rest.Stop()
	defer soon.Stop()
	select {
	case <-time.After(took): // who asks again and again lists for half of the time at most
	case <-ctx.Done():
	}
	count := time.NewTicker(countsEvery)
	defer count.Stop()
	for {
		select {
		case <-count.C:
			if now, err := d.fleet.Asking(ctx); err != nil || asking < 0 || now == asking {
				continue
			}
			select {
			case <-soon.C:
			case <-rest.C:
			case <-look:
			case <-ctx.Done():
			}
			return
		case <-look:
			return
		case <-rest.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// look lists what goes on, and finds what has become of what went on before.
func (d *Desk) look(ctx context.Context, before view.Overview) (view.Overview, error) {
	o := view.Overview{At: d.clock()}
	listed, err := d.fleet.Runs(ctx, false, false)
	if err != nil {
		return o, err
	}
	slices.Reverse(listed) // the oldest first
	goesOn := map[string]flow.Listed{}
	for _, l := range listed {
		goesOn[l.ID] = l
	}
	for _, v := range before.Runs {
		if _, is := goesOn[v.ID]; is {
			continue
		}
		l, err := d.fleet.Run(ctx, v.ID)
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
		} else {
			o.Ended = append(o.Ended, shown(l))
		}
		goesOn[l.ID] = l
	}
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
