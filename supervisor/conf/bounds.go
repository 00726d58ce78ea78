package conf

import (
	"time"

	"claude-supervise/checkpoints"
)

// Budget is what an agent and all below it may use; also what they have used.
type Budget = checkpoints.Budget

// Lower returns the lower bound of each of two budgets.
func Lower(a, b Budget) Budget {
	return Budget{
		CostUSD: LowerBound(a.CostUSD, b.CostUSD), Tokens: LowerBound(a.Tokens, b.Tokens),
		Time: LowerBound(a.Time, b.Time), Turns: LowerBound(a.Turns, b.Turns),
	}
}

// LowerBound returns the lower of two bounds, of which 0 is none.
func LowerBound[T int | int64 | float64 | time.Duration](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Bounding keeps a budget that bounds something; nil for one that does not.
func Bounding(b Budget) *Budget {
	if b == (Budget{}) {
		return nil
	}
	return &b
}

// Rebound puts the bounds that are given in the place of those of a budget.
func Rebound(b, given Budget) Budget {
	if given.CostUSD > 0 {
		b.CostUSD = given.CostUSD
	}
	if given.Tokens > 0 {
		b.Tokens = given.Tokens
	}
	if given.Time > 0 {
		b.Time = given.Time
	}
	if given.Turns > 0 {
		b.Turns = given.Turns
	}
	return b
}

// BoundsOf returns the budget of an agent; the zero Budget bounds nothing.
func BoundsOf(a *checkpoints.Agent) Budget {
	if a.Budget == nil {
		return Budget{}
	}
	return *a.Budget
}
