package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/examples"
	"claude-supervise/supervisor/view"
)

// A completer gives what can stand at a place of the command line, each with what it is. What cannot be read completes
// to nothing: a shell has no place for an error.
type completer func(ctx context.Context, r view.Reader, args []string) []cobra.Completion

// completes makes the arguments of a command complete: the first by the first completer, and so on; the last goes on
// for the rest.
func completes(cmd *cobra.Command, by ...completer) *cobra.Command {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion,
		cobra.ShellCompDirective) {
		found, directive := byState(by[min(len(args), len(by)-1)])(cmd, args, typed)
		return slices.DeleteFunc(found, func(c cobra.Completion) bool {
			id, _, _ := strings.Cut(c, "\t")
			return slices.Contains(args, id)
		}), directive
	}
	return cmd
}

// byState completes by what is in the state, and to no files.
func byState(by completer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		r, err := view.OpenReader()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer func() { _ = r.Close() }() // only read
		return by(cmd.Context(), r, args), cobra.ShellCompDirectiveNoFileComp
	}
}

// completesFlag makes a flag complete to one of some values.
func completesFlag(cmd *cobra.Command, flag string, values ...cobra.Completion) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag
	}
}

// completesPolicies makes what becomes of permissions and delegations complete.
func completesPolicies(cmd *cobra.Command) {
	completesFlag(cmd, "permissions", "ask\ta person decides", "deny\tdeny without asking")
	completesFlag(cmd, "delegate", "ask\ta person decides", "auto\tapprove without asking",
		"deny\tagents cannot start others")
}

// completeNothing completes what a person has to make up.
func completeNothing(context.Context, view.Reader, []string) []cobra.Completion { return nil }

// completeRuns completes the runs that are wanted, by their ids and their names.
func completeRuns(all bool, wanted func(view.RunView) bool) completer {
	return func(ctx context.Context, r view.Reader, _ []string) (found []cobra.Completion) {
		views, err := r.Runs(ctx, all)
		if err != nil {
			return nil
		}
		for _, v := range views {
			if !wanted(v) {
				continue
			}
			what := inAFewWords(string(v.Status), terminal.CleanLine(runs.Title(v), 30))
			found = append(found, cobra.CompletionWithDesc(v.ID, what))
			if v.Name != "" && !strings.ContainsAny(v.Name, "\t\n") {
				found = append(found, cobra.CompletionWithDesc(v.Name, inAFewWords(string(v.Status), v.ID)))
			}
		}
		return found
	}
}

// completeAgents completes the agents of runs that have not ended.
func completeAgents(ctx context.Context, r view.Reader, _ []string) (found []cobra.Completion) {
	views, err := r.Runs(ctx, false)
	if err != nil {
		return nil
	}
	for _, v := range views {
		for _, a := range v.Agents {
			found = append(found, cobra.CompletionWithDesc(a.ID, inAFewWords(string(a.Status), a.Who)))
		}
	}
	return found
}

// completeQuestions completes the questions that are open.
func completeQuestions(ctx context.Context, r view.Reader, _ []string) (found []cobra.Completion) {
	open, err := r.Questions(ctx)
	if err != nil {
		return nil
	}
	for _, q := range open {
		found = append(found, cobra.CompletionWithDesc(q.ID, inAFewWords(string(q.Kind), q.Question)))
	}
	return found
}

// completeOptions completes the options of the question that the first argument names.
func completeOptions(ctx context.Context, r view.Reader, args []string) (found []cobra.Completion) {
	open, err := r.Questions(ctx)
	if err != nil {
		return nil
	}
	for _, q := range open {
		if q.ID != args[0] && strings.TrimPrefix(q.ID, "q-") != args[0] {
			continue
		}
		for _, o := range q.Options {
			found = append(found, cobra.CompletionWithDesc(o.Label, inAFewWords(o.Description)))
		}
	}
	return found
}

// completeEither completes what one of several does.
func completeEither(all ...completer) completer {
	return func(ctx context.Context, r view.Reader, args []string) (found []cobra.Completion) {
		for _, by := range all {
			found = append(found, by(ctx, r, args)...)
		}
		return found
	}
}

// inAFewWords joins what a completion is, in one short line that is safe to show.
func inAFewWords(parts ...string) string {
	return terminal.CleanLine(strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ": "), 60)
}

func anyRun(view.RunView) bool { return true }

func hasEnded(v view.RunView) bool { return v.EndedAt != nil }

func isLeft(v view.RunView) bool { return v.EndedAt == nil && !v.GoesOn() }

// completesDemo makes --demo complete to the built-in scenarios.
func completesDemo(cmd *cobra.Command) {
	err := cmd.RegisterFlagCompletionFunc("demo",
		func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var found []cobra.Completion
			for _, name := range examples.Names() {
				found = append(found, cobra.CompletionWithDesc(name, inAFewWords(aboutDemo(name))))
			}
			return found, cobra.ShellCompDirectiveDefault // or a file
		})
	if err != nil {
		panic(err) // there is no such flag
	}
}

// completesFlagBy makes a flag complete by what is in the state.
func completesFlagBy(cmd *cobra.Command, flag string, by completer) {
	if err := cmd.RegisterFlagCompletionFunc(flag, byState(by)); err != nil {
		panic(err) // there is no such flag
	}
}

// completesFolder makes a flag complete to folders.
func completesFolder(cmd *cobra.Command, flag string) {
	if err := cmd.MarkFlagDirname(flag); err != nil {
		panic(err) // there is no such flag
	}
}

// completeEndedAgents completes the agents that have ended, of all runs.
func completeEndedAgents(ctx context.Context, r view.Reader, _ []string) (found []cobra.Completion) {
	views, err := r.Runs(ctx, true)
	if err != nil {
		return nil
	}
	for _, v := range views {
		for _, a := range v.Agents {
			if a.EndedAt != nil {
				what := inAFewWords(string(a.Status), a.Who, terminal.FirstLine(a.Task))
				found = append(found, cobra.CompletionWithDesc(a.ID, what))
			}
		}
	}
	return found
}
