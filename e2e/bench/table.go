package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// A figure is one line of the table.
type figure struct {
	name     string
	unit     string
	quantile float64   // which of the samples is the value; 0 stands for the median
	values   []samples // of each program, in the order of bench.programs
	floor    samples
	target   float64 // 0: none
	bound    bound
}

// A bound says how a target is meant.
type bound int

const (
	atMost     bound = iota // the value is to be at most the target
	overFloor               // the value less the floor is to be at most the target
	timesFloor              // the value is to be at most so many times the floor
)

// value returns the figure's value in samples, NaN if there are none.
func (f figure) value(s samples) float64 {
	if f.quantile == 0 {
		return s.at(0.5)
	}
	return s.at(f.quantile)
}

// missed returns how many times its target the figure is.
func (f figure) missed(value, floor float64) float64 {
	switch f.bound {
	case overFloor:
		return (value - floor) / f.target
	case timesFloor:
		return value / floor / f.target
	}
	return value / f.target
}

// A table prints figures as they are known, and remembers them.
type table struct {
	out     io.Writer
	paired  bool // there is a base
	figures []figure
}

func (t *table) head() {
	t.row("name", "unit", "floor", "now", "now/floor", "target", "base", "now/base", "spread")
}

func (t *table) row(name, unit, floor, now, ratio, target, base, change, spread string) {
	line := fmt.Sprintf("%-34s %-5s %8s %8s %9s %7s", name, unit, floor, now, ratio, target)
	if t.paired {
		line += fmt.Sprintf(" %8s %8s  %s", base, change, spread)
	}
	_, _ = fmt.Fprintln(t.out, line)
}

func (t *table) add(f figure) {
	t.figures = append(t.figures, f)
	now, floor := f.value(f.values[0]), f.value(f.floor)
	ratio, target := "-", "-"
	if floor > 0 {
		ratio = fmt.Sprintf("%.2f", now/floor)
	}
	if f.target > 0 {
		target = map[bound]string{atMost: "≤ ", overFloor: "≤ +", timesFloor: "≤ ×"}[f.bound] + short(f.target)
	}
	base, change := "-", comparison{}
	if len(f.values) > 1 {
		base, change = short(f.value(f.values[1])), f.compare()
	}
	t.row(f.name, f.unit, short(floor), short(now), ratio, target, base, change.ratio, change.spread)
	if missed := f.missed(now, floor); f.target > 0 && missed > 1 {
		_, _ = fmt.Fprintf(t.out, "    MISSED by a factor of %.2f\n", missed)
	}
}

// A comparison is what is printed of the way from the base to now.
type comparison struct{ ratio, spread string }

// confidence is that of the spread. A run has about 30 figures: at 95 % it would call one or two of them slower each
// time, with nothing changed.
const confidence = 0.99

// compare returns the median of now/base over the pairs of samples, with its spread. A quantile in the tail has no
// pairs: it returns the ratio alone.
func (f figure) compare() comparison {
	now, base := f.values[0], f.values[1]
	if f.quantile != 0 || len(now) != len(base) || len(now) == 1 {
		return comparison{ratio: fmt.Sprintf("%.2f", f.value(now)/f.value(base))}
	}
	var ratios samples
	for i := range now {
		ratios = append(ratios, now[i]/base[i])
	}
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(ratios, &benchmath.DefaultThresholds), confidence)
	c := comparison{ratio: fmt.Sprintf("%.2f", s.Center)}
	switch {
	case math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0):
		c.spread = fmt.Sprintf("(%.2f to %.2f, too few for a spread)", slices.Min(ratios), slices.Max(ratios))
		return c
	case s.Lo > 1:
		c.spread = " SLOWER"
	case s.Hi < 1:
		c.spread = " faster"
	}
	c.spread = fmt.Sprintf("%.2f to %.2f", s.Lo, s.Hi) + c.spread
	return c
}

// short writes a number in three digits or so, and "-" for none.
func short(v float64) string {
	switch size := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case size >= 100:
		return fmt.Sprintf("%.0f", v)
	case size >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
