package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/config"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/release"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/exit"
)

func newDoctor() *cobra.Command {
	var claude string
	var asJSON, schema, report bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "check the setup",
		Long: `Check that everything needed for runs is installed, and which channels the
installed claude supports: how its agents can ask, and how they get their
answers.

BAD marks a problem that prevents runs from working; the exit code is then 1. A
dash (-) marks a channel that this release lacks. Runs work without it, in the
way that is shown.

It also says whether snapshots can be put where the unfinished runs put theirs,
which programs of a fleet are installed, and whether they are of the same
release.

At the end, doctor lists the flags of run that have another default in this
folder, each with its source. --json also lists those with their usual default.
A flag takes precedence over an environment variable
(CLAUDE_SUPERVISE_HOLD=10m), and an environment variable over your own
~/.config/claude-supervise/config.yaml:

  # yaml-language-server: $schema=config.schema.json
  hold: 10m
  max_cost_usd: 5
  folders:
    ~/work/api: {max_cost_usd: 20}
  serve:
    url: https://desk.example.org   # of the page, as your phone reaches it
  notify:
    ntfy: {url: https://ntfy.sh/TOPIC, token_file: ~/.config/ntfy.token}
    webhook: {url: https://example.org/x, secret_file: ~/.config/hook.key}
    permissions: false   # true: a button may permit what is shown whole
    terminal: true   # false: its title does not say that something is asked

--report prints what a bug report needs, as Markdown: the setup and the outcome
of the latest runs. It holds nothing that you or an agent wrote, and no paths or
secrets.

For help in an editor, save what --config-schema prints next to config.yaml. No
file of a repository is read as config, and inside an agent no config is read at
all.`,
		Example: "  claude-supervise doctor\n  claude-supervise doctor --claude ~/bin/claude\n" +
			"  claude-supervise doctor --config-schema > config.schema.json\n" +
			"  claude-supervise doctor --report > report.md",
		Args: help.Exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if schema {
				return terminal.Print(func(p *terminal.Printer) error { return p.Result(config.Schema()) })
			}
			found := append(doctor.Doctor(cmd.Context(), claude, os.Environ()), fleetFound(cmd.Context()),
				request.InForce(claude, newRun().Flags()))
			if report {
				return terminal.Print(func(p *terminal.Printer) error {
					return p.Result(doctor.Report(cmd.Context(), release.Line(string(thisProgram)), found, os.Environ()))
				})
			}
			return tellFindings(found, asJSON)
		},
	}
	cmd.Flags().StringVar(&claude, "claude", "", "check the claude at `PATH` (default: the one that run uses)")
	cmd.Flags().BoolVar(&schema, "config-schema", false, "print the JSON Schema of your config.yaml")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	cmd.Flags().BoolVar(&report, "report", false, "print what a bug report needs")
	return cmd
}

func tellFindings(found []doctor.Finding, asJSON bool) error {
	err := terminal.Print(func(p *terminal.Printer) error {
		if asJSON {
			return p.JSON(found)
		}
		var group string
		for _, f := range grouped(found) {
			if of := groupOf(f); of != group {
				head := of
				if group != "" {
					head = "\n" + of
				}
				if group = of; p.Result(head) != nil {
					break // the next one says it
				}
			}
			verdict := "ok "
			switch {
			case !f.OK:
				verdict = "BAD"
			case f.Lacks:
				verdict = "-  "
			}
			if err := p.Item(fmt.Sprintf("%s  %-10s ", verdict, f.Title()), f.Text); err != nil {
				return err
			}
			for _, s := range f.Settings {
				if s.From == request.FromDefault {
					continue // run --help has these
				}
				if err := p.Item(fmt.Sprintf("     %-18s ", s.Flag), fmt.Sprintf("%s (%s)", s.Value, s.From)); err != nil {
					return err
				}
			}
			for _, c := range f.Channels {
				verdict := "ok "
				if !c.Has {
					verdict = "-  " // nothing is bad: a run does without
				}
				if err := p.Item(fmt.Sprintf("%s  %-18s ", verdict, c.Name), c.How); err != nil {
					return err
				}
			}
		}
		return p.Said("\n" + toDo(found))
	})
	if err == nil && slices.ContainsFunc(found, func(f doctor.Finding) bool { return !f.OK }) {
		return exitcode.Error(exit.Failed)
	}
	return err
}

// checked are the groups in which findings are shown, by their names.
var checked = []struct {
	title string
	names []string
}{
	{"Claude Code", []string{"claude", "login", "release"}},
	{"You and this folder", []string{"trust", "settings", "config"}},
	{"This machine", nil}, // and whatever else there is
}

func groupOf(f doctor.Finding) string {
	for _, g := range checked {
		if slices.Contains(g.names, f.Name) {
			return g.title
		}
	}
	return checked[len(checked)-1].title
}

// grouped are the findings, those of a group behind one another.
func grouped(found []doctor.Finding) (all []doctor.Finding) {
	for _, g := range checked {
		for _, f := range found {
			if groupOf(f) == g.title {
				all = append(all, f)
			}
		}
	}
	return all
}

// toDo says that runs can be started, or the one thing that is to be done first.
func toDo(found []doctor.Finding) string {
	for _, bad := range []func(doctor.Finding) bool{
		func(f doctor.Finding) bool { return !f.OK }, func(f doctor.Finding) bool { return f.Lacks },
	} {
		if i := slices.IndexFunc(found, bad); i >= 0 {
			return "To do first: " + found[i].Title() + ": " + found[i].Text
		}
	}
	return "Ready: claude-supervise run \"TASK\""
}
