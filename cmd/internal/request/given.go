package request

import (
	"slices"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/doctor"
)

// Grants are what a person grants a run, and bounds it by: when it is started, and when it goes on.
type Grants struct {
	budgetFlags
	allow, answers, acceptIDs        []string
	answersFile                      string
	retries                          int
	permissions, delegate            string
	maxParallel, maxDepth, maxAgents int
}

// AddGrants adds the flags of what a run is granted after it was started to a command.
func AddGrants(cmd *cobra.Command, f *Grants) {
	addGrants(cmd, f, Grants{}, "permit this `RULE`, project or sessions unasked", "also accept signals with this `ID`")
}

// addGrants adds the flags, with what they are where nobody gives them; allow and accept are the usage of two.
func addGrants(cmd *cobra.Command, f *Grants, usual Grants, allow, accept string) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.allow, "allow", nil, allow)
	fl.StringArrayVar(&f.answers, "answer", nil, "answer in advance: `KEY=VALUE`")
	fl.StringVar(&f.answersFile, "answers", "", "a YAML or JSON `FILE` of such answers")
	fl.StringArrayVar(&f.acceptIDs, "accept-id", nil, accept)
	fl.IntVar(&f.retries, "retries", usual.retries, "retry a transient failure up to `N` times")
	fl.StringVar(&f.permissions, "permissions", usual.permissions, "`ACTION`: ask, ask-refused or deny")
	fl.StringVar(&f.delegate, "delegate", usual.delegate, "`ACTION`: ask, auto, deny, or by depth")
	fl.IntVar(&f.maxParallel, "max-parallel", usual.maxParallel, "at most `N` agents at a time; 0: no limit")
	fl.IntVar(&f.maxDepth, "max-depth", usual.maxDepth, "at most `N` levels of children; 0: no limit")
	fl.IntVar(&f.maxAgents, "max-agents", usual.maxAgents, "at most `N` agents in a run; 0: no limit")
	addBudgetFlags(cmd, &f.budgetFlags)
	commands.CompletesPolicies(cmd)
}

// Read reads the flags of a run that goes on, in which nothing that is not given changes; passed is what follows --.
func (f Grants) Read(cmd *cobra.Command, passed []string) (g conf.Given, err error) {
	if slices.Contains(f.allow, allowTask) {
		return g, usage("--allow task is for run, which reads the task file: give the rules themselves")
	}
	if g, err = f.read(passed, func(text string) bool { return text != "" }); err != nil {
		return g, err
	}
	for flag, to := range map[string]**int{"max-parallel": &g.MaxParallel, "max-depth": &g.MaxDepth,
		"max-agents": &g.MaxAgents, "retries": &g.Retries} {
		if !cmd.Flags().Changed(flag) {
			*to = nil
		}
	}
	g.Unrefused = passed != nil
	return g, nil
}

// read reads the flags. Permissions and delegations are read where they are given.
func (f Grants) read(passed []string, given func(text string) bool) (g conf.Given, err error) {
	g = conf.Given{Permissions: conf.Permissions(f.permissions), MaxParallel: &f.maxParallel,
		MaxDepth: &f.maxDepth, MaxAgents: &f.maxAgents, Retries: &f.retries, AcceptIDs: f.acceptIDs, Flags: passed}
	if err := allowed(f.allow, &g); err != nil {
		return g, err
	}
	if given(f.permissions) {
		if conf.CheckPermissions(g.Permissions) != nil && g.Permissions != conf.AskRefused {
			return g, usage("--permissions takes ask, ask-refused or deny, not %q", f.permissions)
		}
	}
	if given(f.delegate) {
		if g.Delegate, err = conf.ParseDelegates(f.delegate); err != nil {
			return g, usage("--delegate %w", err)
		}
	}
	for _, limit := range []struct {
		flag string
		n    int
	}{
		{"max-parallel", f.maxParallel}, {"max-depth", f.maxDepth}, {"max-agents", f.maxAgents}, {"retries", f.retries},
	} {
		if limit.n < 0 {
			return g, usage("--%s takes 0 or more, not %d", limit.flag, limit.n)
		}
	}
	if g.Answers, err = presets(f.answers, f.answersFile); err != nil {
		return g, err
	}
	if why := doctor.ReservedFlag(passed); why != "" {
		return g, usage("%s", why)
	}
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
