package supervisor

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"claude-supervise/supervisor/text"
)

// This file is the time-out case of the protocols document (002): work that takes longer than its estimate is told of
// once.

// maxEstimate is the longest estimate that is taken for one.
const maxEstimate = 365 * 24 * time.Hour

var (
	estimated = lazily(
		`(?i)(\d+(?:[.,]\d+)?|\b(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|half an?)\b)\s*(?:\+|-|–)?\s*` +
			`(seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w)\b`)
	upperBound = lazily(`(?i)(\d+(?:[.,]\d+)?)\s*(?:-|–|to|or)\s*(\d+(?:[.,]\d+)?)`)
	spelled    = map[string]float64{
		"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
		"eight": 8, "nine": 9, "ten": 10,
		"half a": 0.5, "half an": 0.5,
	}
	units = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour,
		'w': 7 * 24 * time.Hour}
)

// parseEstimate reads how long work takes as people and agents write it: "45 min", "1.5h", "2-3 hours" (which is 3),
// "1h30m", "about an hour", "half a day". What it cannot read is no estimate: 0.
func parseEstimate(s string) time.Duration {
	s = strings.Join(strings.Fields(text.Truncate(s, text.MaxLine)), " ")
	s = upperBound().ReplaceAllString(s, "$2")
	s = joined().ReplaceAllString(s, "$1 $2")
	sum := time.Duration(0)
	for _, m := range estimated().FindAllStringSubmatch(s, -1) {
		n, err := strconv.ParseFloat(strings.Replace(m[1], ",", ".", 1), 64)
		if err != nil {
			n = spelled[strings.ToLower(m[1])]
		}
		part := n * float64(units[strings.ToLower(m[2])[0]])
		if part > float64(maxEstimate) {
			return 0
		}
		if sum += time.Duration(part); sum > maxEstimate {
			return 0
		}
	}
	return sum
}

// joined is a unit that a number follows at once, as in 1h30m0s.
var joined = lazily(`(?i)([smhdw])(\d)`)

// overdue plans the wait until an agent's work takes longer than its estimate.
func overdue(a *Agent) (Effect, bool) {
	if a.Overdue == nil || a.ToldOverdue || a.Status.Ended() {
		return Effect{}, false
	}
	return Effect{Do: DoOverdue, Key: "overdue " + a.ID, Agent: a.ID, Until: *a.Overdue}, true
}

// begins sets when an agent's work takes longer than its estimate, from its first start on.
func begins(a *Agent, at time.Time) {
	if a.Estimate > 0 && a.Overdue == nil {
		due := at.Add(a.Estimate)
		a.Overdue = &due
	}
}

// overdueInWords tells a person of it, with what can be done.
func overdueInWords(a *Agent) string {
	return fmt.Sprintf(
		"takes longer than its estimate (%s; %s). Let it go on, or have it reduce its task or delegate a part: "+
			"claude-supervise attach %s; or: claude-supervise stop %s", a.Estimate, a.Status, a.ID, a.ID)
}

// Overdue says that an agent's work takes longer than its estimate.
type Overdue struct{ Agent string }

var _ = kind[Overdue]("overdue")

// apply takes note that an agent's work takes longer than its estimate.
func (e Overdue) apply(d *transition) error {
	a := d.Agents[e.Agent]
	if a == nil || a.Overdue == nil || a.ToldOverdue || a.Status.Ended() {
		return unwelcome("the work of %s is not overdue", e.Agent)
	}
	d.agent(e.Agent).ToldOverdue = true
	return nil
}
