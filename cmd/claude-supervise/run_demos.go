package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/completion"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/examples"
)

// listDemos shows the built-in scenarios by what they show, each with what it is about: in 80 columns, through a pager
// where they are more than the terminal has lines.
func listDemos() error {
	var list strings.Builder
	for _, group := range examples.Groups() {
		fmt.Fprintf(&list, "%s:\n", group.Title)
		for _, name := range group.Names {
			for i, line := range strings.Split(ansi.Wrap(aboutDemo(name), 80-demoIndent, ""), "\n") {
				if i > 0 {
					name = ""
				}
				fmt.Fprintf(&list, "  %-*s%s\n", demoIndent-2, name, line)
			}
		}
		list.WriteString("\n")
	}
	list.WriteString("Play one: claude-supervise run --demo tour\n")
	if err := terminal.Page(os.Stdout, list.String(), os.LookupEnv); err != nil {
		return fmt.Errorf("cannot write the output: %w", err)
	}
	return nil
}

// demoIndent is longer than every name.
const demoIndent = 28

// aboutDemo says what a built-in scenario is about, in a line.
func aboutDemo(name string) string {
	scenario, err := examples.Load(name)
	if err != nil {
		return ""
	}
	return scenario.About
}

// completesDemo makes --demo complete to the built-in scenarios, or a file.
func completesDemo(cmd *cobra.Command) {
	completion.FlagOrFile(cmd, "demo", func(context.Context, []string) (found completion.Words) {
		for _, name := range examples.Names() {
			found.Add(name, aboutDemo(name))
		}
		return found
	})
}
