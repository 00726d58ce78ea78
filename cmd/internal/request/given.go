package request

import (
	"slices"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/doctor"
)

// Grants are what a person grants a run after it was started, and bounds it by.
type Grants struct {
	budgetFlags
	allow, answers, acceptIDs        []string
	answersFile                      string
	retries                          int
	permissions, delegate            string
	maxParallel, maxDepth, maxAgents int
}

// AddGrants adds the flags of what a run is granted to a command.
func AddGrants(cmd *cobra.Command, f *Grants) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.allow, "allow", nil, "permit this `RULE`, project or sessions unasked")
	fl.StringArrayVar(&f.answers, "answer", nil, "answer in advance: `KEY=VALUE`")
	fl.StringVar(&f.answersFile, "answers", "", "a YAML or JSON `FILE` of such answers")
	fl.StringArrayVar(&f.acceptIDs, "accept-id", nil, "also accept signals with this `ID`")
	fl.IntVar(&f.retries, "retries", 0, "retry a transient failure up to `N` times")
	fl.StringVar(&f.permissions, "permissions", "", "`ACTION`: ask you, or deny")
	fl.StringVar(&f.delegate, "delegate", "", "`ACTION`: ask, auto, deny, or by depth")
	fl.IntVar(&f.maxParallel, "max-parallel", 0, "at most `N` agents at a time; 0: no limit")
	fl.IntVar(&f.maxDepth, "max-depth", 0, "at most `N` levels of children; 0: no limit")
	fl.IntVar(&f.maxAgents, "max-agents", 0, "at most `N` agents in a run; 0: no limit")
	addBudgetFlags(cmd, &f.budgetFlags)
	commands.CompletesPolicies(cmd)
}

// Read reads the flags; passed is what follows --.
func (f Grants) Read(cmd *cobra.Command, passed []string) (g supervisor.Given, err error) {
	if slices.Contains(f.allow, allowTask) {
		return g, usage("--allow task is for run, which reads the task file: give the rules themselves")
	}
	granted, err := allowed(f.allow)
	if err != nil {
		return g, err
	}
	g.Allow, g.AllowProject, g.AllowSessions = granted.rules, granted.project, granted.sessions
	if g.Permissions = supervisor.Permissions(f.permissions); g.Permissions != "" {
		if err := supervisor.CheckPermissions(g.Permissions); err != nil {
			return g, usage("--permissions %w", err)
		}
	}
	if f.delegate != "" {
		if g.Delegate, err = supervisor.ParseDelegates(f.delegate); err != nil {
			return g, usage("--delegate %w", err)
		}
	}
	for _, limit := range []struct {
		flag string
		n    int
		of   **int
	}{
		{"max-parallel", f.maxParallel, &g.MaxParallel}, {"max-depth", f.maxDepth, &g.MaxDepth},
		{"max-agents", f.maxAgents, &g.MaxAgents}, {"retries", f.retries, &g.Retries},
	} {
		switch {
		case limit.n < 0:
			return g, usage("--%s takes 0 or more, not %d", limit.flag, limit.n)
		case cmd.Flags().Changed(limit.flag):
			*limit.of = &limit.n
		}
	}
	g.AcceptIDs = f.acceptIDs
	if g.Answers, err = presets(f.answers, f.answersFile); err != nil {
		return g, err
	}
	if why := doctor.ReservedFlag(passed); why != "" {
		return g, usage("%s", why)
	}
	g.Flags, g.Unrefused = passed, passed != nil
	g.Budget, err = f.budget()
	return g, err
}

// BeforeDash parts the arguments of a command line at its --.
func BeforeDash(cmd *cobra.Command, args []string) (own, passed []string) {
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		return args[:dash], args[dash:]
	}
	return args, nil
}

// ExactlyBeforeDash is help.Exactly for a command that passes on what follows --.
func ExactlyBeforeDash(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		own, _ := BeforeDash(cmd, args)
		return help.Exactly(least, most, what)(cmd, own)
	}
}
