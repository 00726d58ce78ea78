package supervisor

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/rules"
	"claude-supervise/supervisor/text"
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

// give takes what the person gives the run, and answers what it decides of the questions that are open.
func (d *transition) give(g Given) {
	if g.IsZero() {
		return
	}
	cfg := &d.Config
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
		cfg.Flags = claude.WithoutFlags(cfg.Flags, d.refusedFlags())
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
	if g.Budget != (Budget{}) {
		cfg.Budget = rebound(cfg.Budget, g.Budget)
		root := d.agent(d.Run.Root)
		root.Budget = bounding(rebound(boundsOf(root), g.Budget))
		d.indexAnew()
	}
	d.run().Config = text.JSON(d.Config)
	d.decideGiven(g)
}

// BlamesFlag reports whether claude could not be started because of a flag that it was given.
func BlamesFlag(a *Agent) bool {
	return a.Fault == string(procs.RefusedFlag) || strings.Contains(a.Reason, ": error: option '")
}

// NeedsLogin reports whether an agent has failed because claude is not logged in, or has a key that is not accepted.
func NeedsLogin(a *Agent) bool { return a.Fault == string(procs.Login) }

// refusedFlags are the flags that claude did not know when it was last started.
func (d *transition) refusedFlags() []string {
	var flags []string
	for _, a := range d.AllAgents() {
		if words := strings.Fields(a.Reason); a.Fault == string(procs.RefusedFlag) && len(words) > 0 {
			flags = append(flags, words[len(words)-1])
		}
	}
	return flags
}

// decideGiven answers the open questions whose answer the person has just given: a rule permits what is asked, or
// nobody is asked.
func (d *transition) decideGiven(g Given) {
	var given []rules.Rule
	for _, text := range g.Allow {
		if r, err := rules.Parse(text); err == nil {
			given = append(given, r)
		}
	}
	for _, q := range d.FindQuestions(IsOpen) {
		note := InboxEntry{Question: q.ID, At: d.at}
		switch kind := questions.KindOf(q.Kind); {
		case kind.Ruled:
			call, err := rules.Parse(q.Rule)
			switch folder := d.Folder(q.Agent); {
			case g.Permissions == DenyPermissions:
				note.Value, note.By = Deny+" "+prompts.PermissionsDenied, "--permissions deny"
			case q.Rule != "" && err == nil && questions.Allowable(q) &&
				rules.Covered(givenIn(given, cwdOf(q)), call.From(folder), folder):
				note.Value, note.By = Allow, "--allow"
			}
		case kind.Hands:
			if a := d.Agents[q.Agent]; len(g.Delegate) > 0 && a != nil {
				note.Value, note.By = d.verdict(a, WorkIn(q))
			}
		}
		if note.Value != "" {
			d.answer(note)
		}
	}
}

// givenIn leaves of the rules that --allow gives, for the agents' own folders, those that hold where a call is made.
func givenIn(given []rules.Rule, cwd string) []rules.Rule {
	if cwd == "" {
		return given
	}
	return slices.DeleteFunc(slices.Clone(given), isCommand)
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
