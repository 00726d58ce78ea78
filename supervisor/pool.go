package supervisor

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/text"
)

// maxPoolTold bounds what an agent reads of the tasks of a pool that has ended before it begins, in bytes.
const maxPoolTold = 32 << 10

// poolEnded is what an agent reads of its pool at its beginning; "" for one that has none. What has not succeeded
// stands first, lest it be left out.
func (s State) poolEnded(a *Agent) string {
	counts := map[Status]int{}
	var good, bad []string
	for _, c := range s.Children(a.ID) {
		if c.Delegated.Item == "" {
			continue
		}
		counts[c.Status]++
		line := fmt.Sprintf("- %s (%s) %s: %s\n", text.Truncate(text.FirstLine(c.Delegated.Item), text.MaxNamed),
			c.ID, c.Status, notice.Summary(c))
		if c.Status == checkpoints.Succeeded {
			good = append(good, line)
		} else {
			bad = append(bad, line)
		}
	}
	lines := slices.Concat(bad, good)
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## DELEGATED WORK ENDED\n\nTasks: %d (%s)\n", len(lines), notice.Tally(counts))
	for i, line := range lines {
		if b.Len()+len(line) > maxPoolTold {
			fmt.Fprintf(&b, "and %d more\n", len(lines)-i)
			break
		}
		b.WriteString(line)
	}
	fmt.Fprintf(&b, "All of it: claude-supervise show %s --json, under tasks", s.Run.ID)
	return b.String()
}
