package request

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/examples"
	"claude-supervise/supervisor/pack"
	"claude-supervise/supervisor/view"
)

// scenarioFlags may be set by a scenario: its file may come with a repository that nobody has read, and so names no
// program.
var scenarioFlags = []string{"delegate", "max-parallel", "max-depth", "max-agents", "max-cost-usd",
	"max-tokens", "max-time", "max-turns"}

// SetOwnFlags gives a scenario the flags that it is played with, where the person has not given the same.
func SetOwnFlags(cmd *cobra.Command, demo string) error {
	if demo == "" {
		return nil
	}
	scenario, err := examples.Load(demo)
	if err != nil {
		return exitcode.UsageError{Err: err}
	}
	for flags := scenario.Flags; len(flags) > 1; flags = flags[2:] {
		name := strings.TrimPrefix(flags[0], "--")
		if cmd.Flags().Changed(name) {
			continue
		}
		own := name == "permissions" && !pack.DemoIsFile(demo) // ours widens nothing
		if !own && !slices.Contains(scenarioFlags, name) {
			return usage("--demo %s sets %s, which is for the person to give; nothing was started", demo, flags[0])
		}
		if err := cmd.Flags().Set(name, flags[1]); err != nil {
			return usage("--demo %s: %s: %w", demo, flags[0], err)
		}
	}
	return nil
}

// goOnFrom makes the order one for the conversation of an agent that has ended.
func (o *Request) goOnFrom(ctx context.Context, agent string, f Flags) error {
	other := ""
	switch {
	case !o.Config.Abilities().Resumes:
		other = o.Config.Abilities().Flag + ", which keeps no conversation"
	case f.Demo != "":
		other = "--demo, which is not a conversation of claude's"
	case f.cwd != "":
		other = "--cwd: it works where the agent did"
	}
	if other != "" {
		return usage("--continue does not go with %s; nothing was started", other)
	}
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	c, err := r.Continuation(ctx, agent)
	if err != nil {
		return err
	}
	o.From, o.Cwd = c.Session, c.Cwd
	o.Config.AcceptIDs = append(o.Config.AcceptIDs, c.IDs...)
	return nil
}
