package commands

import (
	"context"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/completion"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

// A Completer adds what the state has for a place of the command line.
type Completer func(ctx context.Context, r view.Reader, args []string, add *completion.Words)

// Completes makes the arguments of a command complete: the first by the first Completer, and so on; the last goes on
// for the rest.
func Completes(cmd *cobra.Command, by ...Completer) *cobra.Command {
	var sources []completion.Source
	for _, by := range by {
		sources = append(sources, ByState(by))
	}
	completion.Arguments(cmd, sources...)
	return cmd
}

// ByState completes by what is in the state.
func ByState(by Completer) completion.Source {
	return func(ctx context.Context, args []string) (found completion.Words) {
		r, err := view.OpenReader()
		if err != nil {
			return found
		}
		defer func() { _ = r.Close() }() // only read
		by(ctx, r, args, &found)
		return found
	}
}

// CompletesPolicies makes what becomes of permissions and delegations complete.
func CompletesPolicies(cmd *cobra.Command) {
	completion.Flag(cmd, "permissions", completion.Fixed("ask\ta person decides", "deny\tdeny without asking"))
	completion.Flag(cmd, "delegate", completion.Fixed("ask\ta person decides", "auto\tapprove without asking",
		"deny\tagents cannot start others"))
}

// Nothing completes what a person has to make up.
func Nothing(context.Context, view.Reader, []string, *completion.Words) {}

// RunsOf completes the runs that are wanted, by their ids and their names.
func RunsOf(all bool, wanted func(view.RunView) bool) Completer {
	return func(ctx context.Context, r view.Reader, _ []string, found *completion.Words) {
		views, err := r.Runs(ctx, all)
		if err != nil {
			return
		}
		for _, v := range views {
			if wanted(v) {
				found.Add(v.ID, string(v.Status), terminal.CleanLine(runs.Title(v), 30))
				found.Add(v.Name, string(v.Status), v.ID)
			}
		}
	}
}

// AgentsOf completes the agents of runs that have not ended.
func AgentsOf(ctx context.Context, r view.Reader, _ []string, found *completion.Words) {
	views, err := r.Runs(ctx, false)
	if err != nil {
		return
	}
	for _, v := range views {
		for _, a := range v.Agents {
			found.Add(a.ID, string(a.Status), a.Who)
		}
	}
}

// QuestionsOf completes the questions that are open.
func QuestionsOf(ctx context.Context, r view.Reader, _ []string, found *completion.Words) {
	open, err := r.Questions(ctx)
	if err != nil {
		return
	}
	for _, q := range open {
		found.Add(q.ID, string(q.Kind), q.Question)
	}
}

// OptionsOf completes the options of the question that the first argument names: an option by its label where
// that can be typed, else by its number or letter.
func OptionsOf(ctx context.Context, r view.Reader, args []string, found *completion.Words) {
	open, err := r.Questions(ctx)
	if err != nil {
		return
	}
	for _, q := range open {
		if q.ID != args[0] && q.ID != "q-"+args[0] {
			continue
		}
		asked := asking.Shown(q)
		byLabel, byKey := asked.Typed()
		for i, o := range asked.Options {
			if !byLabel[i] || !found.Add(o.Label, o.Description) {
				found.Add(byKey[i], o.Label, o.Description)
			}
		}
	}
}

// EitherOf completes what one of several does.
func EitherOf(all ...Completer) Completer {
	return func(ctx context.Context, r view.Reader, args []string, found *completion.Words) {
		for _, by := range all {
			by(ctx, r, args, found)
		}
	}
}

// AnyRun wants each run.
func AnyRun(view.RunView) bool { return true }

// HasEnded wants runs that have ended.
func HasEnded(v view.RunView) bool { return v.EndedAt != nil }

// IsLeft wants runs that have not ended, and that nobody supervises.
func IsLeft(v view.RunView) bool { return v.EndedAt == nil && !v.GoesOn() }

// CompletesFolder makes a flag complete to folders.
func CompletesFolder(cmd *cobra.Command, flag string) {
	if err := cmd.MarkFlagDirname(flag); err != nil {
		panic(err) // there is no such flag
	}
}

// EndedAgents completes the agents that have ended, of all runs.
func EndedAgents(ctx context.Context, r view.Reader, _ []string, found *completion.Words) {
	views, err := r.Runs(ctx, true)
	if err != nil {
		return
	}
	for _, v := range views {
		for _, a := range v.Agents {
			if a.EndedAt != nil {
				found.Add(a.ID, string(a.Status), a.Who, terminal.FirstLine(a.Task))
			}
		}
	}
}
