package terminal

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// A key counts only once the question has stood for graceTime and no key has come for graceQuiet: what a hand was about
// to press when the question appeared is no answer to it. There is no way to turn that off.
const (
	graceTime  = 700 * time.Millisecond
	graceQuiet = 300 * time.Millisecond
)

// A grace is the time after a question was drawn in which input is dropped. The zero value is over.
//
// A program can be held up, so the time at which input is read says little about when it was typed. The grace ends only
// when its time is over and no input waits: what waits was typed within it.
type grace struct{ until time.Time }

// begin begins it: a question was drawn, and what had been typed until then was dropped.
func (g *grace) begin(now time.Time) { g.until = now.Add(graceTime) }

// on reports whether input is to be dropped.
func (g *grace) on() bool { return !g.until.IsZero() }

// drop takes note of input that was dropped.
func (g *grace) drop(now time.Time) {
	if quiet := now.Add(graceQuiet); quiet.After(g.until) {
		g.until = quiet
	}
}

// left is how long it goes on at least.
func (g *grace) left(now time.Time) time.Duration { return max(g.until.Sub(now), 0) }

// A Grace is a grace of something else than a question: what takes keys where a person may still be typing for what
// stood there before. The zero value is over.
type Grace struct{ of grace }

// Begin begins it.
func (g *Grace) Begin(now time.Time) { g.of.begin(now) }

// Takes reports whether it drops what has arrived: a key or a paste. A Tick may end it.
func (g *Grace) Takes(msg tea.Msg, now time.Time) bool {
	switch msg.(type) {
	case Tick:
		g.of.end(now)
	case tea.KeyPressMsg, tea.PasteMsg:
		if g.of.on() {
			g.of.drop(now)
			return true
		}
	}
	return false
}

// On reports whether keys are dropped.
func (g *Grace) On() bool { return g.of.on() }

// Left is how long keys do not count yet; 0 if they do.
func (g *Grace) Left(now time.Time) time.Duration {
	if !g.of.on() {
		return 0
	}
	return max(g.of.left(now), time.Millisecond)
}

// end ends it if its time is over, and reports whether it has ended. It must be called only when no input waits.
func (g *grace) end(now time.Time) bool {
	if !g.on() || now.Before(g.until) {
		return false
	}
	g.until = time.Time{}
	return true
}
