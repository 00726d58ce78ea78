package engine

import (
	"context"
	"time"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
)

// What tests on the real machine see of the engine: they are outside of it, for package host imports it.

type Result = result

var Executing = effects

// A Grace is how much time effects have to come to their end by themselves.
type Grace struct {
	Before, After, Ends time.Duration
	Told                time.Duration
	Of                  effect.Kind
	Most                time.Duration
}

// A Bound is how long an effect may take, and how it ends.
type Bound struct {
	Within              time.Duration
	Ends, Writes, Kills bool
}

// BoundOf returns the bound of a kind of effect.
func BoundOf(kind effect.Kind) Bound {
	k := effects[kind]
	return Bound{Within: k.within, Ends: k.ends, Writes: k.writes, Kills: k.kills}
}

// ResultOf is the result of an effect that gives an event.
func ResultOf(b supervisor.Event) Result { return result{event: b} }

// Instead sets what is done in the place of effects.
func (s *Supervisor) Instead(do func(effect.Effect, func(context.Context) Result) func(context.Context) Result) {
	s.hooks.instead = do
}

// SetGrace sets how much time effects have to come to their end by themselves.
func (s *Supervisor) SetGrace(h Grace) {
	s.grace = grace{before: h.Before, after: h.After, ends: h.Ends, told: h.Told, of: h.Of, most: h.Most}
}

const (
	Root  = "a-rootrootroot"
	RunID = "r-storyrun"
)
