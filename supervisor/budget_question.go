package supervisor

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/text"
)

// This file is the one question that a budget asks when it is used up: of the person, for all agents that it keeps from
// going on.

// What may be answered to it. After raise stands the new bound, or + and what is put on top of the old one.
const (
	raise  = "raise"
	finish = "finish"
	stopIt = "stop"
)

// Exceeding gives what a question says of a budget that is used up.
func Exceeding(b, used Budget, what string) checkpoints.Exceeded {
	over := checkpoints.Exceeded{What: what}
	switch what {
	case BudgetCost:
		over.Bound, over.Used = b.CostUSD, used.CostUSD
	case budgetTokens:
		over.Bound, over.Used = float64(b.Tokens), float64(used.Tokens)
	case budgetTime:
		over.Bound, over.Used = b.Time.Seconds(), used.Time.Seconds()
	case budgetTurns:
		over.Bound, over.Used = float64(b.Turns), float64(used.Turns)
	}
	return over
}

// An amount is of what a budget bounds, in words.
func amount(what string, n float64) string {
	switch what {
	case BudgetCost:
		if n != 0 && math.Abs(n) < 0.1 {
			return fmt.Sprintf("$%.4f", n)
		}
		return fmt.Sprintf("$%.2f", n)
	case budgetTime:
		return time.Duration(n * float64(time.Second)).Round(time.Second).String()
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// examples of an amount that is typed.
var typedAmounts = map[string]string{BudgetCost: "raise 5 (dollars)", budgetTokens: "raise 500k",
	budgetTime: "raise 2h", budgetTurns: "raise 50"}

// ParseTokens reads a number of tokens as a person gives it: 200000, 200k or 1.5M.
func ParseTokens(text string) (int64, error) {
	digits, unit := strings.ReplaceAll(strings.TrimSpace(text), "_", ""), 1.0
	if n := len(digits); n > 0 {
		switch digits[n-1] {
		case 'k', 'K':
			digits, unit = digits[:n-1], 1e3
		case 'm', 'M':
			digits, unit = digits[:n-1], 1e6
		}
	}
	n, err := strconv.ParseFloat(digits, 64)
	if tokens := math.Round(n * unit); err == nil && tokens >= 1 && tokens <= 1e15 {
		return int64(tokens), nil
	}
	return 0, fmt.Errorf("takes a number of tokens such as 200000, 200k or 1.5M, not %q", text)
}

// maxUSD bounds a cost budget: what is more is a slip of the finger.
const maxUSD = 1e6

// ParseUSD reads an amount of dollars as a person gives it: 5, 0.50 or $5.
func ParseUSD(text string) (float64, error) {
	n, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(text), "$"), 64)
	if err == nil && n > 0 && n <= maxUSD {
		return n, nil
	}
	return 0, fmt.Errorf("takes an amount in dollars such as 5 or 0.50, not %q", text)
}

// ParseBudgetTime reads a bound of time as a person gives it: 90s, 10m or 2h.
func ParseBudgetTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err == nil && d > 0 {
		return d, nil
	}
	return 0, fmt.Errorf("takes a duration such as 90s, 10m or 2h, not %q", text)
}

// parseAmount reads an amount of what a budget bounds.
func parseAmount(what, text string) (float64, error) {
	switch what {
	case BudgetCost:
		return ParseUSD(text)
	case budgetTokens:
		n, err := ParseTokens(text)
		return float64(n), err
	case budgetTime:
		d, err := ParseBudgetTime(text)
		return d.Seconds(), err
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err == nil && n > 0 {
		return float64(n), nil
	}
	return 0, fmt.Errorf("takes a number of turns such as 50, not %q", text)
}

// raised reads the new bound that an answer gives. It must be one with which something can go on.
func raised(over checkpoints.Exceeded, words string) (float64, error) {
	words = strings.TrimSpace(words)
	if words == "" {
		return 0, fmt.Errorf("say the new bound, as in %s, or what is put on top, as in raise +%s", typedAmounts[over.What],
			strings.TrimPrefix(strings.Fields(typedAmounts[over.What])[1], "raise "))
	}
	more, added := strings.CutPrefix(words, "+")
	n, err := parseAmount(over.What, more)
	if err != nil {
		return 0, fmt.Errorf("%s %w", raise, err)
	}
	if added {
		n += over.Bound
	}
	if n < over.Used || Exceeded(withBound(Budget{}, over.What, n), withBound(Budget{}, over.What, over.Used)) != "" {
		return 0, fmt.Errorf("%s is used already: raise it to more than that", amount(over.What, over.Used))
	}
	return n, nil
}

// withBound gives a budget with another bound.
func withBound(b Budget, what string, n float64) Budget {
	switch what {
	case BudgetCost:
		b.CostUSD = n
	case budgetTokens:
		b.Tokens = int64(n)
	case budgetTime:
		b.Time = time.Duration(n * float64(time.Second))
	case budgetTurns:
		b.Turns = int(n)
	}
	return b
}

// budgetAnswer takes an answer apart.
func budgetAnswer(answer string) (word, words string) {
	word, words, _ = strings.Cut(strings.TrimSpace(answer), " ")
	return word, strings.TrimSpace(words)
}

// checkBudget tells why an answer to a question about a budget cannot be taken.
func checkBudget(q *Question, answer string) error {
	switch word, words := budgetAnswer(answer); {
	case q.Exceeded == nil:
		return errors.New("the question says nothing of a budget")
	case word == raise:
		_, err := raised(*q.Exceeded, words)
		return err
	case (word == finish || word == stopIt) && words == "":
		return nil
	}
	return fmt.Errorf("type %s, %s or %s", typedAmounts[q.Exceeded.What], finish, stopIt)
}

// BudgetQuestion asks what becomes of a scope whose budget is used up. Its words stay as they are: what earlier
// releases have recorded has to come to the same question again.
func (s State) BudgetQuestion(scope *Agent, over checkpoints.Exceeded) signals.Question {
	var b strings.Builder
	for _, a := range s.AllAgents() {
		if a.Exceeds == scope.ID && a.Status == checkpoints.OverBudget {
			fmt.Fprintf(&b, "Cannot go on: %s (%s)\n", Title(a), text.Truncate(text.FirstLine(a.Task), text.MaxNamed))
		}
		if b.Len() > MaxText {
			b.WriteString("and more\n")
			break
		}
	}
	b.WriteString("Nothing is lost: the conversations are kept, and nothing more is used before you answer.")
	return signals.Question{
		ID: over.What, Header: "budget",
		Text:    "The " + s.exceededInWords(scope, over) + ". Raise it, finish up, or stop?",
		Context: b.String(),
		Options: []signals.Option{
			{Label: raise, Description: "add the new bound, as in " + typedAmounts[over.What] + "; with + what is put on top"},
			{Label: finish,
				Description: fmt.Sprintf("what has begun is told to save its state and report, with %d more requests each",
					finishTurns)},
			{Label: stopIt, Description: "stop the work under this budget"},
		},
	}
}

// planBudgets plans what budgets need: their clocks, and the questions of those that are used up.
func (s State) planBudgets() []Effect {
	if !s.Bounded() {
		return nil
	}
	var plan []Effect
	for _, a := range s.sortedScopes() {
		if a.Status.Ended() {
			continue
		}
		if a.Budget.Time > a.Worked && s.atWork(a.ID) {
			plan = append(plan, Effect{Do: DoClock, Key: "clock " + a.ID, Agent: a.ID})
		}
	}
	asked := map[string]bool{}
	for _, a := range s.AllAgents() {
		if !s.stuck(a) || asked[a.Exceeds] {
			continue
		}
		asked[a.Exceeds] = true
		before := s.FindQuestionsOf(a.Exceeds, OfBudget)
		if !slices.ContainsFunc(before, IsOpen) {
			plan = append(plan, Effect{Do: DoAskBudget, Key: fmt.Sprintf("budget %s %d", a.Exceeds, len(before)),
				Agent: a.Exceeds})
		}
	}
	return plan
}

// stuck reports whether a budget keeps an agent from going on, and a raised one would let it.
func (s State) stuck(a *Agent) bool {
	return a.Status == checkpoints.OverBudget && !a.Tidying && a.Exceeds != "" && !s.Agents[a.Exceeds].Status.Ended() &&
		!s.endsFromAbove(a)
}

// endsFromAbove reports whether an agent ends next, because one above it has ended or is being stopped.
func (s State) endsFromAbove(a *Agent) bool {
	for a = s.Agents[a.Parent]; a != nil; a = s.Agents[a.Parent] {
		if a.Status.Ended() || a.StopWanted != "" {
			return true
		}
	}
	return false
}

// OfBudget reports whether a question is about a budget.
func OfBudget(q *Question) bool { return q.Kind == checkpoints.AskBudget }

// decideBudgets does what a person has answered to the question of an agent's budget. What is no decision is asked
// again.
func (d *transition) decideBudgets(id string) {
	for _, q := range d.FindQuestionsOf(id,
		func(q *Question) bool { return OfBudget(q) && q.State == checkpoints.QuestionAnswered }) {
		q = d.question(q.ID)
		if q.Skipped || q.Declined || checkBudget(q, q.Answer) != nil {
			q.State, q.Response = checkpoints.QuestionOpen, checkpoints.Response{}
			continue
		}
		q.State = checkpoints.QuestionDelivered // it needs no words
		if q.Revoked != "" {
			continue
		}
		scope := d.agent(id)
		switch word, words := budgetAnswer(q.Answer); word {
		case raise:
			n, _ := raised(*q.Exceeded, words) // it was checked
			scope.Budget = bounding(withBound(*scope.Budget, q.Exceeded.What, n))
		case finish:
			d.finishUp(scope, q.AnsweredBy)
		case stopIt:
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
	if d.indexed().scopes == 0 {
		return
	}
	stuck := map[string]bool{}
	for _, a := range d.Agents {
		if d.stuck(a) {
			stuck[a.Exceeds] = true
		}
	}
	for id, a := range d.Agents {
		if a.Budget == nil || stuck[id] {
			continue
		}
		for _, q := range d.FindQuestionsOf(id, func(q *Question) bool { return OfBudget(q) && IsOpen(q) }) {
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
	scope := d.Agents[e.Agent]
	if scope == nil || scope.Budget == nil || scope.Status.Ended() ||
		len(d.FindQuestionsOf(e.Agent, func(q *Question) bool { return OfBudget(q) && IsOpen(q) })) > 0 {
		return unwelcome("the budget of %s is not asked about", e.Agent)
	}
	used := d.usageByScope()[scope.ID].Used
	over := Exceeding(*scope.Budget, used, Exceeded(*scope.Budget, used))
	if over.What == "" {
		return unwelcome("the budget of %s is not used up", e.Agent)
	}
	d.openQuestions(scope.ID, checkpoints.AskBudget, []signals.Question{d.BudgetQuestion(scope, over)}, e.Naming,
		func(q *Question) {
			q.Fingerprint, q.Exceeded = "budget "+over.What, &over
		})
	return nil
}
