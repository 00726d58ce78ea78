package supervisor

import (
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

// This file shares the cost out that budgets leave. claude ends a turn itself once its process has cost so much
// (procs.Spec.BudgetUSD), with the request that reaches it; so the shares of all that run never come to more than is
// left, and each goes over its own by one request at most. Whoever has used up its share while there is more left is
// launched again with another.

// forOthers is the part of what is left that a launch leaves to agents that may still come to be.
const forOthers = 0.25

// share returns what a launch of an agent may cost, when so many slots are free (negative: any number) and those behind
// it wait for one: 0 if nothing bounds it. Not ok if all that is left is set aside for processes that live: lender is
// then the scope in which.
func (d *transition) share(a *Agent, behind []*Agent, free int) (usd float64, lender *Agent, ok bool) {
	others := len(behind)
	if free > 0 {
		others = min(others, free-1)
	}
	for scope := a; scope != nil && a.FinishBy == 0; scope = d.Agents.Get(scope.Parent) {
		if scope.Budget == nil || scope.Budget.CostUSD == 0 {
			continue
		}
		b := d.usageByScope()[scope.ID]
		left, least := scope.Budget.CostUSD-b.Used.CostUSD-b.Reserved, questions.SmallestShare(scope.Budget.CostUSD)
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

// mayGrow reports whether the run may come to have agents at work beside one.
func (d *transition) mayGrow(a *Agent) bool {
	if d.Config.Delegate.At(a.Depth+1) != conf.DenyDelegations && (d.Config.MaxDepth == 0 ||
		a.Depth < d.Config.MaxDepth) &&
		(d.Config.MaxAgents == 0 || d.Agents.Len() < d.Config.MaxAgents) {
		return true
	}
	for other := range d.Agents.Values() {
		if other != a && !other.Status.Ended() {
			return true
		}
	}
	return false
}

// bind gives a new launch its bounds.
func (d *transition) bind(a *Agent, usd float64) {
	l := d.Live(a.ID)
	if l == nil { // its folder is made ready first
		return
	}
	l = d.last(a.ID)
	l.ShareUSD, l.MaxTurns = usd, d.turnsLeft(a)
	for above := a; above != nil; above = d.Agents.Get(above.Parent) {
		if b := d.usageByScope()[above.ID]; b != nil {
			b.Reserved += usd
		}
	}
}

// turnsLeft is how many requests an agent may make; 0: any number.
func (d *transition) turnsLeft(a *Agent) int {
	if a.FinishBy > 0 {
		return a.FinishBy - a.Turns
	}
	left := 0
	if a.Delegated != nil && a.Delegated.MaxTurns > 0 {
		left = a.Delegated.MaxTurns - a.Turns
	}
	for scope := a; scope != nil; scope = d.Agents.Get(scope.Parent) {
		if scope.Budget != nil && scope.Budget.Turns > 0 {
			left = conf.LowerBound(left, scope.Budget.Turns-d.usageByScope()[scope.ID].Used.Turns)
		}
	}
	return left
}

// lend says that an agent waits for what others have set aside in a scope, and has one of them give it up that does
// nothing but wait: its process ends as if it were not held.
func (d *transition) lend(a, scope *Agent) {
	if reason := "waits for what others leave of the cost budget of " + d.ScopeInWords(scope); a.Reason != reason {
		d.setStatus(d.agent(a.ID), checkpoints.Queued, reason)
	}
	for _, other := range d.AllAgents() {
		l := d.Live(other.ID)
		if l == nil || l.ShareUSD <= l.CostUSD || other.ID != scope.ID && !d.Below(other, scope.ID) {
			continue
		}
		if l.End != "" || other.Idles(l) && !l.BusyElsewhere && !d.WorksBeside(l, d.Open(other.ID)) &&
			l.Phase.Runs() {
			d.end(other.ID, endPark, "its part of the budget is needed")
			d.reconcileEnding(d.agent(other.ID), d.last(other.ID))
			return
		}
	}
}

// finishUp has an agent and all below it finish: those that have begun report what they have, and the others are not
// begun.
func (d *transition) finishUp(scope *Agent, by string) {
	for _, a := range d.AllAgents() {
		if a.Status.Ended() || a.Group || a.ID != scope.ID && !d.Below(a, scope.ID) {
			continue
		}
		if a.Launches == 0 && a.ID != scope.ID {
			d.fail(a.ID, faultNotBegun, "was not begun: the budget is used up, and "+by+" has the work finished")
			continue
		}
		a = d.agent(a.ID)
		a.FinishBy = d.Used(a).Turns + finishTurns
		a.Enqueue(checkpoints.OutboxItem{Key: fmt.Sprintf("finish %d", a.FinishBy), From: fromBudget, At: d.at,
			Text: prompts.FinishUp(finishTurns)})
	}
}

// faultNotBegun is the failure of an agent that was not begun for want of a budget.
const faultNotBegun = "budget"

// fromBudget is whose words it is that the budget is used up.
const fromBudget = "budget"
