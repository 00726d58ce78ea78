package supervisor

import (
	"fmt"
	"slices"
	"time"

	"claude-supervise/checkpoints"
)

// This file shares the cost out that budgets leave. claude ends a turn itself once its process has cost so much (procs.Spec.BudgetUSD),
// with the request that reaches it; so the shares of all that run never come to more than is left, and each goes over its own by one
// request at most. Whoever has used up its share while there is more left is launched again with another.

// smallestShare is the least that is worth a launch, in dollars, under a budget of so many.
func smallestShare(budget float64) float64 { return min(0.05, budget/10) }

// forOthers is the part of what is left that a launch leaves to agents that may still come to be.
const forOthers = 0.25

// share gives what a launch of an agent may cost, when so many slots are free (negative: any number) and those behind it wait for one:
// 0 if nothing bounds it. Not ok if all that is left is set aside for processes that live: lender is then the scope in which.
func (d *draft) share(a *Agent, behind []*Agent, free int) (usd float64, lender *Agent, ok bool) {
	others := len(behind)
	if free > 0 {
		others = min(others, free-1)
	}
	for scope := a; scope != nil && a.FinishBy == 0; scope = d.Agents[scope.Parent] {
		if scope.Budget == nil || scope.Budget.CostUSD == 0 {
			continue
		}
		b := d.books()[scope.ID]
		left, least := scope.Budget.CostUSD-b.used.CostUSD-b.aside, smallestShare(scope.Budget.CostUSD)
		if left < least {
			return 0, scope, false
		}
		part := left / float64(1+others)
		if others == 0 && free != 1 && d.mayGrow(a) {
			part = left * (1 - forOthers)
		}
		part = max(part, least)
		if usd == 0 || part < usd {
			usd = part
		}
	}
	return usd, nil, true
}

// mayGrow tells whether the run may come to have agents at work beside one.
func (d *draft) mayGrow(a *Agent) bool {
	if d.Config.Delegate.at(a.Depth+1) != DenyDelegations && (d.Config.MaxDepth == 0 || a.Depth < d.Config.MaxDepth) &&
		(d.Config.MaxAgents == 0 || len(d.Agents) < d.Config.MaxAgents) {
		return true
	}
	for _, other := range d.Agents {
		if other != a && !other.Status.Ended() {
			return true
		}
	}
	return false
}

// bind gives a new launch its bounds.
func (d *draft) bind(a *Agent, usd float64) {
	l := d.live(a.ID)
	if l == nil { // its folder is made ready first
		return
	}
	l = d.last(a.ID)
	l.ShareUSD, l.MaxTurns = usd, d.turnsLeft(a)
	for above := a; above != nil; above = d.Agents[above.Parent] {
		if b := d.books()[above.ID]; b != nil {
			b.aside += usd
		}
	}
}

// turnsLeft is how many requests an agent may make; 0: any number.
func (d *draft) turnsLeft(a *Agent) int {
	if a.FinishBy > 0 {
		return a.FinishBy - a.Turns
	}
	left := 0
	if a.Delegated != nil && a.Delegated.MaxTurns > 0 {
		left = a.Delegated.MaxTurns - a.Turns
	}
	for scope := a; scope != nil; scope = d.Agents[scope.Parent] {
		if scope.Budget != nil && scope.Budget.Turns > 0 {
			left = lower(left, scope.Budget.Turns-d.books()[scope.ID].used.Turns)
		}
	}
	return left
}

// lend says that an agent waits for what others have set aside in a scope, and has one of them give it up that does nothing but wait:
// its process ends as if it were not held.
func (d *draft) lend(a, scope *Agent, at time.Time) {
	if reason := "waits for what others leave of the cost budget of " + d.scopeInWords(scope); a.Reason != reason {
		d.say(d.agent(a.ID), checkpoints.Queued, reason, at)
	}
	for _, other := range d.agents() {
		l := d.live(other.ID)
		if l == nil || l.ShareUSD <= l.CostUSD || other.ID != scope.ID && !d.below(other, scope.ID) {
			continue
		}
		if l.End != "" || idle(other, l) && !l.Besides && !d.worksBeside(l, d.open(other.ID)) && l.State == checkpoints.LaunchStarted {
			d.end(other.ID, endPark, "its part of the budget is needed")
			d.settleEnding(d.agent(other.ID), d.last(other.ID), at)
			return
		}
	}
}

// finishTurns is how many requests an agent may make that is told to finish up.
const finishTurns = 3

// finishUp has an agent and all below it finish: those that have begun report what they have, and the others are not begun.
func (d *draft) finishUp(scope *Agent, by string, at time.Time) {
	for _, a := range d.agents() {
		if a.Status.Ended() || a.Group || a.ID != scope.ID && !d.below(a, scope.ID) {
			continue
		}
		if a.Launches == 0 && a.ID != scope.ID {
			d.fail(a.ID, faultNotBegun, "was not begun: the budget is used up, and "+by+" has the work finished")
			continue
		}
		a = d.agent(a.ID)
		a.FinishBy = d.used(a).Turns + finishTurns
		toSay(a, checkpoints.Saying{Key: fmt.Sprintf("finish %d", a.FinishBy), Text: finishText, From: fromBudget, At: at})
	}
}

// faultNotBegun is the failure of an agent that was not begun for want of a budget.
const faultNotBegun = "budget"

// fromBudget is whose words it is that the budget is used up.
const fromBudget = "budget"

var finishText = fmt.Sprintf(`## FINISH UP

The budget of this work is used up. You have %d requests left, this one included: start nothing new, and delegate nothing.
Leave what you have in a state in which somebody else can go on with it, and report now: status partial_success, what is done,
and under issues_encountered what is not.`, finishTurns)

// sortedScopes gives the agents with a budget, those above before those below.
func (s State) sortedScopes() []*Agent {
	return slices.DeleteFunc(s.agents(), func(a *Agent) bool { return a.Budget == nil })
}
