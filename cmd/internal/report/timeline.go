package report

import (
	"slices"
	"time"

	"claude-supervise/supervisor/view"
)

// A timeline places times on a line of width units. Time in which no agent works may be days beside minutes of work: a
// stretch of it is drawn no longer than a third of all work.
type timeline struct {
	marks []mark
}

// A mark is where a moment stands on the line.
type mark struct {
	at    time.Time
	place float64
}

const width = 1000

// A Bar is a span as it is drawn.
type Bar struct {
	view.Span
	X, Width float64
}

func newTimeline(r view.RunReport) timeline {
	moments := []time.Time{r.From, r.To}
	for _, a := range r.Agents {
		for _, s := range a.Spans {
			moments = append(moments, s.From, s.To)
		}
	}
	slices.SortFunc(moments, time.Time.Compare)
	moments = slices.CompactFunc(moments, time.Time.Equal)
	var working time.Duration
	idle := make([]bool, len(moments)) // by the moment that a stretch begins at
	for i := 1; i < len(moments); i++ {
		idle[i-1] = !worked(r.Agents, moments[i-1], moments[i])
		if !idle[i-1] {
			working += moments[i].Sub(moments[i-1])
		}
	}
	t := timeline{marks: []mark{{at: moments[0]}}}
	var sum, stretch time.Duration // stretch: what is drawn of the idle time since the last work
	for i := 1; i < len(moments); i++ {
		d := moments[i].Sub(moments[i-1])
		if !idle[i-1] {
			stretch = 0
		} else if working > 0 {
			d = min(d, max(working/3-stretch, 0))
			stretch += d
		}
		sum += d
		t.marks = append(t.marks, mark{moments[i], float64(sum)})
	}
	for i := range t.marks {
		t.marks[i].place *= width / max(float64(sum), 1)
	}
	return t
}

// worked reports whether an agent was at work between two moments.
func worked(agents []view.ReportedAgent, from, to time.Time) bool {
	return slices.ContainsFunc(agents, func(a view.ReportedAgent) bool {
		return slices.ContainsFunc(a.Spans, func(s view.Span) bool {
			return s.Kind == view.SpanWorking && s.From.Before(to) && s.To.After(from)
		})
	})
}

func (t timeline) place(at time.Time) float64 {
	i, _ := slices.BinarySearchFunc(t.marks, at, func(m mark, at time.Time) int { return m.at.Compare(at) })
	return t.marks[min(i, len(t.marks)-1)].place
}

// Bars returns the bars of an agent. One is never thinner than can be seen.
func (t timeline) Bars(a view.ReportedAgent) []Bar {
	var bars []Bar
	for _, s := range a.Spans {
		from, to := t.place(s.From), t.place(s.To)
		bars = append(bars, Bar{Span: s, X: min(from, width-2), Width: max(to-from, 2)})
	}
	return bars
}

// kinds returns the kinds of spans that are drawn, in the order of the legend.
func kinds(r view.RunReport) []view.SpanKind {
	return slices.DeleteFunc(slices.Clone(view.SpanKinds), func(kind view.SpanKind) bool {
		return !slices.ContainsFunc(r.Agents, func(a view.ReportedAgent) bool {
			return slices.ContainsFunc(a.Spans, func(s view.Span) bool { return s.Kind == kind })
		})
	})
}

// Sum is how long an agent stood in one way.
func sum(a view.ReportedAgent, kind view.SpanKind) time.Duration {
	var all time.Duration
	for _, s := range a.Spans {
		if s.Kind == kind {
			all += s.To.Sub(s.From)
		}
	}
	return all
}

// class names the style of a kind of span.
func class(kind view.SpanKind) string {
	switch kind {
	case view.SpanAsking:
		return "asking"
	case view.SpanNobody:
		return "nobody"
	}
	return string(kind)
}
