package standin

import (
	"fmt"
	"strconv"
)

// A bound is one that the process was started with and that ends a turn when it is reached: what it may cost
// (--max-budget-usd), or how many replies a turn may have (--max-turns). As seen on 2.1.329.
type bound struct {
	subtype, reason, text string
	receipt               string // of the messages of the turn
	charged               spent  // what the result says was used, of the turn
	stop                  any
}

func (b bound) Error() string { return b.text }

func (b bound) result() doc {
	return doc{
		"subtype": b.subtype, "is_error": true, "terminal_reason": b.reason, "stop_reason": b.stop,
		"errors": []string{b.text},
		"usage":  b.charged.usage(),
	}
}

// exhausted reports whether the process has cost what it may. What earlier ones have cost does not count. A request is
// not cut off: the last one may cost more than is left. Its calls are not made, and no further one is.
func (c *conversation) exhausted(t *turn) error {
	if c.sub != nil || c.opts.budget == 0 || c.spent.minus(c.spentEarlier).cost() < c.opts.budget {
		return nil
	}
	b := bound{
		subtype: "error_max_budget_usd", reason: "budget_exhausted", receipt: "cancelled",
		text:    fmt.Sprintf("Reached maximum budget ($%s)", strconv.FormatFloat(c.opts.budget, 'f', -1, 64)),
		charged: t.spent.minus(t.last),
	}
	if t.replies > 0 {
		b.stop = t.stopReason()
	}
	return b
}

// overlong reports whether a turn has had as many replies as it may. The next one begins anew.
func (c *conversation) overlong(t *turn) error {
	if c.sub != nil || c.opts.maxTurns == 0 || t.replies < c.opts.maxTurns {
		return nil
	}
	return bound{
		subtype: "error_max_turns", reason: "max_turns", receipt: "completed", stop: t.stopReason(),
		text: fmt.Sprintf("Reached maximum number of turns (%d)", c.opts.maxTurns), charged: t.spent,
	}
}

// stopReason is why the last reply ended.
func (t *turn) stopReason() string {
	if t.calling {
		return "tool_use"
	}
	return "end_turn"
}
