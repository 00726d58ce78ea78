package conf

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/procs/claude"
)

// Given is what a person grants a run, or bounds it by, after it was started: with resume or unpack. It is kept in the
// run's record like what was given with run. The zero value changes nothing.
type Given struct {
	Allow         []string    `json:",omitempty"` // rules of what runs unasked, beside those that there are
	AllowProject  bool        `json:",omitempty"`
	AllowSessions bool        `json:",omitempty"`
	Permissions   Permissions `json:",omitempty"`
	Flags         []string    `json:",omitempty"` // of claude, in the place of those of the same names
	Unrefused     bool        `json:",omitempty"` // those flags of claude that it has refused are left out
	Delegate      Delegates   `json:",omitempty"`
	MaxParallel   *int        `json:",omitempty"` // nil: as it was; 0: any number
	MaxDepth      *int        `json:",omitempty"`
	MaxAgents     *int        `json:",omitempty"`
	Budget        Budget      `json:",omitzero"`  // what is zero stays as it was
	Answers       []Preset    `json:",omitempty"` // to questions asked from now on, before those that it has
	Retries       *int        `json:",omitempty"` // nil: as it was
	AcceptIDs     []string    `json:",omitempty"` // that count as the agent's, beside those that do
}

// IsZero reports whether it changes nothing.
func (g Given) IsZero() bool {
	return len(g.Allow) == 0 && !g.AllowProject && !g.AllowSessions && g.Permissions == "" && len(g.Flags) == 0 &&
		!g.Unrefused && len(g.Delegate) == 0 && g.MaxParallel == nil && g.MaxDepth == nil && g.MaxAgents == nil &&
		g.Budget == (Budget{}) && len(g.Answers) == 0 && g.Retries == nil && len(g.AcceptIDs) == 0
}

// Fits says why a run cannot be given this: its agents do not understand some of it.
func (g Given) Fits(cfg Config) error {
	for _, of := range []struct {
		flag  string
		given bool
	}{
		{"--allow", len(g.Allow) > 0 || g.AllowProject || g.AllowSessions},
		{"--permissions", g.Permissions != ""},
		{HandedOn, len(g.Flags) > 0},
		{"--max-cost-usd", g.Budget.CostUSD > 0},
		{"--max-tokens", g.Budget.Tokens > 0},
		{"--max-turns", g.Budget.Turns > 0},
	} {
		if of.given && !cfg.Understands(of.flag) {
			return fmt.Errorf("%s is for claude, and this run runs another program (%s) in its place; nothing was changed",
				of.flag, cfg.Abilities().Flag)
		}
	}
	return nil
}

// Amend changes what a person asked for. refused returns the flags that claude did not know when it was last started.
func (g Given) Amend(cfg *Config, refused func() []string) {
	for _, rule := range g.Allow {
		if !slices.Contains(cfg.Allow, rule) {
			cfg.Allow = append(slices.Clip(cfg.Allow), rule)
		}
	}
	cfg.AllowProject = cfg.AllowProject || g.AllowProject
	cfg.AllowSessions = cfg.AllowSessions || g.AllowSessions
	if g.Permissions != "" {
		cfg.Permissions = g.Permissions
	}
	if g.Unrefused {
		cfg.Flags = claude.WithoutFlags(cfg.Flags, refused())
	}
	if len(g.Flags) > 0 {
		cfg.Flags = claude.ReplaceFlags(cfg.Flags, g.Flags)
	}
	if len(g.Delegate) > 0 {
		cfg.Delegate = g.Delegate
	}
	for _, limit := range []struct{ of, given *int }{
		{&cfg.MaxParallel, g.MaxParallel}, {&cfg.MaxDepth, g.MaxDepth}, {&cfg.MaxAgents, g.MaxAgents},
		{&cfg.Retries, g.Retries},
	} {
		if limit.given != nil {
			*limit.of = *limit.given
		}
	}
	cfg.Answers = replaced(cfg.Answers, g.Answers)
	cfg.AcceptIDs = append(slices.Clip(cfg.AcceptIDs), g.AcceptIDs...)
	cfg.Budget = Rebound(cfg.Budget, g.Budget)
}

// replaced puts the answers that are given before those that there are, in the place of those to the same.
func replaced(answers, given []Preset) []Preset {
	if len(given) == 0 {
		return answers
	}
	all := slices.Clone(given)
	for _, p := range answers {
		if !slices.ContainsFunc(given, func(g Preset) bool { return strings.EqualFold(g.Key, p.Key) }) {
			all = append(all, p)
		}
	}
	return all
}
