package supervisor

import (
	"fmt"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

// This file is what budgets mean. An agent that has one bounds itself and all below it by it: its scope. The root's is
// that of the run, as the person gave it. What a turn uses is known by its result, and until then by the usage of each
// request, so that no more than a request of each agent at work goes over a bound; cost, which only claude knows before
// the result, it bounds itself by the share that each launch has (budget_share.go).
//
// A budget that is used up ends nothing: whoever needs a further request is over_budget, without a process, and the
// person is asked (budget_question.go).

// usageByScope returns the books of all scopes, by the agents whose they are. They are made once a step: only a launch
// changes them after that, which keeps them.
func (d *transition) usageByScope() map[string]*records.Usage {
	if d.accounts == nil {
		d.accounts = d.ComputeUsage()
	}
	return d.accounts
}

// usedUp returns the agent whose budget keeps an agent from going on, of several the one above the others, and what of
// it is used up; nil if none does. Who was told to finish up has an allowance of its own.
func (d *transition) usedUp(a *Agent) (scope *Agent, what string) {
	if a.FinishBy > 0 {
		return nil, ""
	}
	for above := a; above != nil; above = d.Agents.Get(above.Parent) {
		if above.Budget == nil {
			continue
		}
		if over := questions.Exceeded(*above.Budget, d.usageByScope()[above.ID].Used); over != "" {
			scope, what = above, over
		}
	}
	return scope, what
}

// spending ends the process of an agent that would use more than it may.
var spending = concern{name: "spending", live: (*transition).enforceBudget}

func (d *transition) overBudget(of subject) bool {
	a := of.Agent
	a.Exceeds = ""
	if why := outOfTurns(a); why != "" {
		d.fail(a.ID, string(procs.OverBudget), why)
		d.finish(a, checkpoints.Failed, failedBy(a))
		return true
	}
	scope, what := d.usedUp(a)
	if scope == nil {
		return false
	}
	a.Exceeds = scope.ID
	d.setStatus(a, checkpoints.OverBudget, d.usedUpInWords(scope, what))
	return true
}

// reported takes an agent's report on its task.
func (d *transition) reported(a *Agent, sig signals.Signal) {
	a.Report = task.ReportOf(sig)
	if l := d.Live(a.ID); l != nil && l.Used != nil {
		used := *l.Used
		used.Reported = true
		d.last(a.ID).Used = &used
	}
}

// outOfTurns says why an agent may make no further request that nobody is asked about: its parent has said how many it
// may make, or a person has told it to finish up. "" if it may.
func outOfTurns(a *Agent) string {
	switch {
	case a.FinishBy > 0 && a.Turns >= a.FinishBy:
		return fmt.Sprintf("was told to finish up, and has not within %d requests", finishTurns)
	case a.Delegated != nil && a.Delegated.MaxTurns > 0 && a.Turns >= a.Delegated.MaxTurns:
		return "has used the " + text.Plural(a.Delegated.MaxTurns, "turn", "turns") +
			" that its task was given (max_turns)"
	}
	return ""
}

// enforceBudget ends the process of an agent that would use more than it may, and reports whether it has. One that
// waits for a person uses nothing, and one that has nothing to do any more ends by itself.
func (d *transition) enforceBudget(of subject) bool {
	a, l, open := of.Agent, of.launch, of.open
	if !l.Phase.Runs() || l.End != "" {
		return false
	}
	scope, what := d.usedUp(a)
	reason := ""
	switch {
	case scope != nil && what == questions.BudgetTurns && l.Phase.InTurn() &&
		d.usageByScope()[scope.ID].Used.Turns == scope.Budget.Turns:
		return false // claude ends the turn itself, once the calls of its last request are made
	case scope != nil && what != questions.BudgetCost: // of cost each process has its share
		reason = d.usedUpInWords(scope, what)
	case a.FinishBy > 0 && d.Used(a).Turns > a.FinishBy:
		reason = "was told to finish up, and continues"
	default:
		return false
	}
	inCall := len(open) > 0 && l.Phase.InTurn() && d.Held(open[0]) != nil
	speaks := len(open) == 0 && (len(a.Outbox) > 0 || a.GoOn)
	lives := what == questions.BudgetTime && len(l.Alive()) > 0
	if !(l.Phase.InTurn() && !inCall || l.Phase == checkpoints.LaunchTurnDue || d.reads(l) || speaks || lives) {
		return false
	}
	d.end(a.ID, endBudget, reason)
	return d.reconcileEnding(a, d.last(a.ID))
}

// usedUpInWords says that a budget is used up, and by how much.
func (d *transition) usedUpInWords(scope *Agent, what string) string {
	return "the " + d.ExceededInWords(scope, questions.Exceeding(*scope.Budget, d.usageByScope()[scope.ID].Used, what))
}

// concernScopes has those reconciled that may use no more because of what others have used, or may again.
func (d *transition) concernScopes() {
	if len(d.usageByScope()) == 0 {
		return
	}
	for id, a := range d.Agents.All() {
		if a.Status.Ended() {
			continue
		}
		l, scope := d.Live(id), d.Agents.Get(a.Exceeds)
		switch {
		case a.Status == checkpoints.OverBudget && scope != nil && scope.Budget != nil:
			if now, _ := d.usedUp(a); now != scope {
				d.touch(id)
			}
		case l == nil || l.End == "":
			if scope, _ := d.usedUp(a); scope != nil {
				d.touch(id)
			}
		}
	}
}

// touchBelow has an agent and all below it reconciled that have not ended.
func (d *transition) touchBelow(id string) {
	if !d.Agents.Get(id).Status.Ended() {
		d.touch(id)
	}
	for _, c := range d.Children(id) {
		d.touchBelow(c.ID)
	}
}

// Spent is what a request to the API has used, as far as the CLI says it before the turn's result does.
type Spent struct {
	Agent                     string
	Launch                    int
	InputTokens, OutputTokens int64 `json:",omitempty"`
	Turns                     int   `json:",omitempty"` // 1 for a request of the agent's own conversation
}

var _ = kind[Spent]("spent")

// apply takes note of what a request has used.
func (e Spent) apply(d *transition) error {
	return d.onLaunch(e.Agent, e.Launch, func(l *Launch) {
		var used checkpoints.Used
		if l.Used != nil {
			used = *l.Used
		}
		used.InputTokens += e.InputTokens
		used.OutputTokens += e.OutputTokens
		used.Turns += e.Turns
		used.Reported = used.Reported && e.Turns == 0
		l.Used = &used
	})
}

// Worked says for how long an agent, or any below it, was at work since that was last said.
type Worked struct {
	Agent string
	For   time.Duration
}

var _ = kind[Worked]("worked")

// apply takes note of how long a scope was at work.
func (e Worked) apply(d *transition) error {
	a := d.Agents.Get(e.Agent)
	if a == nil || a.Budget == nil || a.Status.Ended() {
		return unwelcome("the time of %s is not bounded", e.Agent)
	}
	d.agent(e.Agent).Worked += e.For
	return nil
}

// finishTurns is how many requests an agent may make that is told to finish up.
const finishTurns = 3
