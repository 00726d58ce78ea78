package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// A figure is one line of the table.
type figure struct {
	name         string
	value, floor float64
	unit         string
	target       float64 // 0: none
	bound        bound
}

// A bound says how a target is meant.
type bound int

const (
	atMost    bound = iota // the value is to be at most the target
	overFloor              // the value less the floor is to be at most the target
)

// A table prints figures as they are known.
type table struct{ out io.Writer }

func (t table) head() {
	t.row("name", "value", "unit", "floor", "ratio", "target")
}

func (t table) row(cells ...any) {
	_, _ = fmt.Fprintf(t.out, "%-32s %9s %-5s %9s %7s %9s\n", cells...)
}

func (t table) add(f figure) {
	ratio, target := "-", "-"
	if f.floor > 0 {
		ratio = fmt.Sprintf("%.2f", f.value/f.floor)
	}
	reached := f.value
	if f.target > 0 {
		target = map[bound]string{atMost: "≤ ", overFloor: "≤ +"}[f.bound] + short(f.target)
	}
	if f.bound == overFloor {
		reached = f.value - f.floor
	}
	t.row(f.name, short(f.value), f.unit, short(f.floor), ratio, target)
	if f.target > 0 && reached > f.target {
		_, _ = fmt.Fprintf(t.out, "    MISSED by a factor of %.2f\n", reached/f.target)
	}
}

// short writes a number in three digits or so.
func short(v float64) string {
	switch size := math.Abs(v); {
	case size >= 100:
		return fmt.Sprintf("%.0f", v)
	case size >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// samples are times of one thing.
type samples []time.Duration

// at gives the p-th part of the samples in ms: 0.5 is the median.
func (s samples) at(p float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	return float64(sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]) / float64(time.Millisecond)
}

func (s samples) median() float64 { return s.at(0.5) }
