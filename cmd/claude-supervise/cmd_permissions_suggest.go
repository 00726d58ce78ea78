package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/config"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/precedents"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

func newSuggest() *cobra.Command {
	var cwd string
	var write int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "suggest",
		Short: "suggest rules for what you have allowed again and again",
		Long: `List the rules that would have answered what you have allowed five times or more
in a folder and never refused there. Each permits exactly that call. Nothing is
changed, unless --write names a rule of the list: then it is added to your own
config.yaml, for that folder and what is below it.`,
		Example: "  claude-supervise permissions suggest\n" +
			"  claude-supervise permissions suggest --cwd . --write 1",
		Args: help.Exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			found, err := suggested(cmd.Context(), cwd)
			switch {
			case err != nil:
				return err
			case cmd.Flags().Changed("write") && (write < 1 || write > len(found)):
				return usage("there is no suggestion %d; `claude-supervise permissions suggest` lists them", write)
			case cmd.Flags().Changed("write"):
				return writeRule(found[write-1])
			}
			return terminal.Print(func(p *terminal.Printer) error {
				if asJSON {
					return p.JSON(found)
				}
				return p.Result(suggestedText(found))
			})
		},
	}
	cmd.Flags().StringVar(&cwd, "cwd", "", "only what was allowed in or below `DIR`")
	cmd.Flags().IntVar(&write, "write", 0, "add the `N`th rule of the list to your config.yaml")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	commands.CompletesFolder(cmd, "cwd")
	return commands.Completes(cmd, commands.Nothing, commands.Nothing)
}

func suggested(ctx context.Context, cwd string) ([]precedents.Suggestion, error) {
	l, err := runs.Listing{}.Below(cwd)
	if err != nil {
		return nil, err
	}
	found, err := service.Read(acting, func(r view.Reader) ([]precedents.Suggestion, error) {
		return precedents.Suggest(ctx, r.Store, func(run supervisor.Run) bool { return l.Has(view.RunView{Cwd: run.Cwd}) })
	})
	if err != nil {
		return nil, err
	}
	c, err := config.Load(os.Environ())
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(s precedents.Suggestion) bool {
		given, err := c.For(s.Cwd) // of a folder that is gone nothing is known
		return err == nil && slices.ContainsFunc(given, func(d config.Default) bool {
			return d.Flag == "allow" && d.Value == s.Rule
		})
	}), nil
}

// suggestedText is what a person reads.
func suggestedText(found []precedents.Suggestion) string {
	if len(found) == 0 {
		return fmt.Sprintf("Nothing was allowed %d times in a folder and never refused there.", precedents.Enough)
	}
	var b strings.Builder
	for i, s := range found {
		// A rule is never cut: its end may be what it is about.
		fmt.Fprintf(&b, "%3d  %s\n     in %s, allowed %d times, last on %s\n", i+1, terminal.CleanLine(s.Rule, 0),
			terminal.CleanLine(terminal.FromHome(s.Cwd), 0), s.Times, s.Last.Local().Format("2 Jan 2006"))
		for _, other := range s.Others {
			fmt.Fprintf(&b, "     would have let run, too: %s\n", terminal.CleanLine(other, 0))
		}
	}
	b.WriteString("To add one to your config.yaml: claude-supervise permissions suggest --write N")
	return b.String()
}

// writeRule puts a rule into the person's own config.
func writeRule(s precedents.Suggestion) error {
	path, text, err := config.AddRule(os.Environ(), s.Cwd, s.Rule)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := client.ReplaceFile(path, text, 0o600); err != nil {
		return fmt.Errorf("nothing was added: %w", err)
	}
	return terminal.Print(func(p *terminal.Printer) error {
		return p.Result(fmt.Sprintf("Runs in %s and below may do this without asking now: %s\n"+
			"To take it back, remove it from %s", terminal.CleanLine(terminal.FromHome(s.Cwd), 0),
			terminal.CleanLine(s.Rule, 0), terminal.FromHome(path)))
	})
}
