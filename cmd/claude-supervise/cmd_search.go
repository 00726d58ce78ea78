package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

func newSearch() *cobra.Command {
	var cwd string
	var most int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "search WORD...",
		Short: "find words in questions, answers, reports and tasks of all runs",
		Long: `Find all questions with their answers, all reports and all tasks in which every
one of the words stands, in any case, the latest first, and what your ordinary
sessions have asked here. Quote words that belong together.`,
		Example: "  claude-supervise search oauth\n" +
			"  claude-supervise search --cwd . \"rate limit\" redis",
		Args: help.Exactly(1, math.MaxInt, "the words to look for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if most < 1 {
				return usage("-n takes how many there may be at most, not %d", most)
			}
			if err := notInside(cmd); err != nil {
				return err
			}
			return runSearch(cmd.Context(), args, cwd, most, asJSON)
		},
	}
	cmd.Flags().StringVar(&cwd, "cwd", "", "only runs in or below `DIR`")
	cmd.Flags().IntVarP(&most, "most", "n", 20, "list at most `N`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	commands.CompletesFolder(cmd, "cwd")
	return commands.Completes(cmd, commands.Nothing, commands.Nothing)
}

func runSearch(ctx context.Context, words []string, cwd string, most int, asJSON bool) error {
	l, err := runs.Listing{}.Below(cwd)
	if err != nil {
		return err
	}
	found, err := service.Read(acting, func(r view.Reader) ([]view.Found, error) {
		return r.Search(ctx, words, most, l.Has)
	})
	if err != nil {
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error {
		if asJSON {
			return p.JSON(found)
		}
		return p.Result(foundText(found, p.Columns()))
	})
}

// foundText is what a person reads.
func foundText(found []view.Found, width int) string {
	if len(found) == 0 {
		return "Nothing has these words."
	}
	var b strings.Builder
	for i, f := range found {
		if i > 0 {
			b.WriteByte('\n')
		}
		id := f.Agent
		if f.Question != "" {
			id = f.Question
		}
		head := fmt.Sprintf("%s · %s of %s", terminal.When(f.At), f.Kind, strings.Trim(f.Run+" · "+f.RunName, " ·"))
		fmt.Fprintf(&b, "%s\n  %s\n", terminal.CleanLine(head, width), text.Cut(terminal.CleanLine(f.Text, 0), width-2))
		if f.Answer != "" {
			fmt.Fprintf(&b, "  = %s\n", text.Cut(terminal.CleanLine(f.Answer, 0), width-4))
		}
		fmt.Fprintf(&b, "  claude-supervise show %s\n", id)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
