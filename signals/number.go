package signals

import (
	"math"
	"strconv"
	"strings"
)

// A Number is which numbers can answer a question. What is not set bounds nothing.
type Number struct {
	Whole    bool // integer: no fractions
	Min, Max *float64
	Step     *float64 // from Min, or else from 0
	Unit     string   // of what it counts, for people: days
}

// numberRule is a rule that asks for a number: integer, integer 1..9, number 0.5.. step 0.5, integer ..30 days.
var numberRule = lazily(`^(integer|number)(?:\s+([-+.\de]*?)\s*\.\.\s*([-+.\de]*))?` +
	`(?:\s+step\s+([-+.\de]+))?(?:\s+(\S.*))?$`)

// ReadNumber reads a question's rule as the number that it asks for. It is not ok if it asks for none, or if no number
// keeps it.
func ReadNumber(validate string) (n Number, ok bool) {
	m := numberRule().FindStringSubmatch(strings.TrimSpace(validate))
	if m == nil {
		return n, false
	}
	n.Whole, n.Unit = m[1] == "integer", m[5]
	for i, bound := range []**float64{&n.Min, &n.Max, &n.Step} {
		if m[2+i] == "" {
			continue
		}
		value, err := strconv.ParseFloat(m[2+i], 64)
		if err != nil || math.IsInf(value, 0) {
			return n, false
		}
		*bound = &value
	}
	least, most := math.Inf(-1), math.Inf(1)
	if n.Min != nil {
		least = *n.Min
	}
	if n.Max != nil {
		most = *n.Max
	}
	if n.Whole {
		least, most = math.Ceil(least), math.Floor(most)
	}
	whole := func(f *float64) bool { return f == nil || *f == math.Trunc(*f) }
	stepped := n.Step == nil || *n.Step > 0 && (!n.Whole || whole(n.Step) && whole(n.Min))
	return n, least <= most && stepped && (n.Min != nil || n.Max != nil || n.Step != nil || n.Unit == "")
}
