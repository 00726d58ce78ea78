package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/view"
)

func newPermissions() *cobra.Command {
	var revoke string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "permissions [RUN]",
		Short: "list or revoke the permissions of a run",
		Long: `List what a run permits its agents without asking: the rules of --allow, and the
rules given by answering allow-run. --revoke removes a rule, by its number or
its text. The agents of the run then ask again for what it permitted. (Claude
Code itself applies the rules of --allow, so such a rule stays in force until
the agent's process ends.)`,
		Example: "  claude-supervise permissions r-3f9a2c1b\n" +
			"  claude-supervise permissions r-3f9a2c1b --revoke 2\n" +
			"  claude-supervise permissions r-3f9a2c1b --revoke \"Bash(npm test)\"",
		Args: help.Exactly(0, 1, "the id of a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			revokes := cmd.Flags().Changed("revoke")
			if revokes {
				if err := notInside(cmd); err != nil {
					return err
				}
			}
			id, err := thisMachine.Chosen(cmd, args, commands.Choice{Takes: "the id of a run", Fits: commands.AnyRun,
				None: "there is no run that could have permissions", Reads: !revokes})
			if err != nil {
				return err
			}
			if revokes {
				return runRevoke(cmd.Context(), id, revoke)
			}
			return runPermissions(cmd.Context(), id, asJSON)
		},
	}
	cmd.Flags().StringVar(&revoke, "revoke", "", "revoke a `RULE`, given by its text or number")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(newSuggest())
	return commands.Completes(cmd, commands.RunsOf(true, commands.AnyRun), commands.Nothing)
}

func runPermissions(ctx context.Context, id string, asJSON bool) error {
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	d, err := r.Show(ctx, id)
	if err != nil {
		return err
	}
	if d.Question != nil {
		return usage("%s is a question; name its run instead", d.Question.ID)
	}
	v, err := r.Permissions(ctx, d.Run.ID)
	if err != nil {
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error {
		if asJSON {
			return p.JSON(v)
		}
		return p.Result(permissionsText(v))
	})
}

// permissionsText is what a person reads.
func permissionsText(v view.PermissionsView) string {
	var b strings.Builder
	if len(v.Rules) == 0 {
		b.WriteString("No rule permits anything without asking.\n")
	}
	for i, r := range v.Rules {
		from := r.From
		if r.Question != "" {
			from = "answer to " + r.Question + ", by " + r.From
		}
		if r.Folder != "" {
			from = "in " + r.Folder + ", " + from
		}
		// A rule is never cut: its end may be what it is about.
		fmt.Fprintf(&b, "%3d  %s\n     %s\n", i+1, terminal.CleanLine(r.Rule, 0), terminal.CleanLine(from, 0))
	}
	if len(v.Denied) > 0 {
		fmt.Fprintf(&b, "Never runs: %s\n", terminal.CleanLine(strings.Join(v.Denied, ", "), 0))
	}
	if v.Project {
		b.WriteString("What the folder's own files permit is in force, too (--allow project).\n")
	}
	if v.Sessions {
		b.WriteString("Messages to and from your other sessions are permitted (--allow sessions).\n")
	}
	if len(v.Flags) > 0 {
		fmt.Fprintf(&b, "Flags of claude: %s\n", terminal.CleanLine(strings.Join(v.Flags, " "), 0))
	}
	if v.Default == conf.DenyPermissions {
		b.WriteString("Everything else that claude asks for is denied.")
	} else {
		b.WriteString("A person is asked about everything else that claude asks for.")
	}
	return b.String()
}

func runRevoke(ctx context.Context, id, which string) error {
	client, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // what was left is on disk
	run, _, ended, err := client.Target(ctx, id)
	if err != nil {
		return err
	}
	v, err := client.Reader().Permissions(ctx, run)
	if err != nil {
		return err
	}
	rule := strings.TrimSpace(which)
	if n, err := strconv.Atoi(rule); err == nil {
		if n < 1 || n > len(v.Rules) {
			return usage("%s has no rule %d; `claude-supervise permissions %s` lists them", run, n, run)
		}
		rule = v.Rules[n-1].Rule
	}
	if !ended {
		err = client.Revoke(ctx, run, rule, terminal.Who("permissions"))
		ended = errors.Is(err, supervisor.ErrEnded)
	}
	switch {
	case ended:
		return terminal.Print(func(p *terminal.Printer) error {
			return p.Result(run + " has ended, and its rules with it.")
		})
	case err != nil:
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error {
		return p.Result(fmt.Sprintf("%s is revoked in %s.", terminal.CleanLine(rule, 0), run))
	})
}
