package supervisor

import (
	"fmt"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/questions"
)

// This file is the one question that a budget asks when it is used up: of the person, for all agents that it keeps from
// going on.

func init() {
	handlers[questions.AskBudget] = handler{refuse: (*transition).refuseBudget}
}

// BudgetQuestion asks what becomes of a scope whose budget is used up.
func (s State) BudgetQuestion(scope *Agent, over checkpoints.Exceeded) signals.Question {
	stuck := slices.DeleteFunc(s.AllAgents(), func(a *Agent) bool {
		return a.Exceeds != scope.ID || a.Status != checkpoints.OverBudget
	})
	return ask.Budget(s.ExceededInWords(scope, over), over, stuck, finishTurns)
}

// planBudgets plans what budgets need: their clocks, and the questions of those that are used up.
func (s State) planBudgets() []effect.Effect {
	if !s.Bounded() {
		return nil
	}
	var plan []effect.Effect
	for _, a := range s.Scopes() {
		if a.Status.Ended() {
			continue
		}
		if a.Budget.Time > a.Worked && s.AtWork(a.ID) {
			plan = append(plan, effect.Effect{Do: effect.Clock, Key: "clock " + a.ID, Agent: a.ID})
		}
	}
	asked := map[string]bool{}
	for _, a := range s.AllAgents() {
		if !s.Stuck(a) || asked[a.Exceeds] {
			continue
		}
		asked[a.Exceeds] = true
		before := s.FindQuestionsOf(a.Exceeds, questions.OfBudget)
		if !slices.ContainsFunc(before, (*checkpoints.Question).IsOpen) {
			plan = append(plan, effect.Effect{Do: effect.AskBudget, Key: fmt.Sprintf("budget %s %d", a.Exceeds, len(before)),
				Agent: a.Exceeds})
		}
	}
	return plan
}

// undecided is what is known of the question of a budget whose answer has decided nothing.
const undecided = "the answer decided nothing, and it was asked again"

// decideBudgets does what a person has answered to the question of an agent's budget. What is no decision (it is
// declined, or raises to no more than is used) closes the question, and another is asked: a question takes one answer.
func (d *transition) decideBudgets(id string) {
	for _, q := range d.FindQuestionsOf(id,
		func(q *Question) bool { return questions.OfBudget(q) && q.State == checkpoints.QuestionAnswered }) {
		q = d.question(q.ID)
		if q.Skipped || q.Declined || questions.Check(q, q.Answer, "") != nil {
			q.State, q.Remark = checkpoints.QuestionWithdrawn, undecided
			continue
		}
		q.State = checkpoints.QuestionDelivered // it needs no words
		if q.Revoked != "" {
			continue
		}
		scope := d.agent(id)
		switch word, words := questions.BudgetAnswer(q.Answer); word {
		case questions.Raise:
			n, _ := questions.Raised(*q.Exceeded, words) // it was checked
			scope.Budget = conf.Bounding(questions.WithBound(*scope.Budget, q.Exceeded.What, n))
		case questions.Finish:
			d.finishUp(scope, q.AnsweredBy)
		case questions.StopIt:
			d.stop(InboxEntry{Agent: id, By: q.AnsweredBy})
		}
		d.touchBelow(id)
	}
}

// refuseBudget fails what a budget keeps from going on, under --on-question fail.
func (d *transition) refuseBudget(q *Question) {
	q = d.question(q.ID)
	q.State = checkpoints.QuestionWithdrawn
	for _, a := range d.AllAgents() {
		if a.Exceeds == q.Agent && a.Status == checkpoints.OverBudget {
			d.fail(a.ID, faultNotBegun, a.Reason)
			d.touch(a.ID)
		}
	}
}

// withdrawBudgets closes questions about budgets that keep nobody from going on any more.
func (d *transition) withdrawBudgets() {
	if !d.Bounded() {
		return
	}
	stuck := map[string]bool{}
	for a := range d.Agents.Values() {
		if d.Stuck(a) {
			stuck[a.Exceeds] = true
		}
	}
	for id, a := range d.Agents.All() {
		if a.Budget == nil || stuck[id] {
			continue
		}
		for _, q := range d.FindQuestionsOf(id, func(q *Question) bool { return questions.OfBudget(q) && q.IsOpen() }) {
			d.question(q.ID).State = checkpoints.QuestionWithdrawn
		}
	}
}

// BudgetAsked names the question of an agent's budget that is used up.
type BudgetAsked struct {
	Agent string
	Naming
}

var _ = kind[BudgetAsked]("budget_asked")

// apply opens the question of a budget.
func (e BudgetAsked) apply(d *transition) error {
	scope := d.Agents.Get(e.Agent)
	if scope == nil || scope.Budget == nil || scope.Status.Ended() ||
		len(d.FindQuestionsOf(e.Agent, func(q *Question) bool { return questions.OfBudget(q) && q.IsOpen() })) > 0 {
		return unwelcome("the budget of %s is not asked about", e.Agent)
	}
	used := d.usageByScope()[scope.ID].Used
	over := questions.Exceeding(*scope.Budget, used, questions.Exceeded(*scope.Budget, used))
	if over.What == "" {
		return unwelcome("the budget of %s is not used up", e.Agent)
	}
	d.openQuestions(scope.ID, questions.AskBudget, []signals.Question{d.BudgetQuestion(scope, over)}, e.Naming,
		func(q *Question) {
			q.Fingerprint, q.Exceeded = "budget "+over.What, &over
		})
	return nil
}

// budget holds an agent back that may not have another process.
var budget = concern{
	name: "budget", decided: (*transition).decideBudgets, idle: (*transition).overBudget, planRun: State.planBudgets,
}

// askBudgetAnew writes the question of a budget from what is used here, if that is used up.
func (d *transition) askBudgetAnew(id string) {
	q := d.question(id)
	scope := d.Agents.Get(q.Agent)
	if scope.Budget == nil {
		q.State = checkpoints.QuestionWithdrawn
		return
	}
	used := d.usageByScope()[scope.ID].Used
	over := questions.Exceeding(*scope.Budget, used, questions.Exceeded(*scope.Budget, used))
	if over.What == "" {
		q.State = checkpoints.QuestionWithdrawn
		return
	}
	ask.Reshow(q, d.BudgetQuestion(scope, over))
	q.Fingerprint, q.Exceeded = "budget "+over.What, &over
}
