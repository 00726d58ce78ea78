package runs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/service"
)

// SideBySide lays out what came of two answers to a question, in columns, and below them what each run reported.
func (program Program) SideBySide(width int, both [2]service.Compared) string {
	var rows [][]string
	row := func(name string, of func(service.Compared) string) {
		rows = append(rows, []string{name, of(both[0]), of(both[1])})
	}
	row("Answer", func(r service.Compared) string { return terminal.FirstLine(r.Answer) })
	row("Status", func(r service.Compared) string { return string(r.Status) })
	row("Cost", func(r service.Compared) string { return terminal.Money(r.CostUSD) })
	row("Took", func(r service.Compared) string {
		return terminal.Duration(time.Duration(r.Seconds * float64(time.Second)).Round(time.Second))
	})
	row("Changed", func(r service.Compared) string {
		if r.Problem != "" {
			return "not known: " + terminal.FirstLine(r.Problem)
		}
		return fmt.Sprint(len(r.Changed))
	})
	var paths []string
	for i := range both {
		for path := range both[i].Changed {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		one, other := both[0].Changed[path], both[1].Changed[path]
		if both[0].SameAs(both[1], path) {
			other = "the same"
		}
		rows = append(rows, []string{"· " + path, one, other})
	}
	var b strings.Builder
	b.WriteString(terminal.Table(width, 0, []string{"", both[0].Run, both[1].Run}, rows))
	for _, r := range both {
		if r.Report != "" {
			fmt.Fprintf(&b, "\n%s reported %s\n", r.Run, strings.TrimSpace(terminal.Clean(r.Report)))
		}
	}
	fmt.Fprintf(&b, "\nTo see the changes: %[1]s show RUN --diff\nTo keep one:        %[1]s keep RUN", program)
	return b.String()
}
