package request

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"claude-supervise/supervisor/nested"
	"claude-supervise/supervisor/records"
)

// nestedFlags are the flags of run that count inside an agent. All else is the run's, which a person has started.
var nestedFlags = []string{
	"file", "check", "model", "max-turns", "name", "cwd", "detach", "demo", "exec", "plain", "json",
	"quiet", "log", "no-notify",
}

// Nested returns what is asked for, and what is to be told of what does not count inside an agent.
func Nested(cmd *cobra.Command, o Request, f Flags, caller records.Caller) (t nested.NestedTask,
	told []string, err error) {
	switch {
	case f.Demo != "" && o.Config.Demo != caller.Demo:
		return t, nil,
			usage("--demo plays no other scenario inside agent %s, whose run has an agent of its own; nothing was started",
				caller.Agent)
	case f.exec != "" && !slices.Equal(o.Config.Exec, caller.Exec):
		return t, nil,
			usage("--exec runs no other program inside agent %s: the run's own does the work; leave it out, nothing was started",
				caller.Agent)
	case len(o.Children) > 0 && f.each != "":
		return t, nil, usage("--each makes no pool inside agent %s: start a run for each item; nothing was started",
			caller.Agent)
	case len(o.Children) > 0:
		return t, nil,
			usage("a task file inside agent %s states one task: start a run for each of its children; nothing was started",
				caller.Agent)
	}
	t = nested.NestedTask{Task: o.Task, Model: f.model, MaxTurns: f.maxTurns}
	place, within := nested.Within(caller, o.Cwd)
	switch t.Cwd = place; {
	case within && place == caller.Cwd:
		t.Cwd = ""
	case within:
	case cmd.Flags().Changed("cwd"):
		return t, nil, usage("--cwd names a folder inside that of agent %s, which is %s; nothing was started",
			caller.Agent, caller.Cwd)
	default:
		told = append(told, "It works in "+caller.Cwd+", the folder of agent "+caller.Agent+".")
	}
	var idle []string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains(nestedFlags, flag.Name) {
			idle = append(idle, "--"+flag.Name)
		}
	})
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		idle = append(idle, "what follows --")
	}
	if len(idle) > 0 {
		told = append(told, fmt.Sprintf("Of no effect inside agent %s, whose run has its own: %s.",
			caller.Agent, strings.Join(idle, ", ")))
	}
	return t, told, nil
}
