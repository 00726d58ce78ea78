package records

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/label"
	"claude-supervise/supervisor/questions"
)

// ComputeUsage returns what the agents with a budget have used, by agent.
func (s Records) ComputeUsage() map[string]*Usage {
	usages := map[string]*Usage{}
	if s.indexed().scopes == 0 {
		return usages
	}
	for id, a := range s.Agents.All() {
		if a.Budget != nil {
			usages[id] = &Usage{Used: conf.Budget{Time: a.Worked}}
		}
	}
	for _, a := range s.AllAgents() { // in their order: sums of fractions depend on it
		used, reserved := s.Used(a), 0.0
		if l := s.Live(a.ID); l != nil {
			reserved = max(l.ShareUSD-l.CostUSD, 0)
		}
		for above := a; above != nil; above = s.Agents.Get(above.Parent) {
			if b := usages[above.ID]; b != nil {
				b.Used.CostUSD += used.CostUSD
				b.Used.Tokens += used.Tokens
				b.Used.Turns += used.Turns
				b.Reserved += reserved
			}
		}
	}
	return usages
}

// Used is what an agent itself has used, the turn under way included: cost reserved, which only a result tells.
func (s Records) Used(a *checkpoints.Agent) conf.Budget {
	used := conf.Budget{CostUSD: a.CostUSD, Tokens: a.InputTokens + a.OutputTokens, Turns: a.Turns}
	if l := s.Live(a.ID); l != nil && l.Used != nil {
		used.Tokens += l.Used.InputTokens + l.Used.OutputTokens
		used.Turns += l.Used.Turns
	}
	return used
}

// Bounded reports whether anything in the run is under a budget.
func (s Records) Bounded() bool {
	return s.indexed().scopes > 0
}

// ExceededInWords names a budget that is used up, and by how much. Of cost something may be left that is too little for
// a launch.
func (s Records) ExceededInWords(scope *checkpoints.Agent, over checkpoints.Exceeded) string {
	text := fmt.Sprintf("%s budget of %s is used up: %s of %s", budgetName(over.What), s.ScopeInWords(scope),
		questions.Amount(over.What, over.Used), questions.Amount(over.What, over.Bound))
	if over.Used < over.Bound {
		text += " (the rest is too little for another process)"
	}
	return text
}

// ScopeInWords names whose budget it is.
func (s Records) ScopeInWords(scope *checkpoints.Agent) string {
	if scope.ID == s.Run.Root {
		return "the run"
	}
	return label.Title(scope)
}

// EndAwaited reports whether somebody waits for the end of what is done for an agent: it is stopped, or the time is
// used up that it may work, alone or with those above it.
func (s Records) EndAwaited(agent string) bool {
	a := s.Agents.Get(agent)
	if a != nil && a.StopWanted != "" {
		return true
	}
	for ; a != nil; a = s.Agents.Get(a.Parent) {
		if b := a.Budget; b != nil && b.Time > 0 && a.Worked >= b.Time {
			return true
		}
	}
	return false
}

// Stuck reports whether a budget keeps an agent from going on, and a raised one would let it.
func (s Records) Stuck(a *checkpoints.Agent) bool {
	return a.Status == checkpoints.OverBudget && !a.Tidying &&
		a.Exceeds != "" && !s.Agents.Get(a.Exceeds).Status.Ended() &&
		!s.endsFromAbove(a)
}

// endsFromAbove reports whether an agent ends next, because one above it has ended or is being stopped.
func (s Records) endsFromAbove(a *checkpoints.Agent) bool {
	for p := s.Agents.Get(a.Parent); p != nil; a, p = p, s.Agents.Get(p.Parent) {
		if p.Status.Ended() || p.StopWanted != "" && !s.Outlives(a, p) {
			return true
		}
	}
	return false
}

// Scopes returns the agents with a budget, those above before those below.
func (s Records) Scopes() []*checkpoints.Agent {
	return slices.DeleteFunc(s.AllAgents(), func(a *checkpoints.Agent) bool { return a.Budget == nil })
}

// A Usage is what is known of one scope.
type Usage struct {
	Used     conf.Budget
	Reserved float64 // in dollars, what launches may still spend of their shares
}

// budgetName names a budget, in front of that word.
func budgetName(what string) string { return strings.TrimSuffix(what, "s") }
