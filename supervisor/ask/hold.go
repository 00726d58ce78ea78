package ask

import (
	"math"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
)

// HoldFor is how long a process waits for questions ("Smart Timeout Adjustment" of the hybrid protocol): the hold, if
// one is to be chosen from a list; less for a yes or no, more for a text that has to be written, and more for each
// further question. Its script may say how long it means to wait.
func HoldFor(open []*checkpoints.Question, hold time.Duration) time.Duration {
	hold = min(hold, math.MaxInt64/4) // what follows is at most three of it
	var longest time.Duration
	for _, q := range open {
		wait := hold
		switch w := QuickWait(q); {
		case w > 0:
			wait = w
		case asksYesOrNo(q):
			wait = hold / 5 * 2
		case asksForText(q):
			wait = hold / 5 * 7
		}
		longest = max(longest, wait)
	}
	most := hold / 5 * mostHold
	return min(min(longest, most)+time.Duration(min(len(open)-1, mostHold))*(hold/5), most)
}

// mostHold is the longest that a process waits for any questions, in fifths of the hold: of the usual five minutes the
// hybrid protocol's "maximum safe quick-wait" of eight.
const mostHold = 8

// asksForText reports whether an answer has to be written in words.
func asksForText(q *checkpoints.Question) bool {
	return len(q.Options) == 0 && (questions.Posted(q) || q.File != nil)
}

func asksYesOrNo(q *checkpoints.Question) bool {
	if q.Validate == "yes_no" {
		return true
	}
	return len(q.Options) == 2 && strings.EqualFold(q.Options[0].Label, "yes") &&
		strings.EqualFold(q.Options[1].Label, "no")
}

// QuickWait is how long the asking script means to wait; 0 if it does not say.
func QuickWait(q *checkpoints.Question) time.Duration {
	d, err := time.ParseDuration(SignalOf(q).Field("quick_wait"))
	if err != nil {
		return 0
	}
	return d
}
