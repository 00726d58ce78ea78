package main

import (
	"math"
	"slices"
	"time"
)

// samples are measurements of one thing in the order in which they were taken, in the figure's unit.
type samples []float64

// add adds a time, in ms.
func (s *samples) add(d time.Duration) { *s = append(*s, float64(d)/float64(time.Millisecond)) }

// at returns the value below which the p-th part of the samples lies: 0.5 is the median.
func (s samples) at(p float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}
