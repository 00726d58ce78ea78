package runs

import (
	"fmt"
	"strings"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

// Away says in a line what has happened while a person did not look: "since 14:02: 3 answered, 1 done ($0.42), 2 wait".
// It is "" where nothing has.
func Away(a view.Away) string {
	if !a.Happened() {
		return ""
	}
	var parts []string
	say := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprint(n, " ", what))
		}
	}
	say(a.Answered, "answered")
	ended := len(parts)
	say(a.Done, "done")
	say(a.Failed, "failed")
	say(a.Stopped, "stopped")
	if last := len(parts) - 1; last >= ended && a.CostUSD > 0 {
		parts[last] += " (" + terminal.Money(a.CostUSD) + ")"
	}
	switch {
	case a.Waiting == 1:
		parts = append(parts, "1 waits")
	default:
		say(a.Waiting, "wait")
	}
	return "since " + view.Clock(a.Since) + ": " + strings.Join(parts, ", ")
}
