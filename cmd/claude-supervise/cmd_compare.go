package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/service"
)

func newCompare() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare RUN RUN",
		Short: "show side by side what came of a question answered differently",
		Long: `Show two runs side by side of which one continues from a question of the other,
or both from the same question (answer --again): what was answered, how each
stands, what it took, what it changed since the question, and its report.`,
		Example: "  claude-supervise compare r-3f9a2c1b r-8d0e4f7a",
		Args:    help.Exactly(2, 2, "the ids of two runs"),
		RunE: func(cmd *cobra.Command, args []string) error {
			both, err := acting.Compare(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			return terminal.Print(func(p *terminal.Printer) error {
				if asJSON {
					return p.JSON(both)
				}
				return p.Result(sideBySide(p.Width(), both))
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return commands.Completes(cmd, commands.RunsOf(true, commands.AnyRun), commands.RunsOf(true, commands.AnyRun))
}

// sideBySide lays out two runs in columns, and below them what each reported.
func sideBySide(width int, both [2]service.Compared) string {
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
	fmt.Fprintf(&b, "\nTo see the changes: %[1]s show RUN --diff\nTo keep one:        %[1]s keep RUN", thisProgram)
	return b.String()
}
