package terminal

import (
	"fmt"
	"time"

	"claude-supervise/supervisor/text"
)

// Duration says how long d is with its two largest units: "8s", "3m 05s", "2h 10m", "4d 6h". Less than a second is
// "0s", and a negative d (a clock was set back) too.
func Duration(d time.Duration) string {
	s := int64(max(d, 0) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 60*60:
		return fmt.Sprintf("%dm %02ds", s/60, s%60)
	case s < 24*60*60:
		return fmt.Sprintf("%dh %02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd %dh", s/86400, s/3600%24)
}

// Ago says how long before now t was, by its largest unit: "just now", "3m ago"; "in 5m" if it is still to come, and
// "never" for the zero time.
func Ago(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := now.Sub(t)
	switch {
	case d > -time.Second && d < time.Second:
		return "just now"
	case d < 0:
		return "in " + largestUnit(-d)
	}
	return largestUnit(d) + " ago"
}

func largestUnit(d time.Duration) string {
	switch s := int64(d / time.Second); {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 60*60:
		return fmt.Sprintf("%dm", s/60)
	case s < 24*60*60:
		return fmt.Sprintf("%dh", s/3600)
	default:
		return fmt.Sprintf("%dd", s/86400)
	}
}

// Money says an amount of US dollars, as text.Money does.
func Money(usd float64) string { return text.Money(usd) }

// Tokens says a number of tokens: "812", "12.3k", "1.2M".
func Tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// When says a time of any day in full.
func When(t time.Time) string { return t.Local().Format(time.DateTime) }
