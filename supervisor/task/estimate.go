package task

import (
	"strconv"
	"strings"
	"time"

	"claude-supervise/supervisor/text"
)

// ParseEstimate reads how long work takes as people and agents write it: "45 min", "1.5h", "2-3 hours" (which is 3),
// "1h30m", "about an hour", "half a day". What it cannot read is no estimate: 0.
func ParseEstimate(s string) time.Duration {
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
		if part > float64(MaxEstimate) {
			return 0
		}
		if sum += time.Duration(part); sum > MaxEstimate {
			return 0
		}
	}
	return sum
}

// MaxEstimate is the longest estimate that is taken for one.
const MaxEstimate = 365 * 24 * time.Hour

var (
	estimated = text.Lazily(
		`(?i)(\d+(?:[.,]\d+)?|\b(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|half an?)\b)\s*(?:\+|-|–)?\s*` +
			`(seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w)\b`)
	upperBound = text.Lazily(`(?i)(\d+(?:[.,]\d+)?)\s*(?:-|–|to|or)\s*(\d+(?:[.,]\d+)?)`)
	spelled    = map[string]float64{
		"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
		"eight": 8, "nine": 9, "ten": 10,
		"half a": 0.5, "half an": 0.5,
	}
	units = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour,
		'w': 7 * 24 * time.Hour}
)

// joined is a unit that a number follows at once, as in 1h30m0s.
var joined = text.Lazily(`(?i)([smhdw])(\d)`)
