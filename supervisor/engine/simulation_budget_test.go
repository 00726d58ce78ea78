package engine

import (
	"fmt"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/questions"
)

// What a request to the API uses in this world.
const (
	requestUSD    = 0.01
	requestInput  = 100
	requestOutput = 10
)

// bound gives every fourth world budgets.
func (n *nature) bound(w *simulation) {
	if !w.one(4) {
		return
	}
	n.config.Budget = someBudget(w)
	for i := range n.children {
		if w.one(3) {
			n.children[i].Budget = someBudget(w)
		}
	}
}

func someBudget(w *simulation) conf.Budget {
	return pick(w, conf.Budget{CostUSD: 0.06}, conf.Budget{CostUSD: 0.3}, conf.Budget{Tokens: 900},
		conf.Budget{Turns: 6}, conf.Budget{Time: time.Second},
		conf.Budget{Tokens: 3000, Turns: 25}, conf.Budget{})
}

// requests counts one more request of the turn under way, and ends that where claude would: false if it has.
func (p *simProcess) requests() bool {
	t := p.turn
	if p.shareUSD > 0 && p.spentUSD() >= p.shareUSD { // an earlier turn has used it up
		p.endTurn(procs.Result{Subtype: "error_max_budget_usd", IsError: true})
		return false
	}
	t.requests++
	p.w.truth.requests[p.agent]++
	p.say(procs.Usage{MessageID: p.w.id("msg_"), InputTokens: requestInput, OutputTokens: requestOutput})
	switch {
	case p.shareUSD > 0 && p.spentUSD() >= p.shareUSD:
		p.endTurn(procs.Result{Subtype: "error_max_budget_usd", IsError: true})
		return false
	case p.maxTurns > 0 && t.requests >= p.maxTurns:
		p.endTurn(procs.Result{Subtype: "error_max_turns", IsError: true})
		return false
	}
	return true
}

// spentUSD is what the process has cost.
func (p *simProcess) spentUSD() float64 {
	n := p.billed
	if p.turn != nil {
		n += p.turn.requests
	}
	return float64(n) * requestUSD
}

// bill puts what a turn has used on its result.
func (p *simProcess) bill(r procs.Result) procs.Result {
	n := p.turn.requests
	p.billed += n
	r.NumTurns, r.CostUSD = n, float64(n)*requestUSD
	r.InputTokens, r.OutputTokens = int64(n)*requestInput, int64(n)*requestOutput
	return r
}

// lastBill puts what a turn that is cut has used on the exit, which only a process tells that ends in good order.
func (p *simProcess) lastBill(x procs.Exit) procs.Exit {
	if p.turn == nil || p.raw || x.Signal != "" {
		return x
	}
	n := p.turn.requests
	x.CostUSD, x.InputTokens, x.OutputTokens = float64(n)*requestUSD, int64(n)*requestInput, int64(n)*requestOutput
	return x
}

// decidesBudget is what a person makes of a budget that is used up.
func (w *simulation) decidesBudget(q *supervisor.Question) string {
	switch w.rng.IntN(4) {
	case 0:
		return "finish"
	case 1:
		return stopIt
	}
	return "raise +" + map[string]string{questions.BudgetCost: "2", "tokens": "100k", "time": "1h",
		"turns": "100"}[q.Exceeded.What]
}

// budgetRules are of what agents may use, and of waits for what they may use again.
var budgetRules = []rule{
	{"what processes may still spend is left", sharesAreLeft},
	{"who is over its budget has used it up, and has no process", overBudgetIsSo},
	{"a budget that is used up is asked about once, for as long as it keeps somebody", budgetsAreAsked},
	{"nobody is launched before a usage limit ends", limitsAreKept},
	{"what a request has used is counted once", useIsCounted},
}

// withinScope returns an agent and all below it.
func withinScope(s supervisor.State, scope *supervisor.Agent) []*supervisor.Agent {
	return slices.DeleteFunc(s.AllAgents(), func(a *supervisor.Agent) bool {
		return a.ID != scope.ID && !s.Below(a, scope.ID)
	})
}

func sharesAreLeft(_ *simulation, before, after supervisor.State, _ supervisor.Happened) string {
	launched := launchedIn(before, after)
	for scope := range after.Agents.Values() {
		if scope.Budget == nil || scope.Budget.CostUSD == 0 {
			continue
		}
		spent, aside, begins := 0.0, 0.0, false
		for _, a := range withinScope(after, scope) {
			spent += a.CostUSD
			if l := after.Live(a.ID); l != nil && a.FinishBy == 0 {
				aside += max(l.ShareUSD-l.CostUSD, 0)
			}
			begins = begins || slices.Contains(launched, a) && a.FinishBy == 0
		}
		if begins && spent+aside > scope.Budget.CostUSD+1e-9 {
			return fmt.Sprintf("%v of %s: %v spent, %v set aside", scope.Budget.CostUSD, scope.ID, spent, aside)
		}
	}
	return ""
}

func overBudgetIsSo(_ *simulation, before, after supervisor.State, e supervisor.Happened) string {
	if reserved(e.Event) {
		return ""
	}
	for id, a := range after.Agents.All() {
		if a.Status != checkpoints.OverBudget || a.Tidying {
			continue
		}
		scope := after.Agents.Get(a.Exceeds)
		switch {
		case after.Live(id) != nil:
			return id + " has a process"
		case scope == nil || scope.ID != id && !after.Below(a, scope.ID) || scope.Budget == nil:
			return fmt.Sprintf("%s exceeds %q", id, a.Exceeds)
		}
	}
	for _, a := range launchedIn(before, after) {
		for scope := a; scope != nil && a.FinishBy == 0; scope = after.Agents.Get(scope.Parent) {
			b := scope.Budget
			if b == nil {
				continue
			}
			var tokens int64
			turns := 0
			for _, o := range withinScope(after, scope) {
				tokens += o.InputTokens + o.OutputTokens
				turns += o.Turns
			}
			if b.Tokens > 0 && tokens >= b.Tokens || b.Turns > 0 && turns >= b.Turns || b.Time > 0 && scope.Worked >= b.Time {
				return fmt.Sprintf("%s is launched: %+v of %s, used are %d tokens, %d turns, %v", a.ID, *b, scope.ID, tokens, turns,
					scope.Worked)
			}
		}
	}
	return ""
}

// endsFromAbove reports whether an agent is about to end because of one above it: not because of a group that waits for
// it, nor of one that is stopped alone, if another above that goes on.
func endsFromAbove(s supervisor.State, a *supervisor.Agent) bool {
	for p := s.Agents.Get(a.Parent); p != nil; a, p = p, s.Agents.Get(p.Parent) {
		alone := p.StopOnly && continuesAbove(s, p)
		if p.Status.Ended() || p.StopWanted != "" && !alone && !(p.Group && neededBy(s, p, a)) {
			return true
		}
	}
	return false
}

// neededBy reports whether a group waits for a child, or for one that comes after it.
func neededBy(s supervisor.State, group, c *supervisor.Agent) bool {
	return waitedFor(c) || slices.ContainsFunc(s.Children(group.ID), func(o *supervisor.Agent) bool {
		return !o.Status.Ended() && comesBefore(s, c, o) && neededBy(s, group, o)
	})
}

func continuesAbove(s supervisor.State, a *supervisor.Agent) bool {
	for a = s.Agents.Get(a.Parent); a != nil; a = s.Agents.Get(a.Parent) {
		if !a.Status.Ended() && a.StopWanted == "" {
			return true
		}
	}
	return false
}

func budgetsAreAsked(_ *simulation, _, after supervisor.State, e supervisor.Happened) string {
	if reserved(e.Event) || after.Config.Policy == conf.Fail {
		return ""
	}
	stuck := map[string]bool{}
	for a := range after.Agents.Values() {
		if a.Status == checkpoints.OverBudget && !a.Tidying && !endsFromAbove(after, a) {
			stuck[a.Exceeds] = true
		}
	}
	for id := range after.Agents.All() {
		open := after.FindQuestionsOf(id,
			func(q *supervisor.Question) bool {
				return q.Kind == questions.AskBudget && q.State == checkpoints.QuestionOpen
			})
		switch {
		case len(open) > 1:
			return "that of " + id + " several times"
		case len(open) == 1 && !stuck[id]:
			return "that of " + id + ", though it keeps nobody from continuing"
		case stuck[id] && len(open) == 0 && after.Run.Leaving == "" &&
			!slices.ContainsFunc(supervisor.Plan(after), func(e effect.Effect) bool {
				return e.Do == effect.AskBudget && e.Agent == id
			}):
			return "nobody asks about that of " + id
		}
	}
	return ""
}

func limitsAreKept(_ *simulation, before, after supervisor.State, e supervisor.Happened) string {
	for _, a := range launchedIn(before, after) {
		if until := after.Run.Limited; until != nil && e.At.Before(*until) {
			return fmt.Sprintf("%s is launched at %v, and it ends at %v", a.ID, e.At, *until)
		}
	}
	return ""
}

// useIsCounted compares what the records say with what the processes have done.
func useIsCounted(w *simulation, _, after supervisor.State, e supervisor.Happened) string {
	b, ok := e.Event.(supervisor.TurnEnded)
	if !ok || !after.Abilities().ReportsUsage {
		return ""
	}
	if a := after.Agents.Get(b.Agent); a.Turns > w.truth.requests[a.ID] {
		return fmt.Sprintf("%s has made %d requests, and %d are counted", a.ID, w.truth.requests[a.ID], a.Turns)
	}
	return ""
}
