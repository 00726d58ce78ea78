package questions

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/text"
)

// The budgets, as a question names them (Question.Own and checkpoints.Exceeded).
const (
	BudgetCost   = "cost"
	BudgetTokens = "tokens"
	BudgetTime   = "time"
	BudgetTurns  = "turns"
)

// What may be answered to it. After raise stands the new bound, or + and what is put on top of the old one.
const (
	Raise  = "raise"
	Finish = "finish"
	StopIt = "stop"
)

// Exceeding returns what a question says of a budget that is used up.
func Exceeding(b, used checkpoints.Budget, what string) checkpoints.Exceeded {
	over := checkpoints.Exceeded{What: what}
	switch what {
	case BudgetCost:
		over.Bound, over.Used = b.CostUSD, used.CostUSD
	case BudgetTokens:
		over.Bound, over.Used = float64(b.Tokens), float64(used.Tokens)
	case BudgetTime:
		over.Bound, over.Used = b.Time.Seconds(), used.Time.Seconds()
	case BudgetTurns:
		over.Bound, over.Used = float64(b.Turns), float64(used.Turns)
	}
	return over
}

// Amount returns an amount of what a budget bounds, in words. Of a few cents it has the parts of a cent: what is used
// of a bound would else be as much as the bound.
func Amount(what string, n float64) string {
	switch what {
	case BudgetCost:
		if n != 0 && math.Abs(n) < 0.1 {
			return fmt.Sprintf("$%.4f", n)
		}
		return text.Money(n)
	case BudgetTime:
		return time.Duration(n * float64(time.Second)).Round(time.Second).String()
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// TypedAmounts are examples of amounts that are typed.
var TypedAmounts = map[string]string{BudgetCost: "raise 5 (dollars)", BudgetTokens: "raise 500k",
	BudgetTime: "raise 2h", BudgetTurns: "raise 50"}

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
	case BudgetTokens:
		n, err := ParseTokens(text)
		return float64(n), err
	case BudgetTime:
		d, err := ParseBudgetTime(text)
		return d.Seconds(), err
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err == nil && n > 0 {
		return float64(n), nil
	}
	return 0, fmt.Errorf("takes a number of turns such as 50, not %q", text)
}

// Raised reads the new bound that an answer gives. It must be one with which something can go on.
func Raised(over checkpoints.Exceeded, words string) (float64, error) {
	words = strings.TrimSpace(words)
	if words == "" {
		return 0, fmt.Errorf("say the new bound, as in %s, or what is put on top, as in raise +%s", TypedAmounts[over.What],
			strings.TrimPrefix(strings.Fields(TypedAmounts[over.What])[1], "raise "))
	}
	more, added := strings.CutPrefix(words, "+")
	n, err := parseAmount(over.What, more)
	if err != nil {
		return 0, fmt.Errorf("%s %w", Raise, err)
	}
	if added {
		n += over.Bound
	}
	none := checkpoints.Budget{}
	if n < over.Used || Exceeded(WithBound(none, over.What, n), WithBound(none, over.What, over.Used)) != "" {
		return 0, fmt.Errorf("%s is used already: raise it to more than that", Amount(over.What, over.Used))
	}
	return n, nil
}

// WithBound returns a budget with another bound.
func WithBound(b checkpoints.Budget, what string, n float64) checkpoints.Budget {
	switch what {
	case BudgetCost:
		b.CostUSD = n
	case BudgetTokens:
		b.Tokens = int64(n)
	case BudgetTime:
		b.Time = time.Duration(n * float64(time.Second))
	case BudgetTurns:
		b.Turns = int(n)
	}
	return b
}

// BudgetAnswer takes an answer apart.
func BudgetAnswer(answer string) (word, words string) {
	word, words, _ = strings.Cut(strings.TrimSpace(answer), " ")
	return word, strings.TrimSpace(words)
}

// checkBudget tells why an answer to a question about a budget cannot be taken.
func checkBudget(q *Question, answer, _ string) error {
	switch word, words := BudgetAnswer(answer); {
	case q.Exceeded == nil:
		return errors.New("the question says nothing of a budget")
	case word == Raise:
		_, err := Raised(*q.Exceeded, words)
		return err
	case (word == Finish || word == StopIt) && words == "":
		return nil
	}
	return fmt.Errorf("type %s, %s or %s", TypedAmounts[q.Exceeded.What], Finish, StopIt)
}

func raises(q *Question) bool {
	word, _ := BudgetAnswer(q.Answer)
	return word == Raise
}

func raiseInAdvance(q *Question, _ bool) string {
	if word, _ := BudgetAnswer(q.Answer); word == Finish || word == StopIt {
		return ""
	}
	return "it would raise a budget, which a higher --max-cost-usd, --max-tokens, --max-time or --max-turns does in " +
		"advance"
}

// Exceeded names what of a budget is used up, "" if nothing. Of cost that is so when too little is left for a launch.
func Exceeded(b, used checkpoints.Budget) string {
	switch {
	case b.CostUSD > 0 && b.CostUSD-used.CostUSD < SmallestShare(b.CostUSD):
		return BudgetCost
	case b.Tokens > 0 && used.Tokens >= b.Tokens:
		return BudgetTokens
	case b.Time > 0 && used.Time >= b.Time:
		return BudgetTime
	case b.Turns > 0 && used.Turns >= b.Turns:
		return BudgetTurns
	}
	return ""
}

// SmallestShare is the least that is worth a launch, in dollars, under a budget of so many.
func SmallestShare(budget float64) float64 { return min(0.05, budget/10) }
