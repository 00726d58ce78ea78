package pack

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"claude-supervise/procs/claude"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/rules"
)

// This file is what is taken of the configuration in a pack file (see pack_trust.go).

// Withheld is something that a pack file grants and that was not taken along.
type Withheld struct {
	What  string `json:"what"`            // for people
	Again string `json:"again,omitempty"` // the flags of resume or unpack that give it here; "" if none do
}

// DefaultRetries is how often a passing failure is tried again where the person does not say.
const DefaultRetries = 3

// Harmless returns what can be taken of a configuration that comes from a file: it names no program, lets nothing run
// unasked, answers for nobody, and bounds the run no less than the defaults do, nor less than here where the run was
// started here. Of a file that is vouched for, what the person has granted stays: rules, answers in advance, retries.
func Harmless(cfg conf.Config, here *conf.Config, vouched bool) (conf.Config, []Withheld) {
	var w withholding
	w.programs(&cfg, here)
	w.flags(&cfg)
	w.rules(&cfg, vouched)
	w.limits(&cfg)
	if !vouched {
		w.answers(&cfg)
		w.retries(&cfg)
	}
	cfg.Retries = max(cfg.Retries, 0)
	if here != nil {
		cfg.MaxParallel = conf.LowerBound(cfg.MaxParallel, here.MaxParallel)
		cfg.MaxDepth = conf.LowerBound(cfg.MaxDepth, here.MaxDepth)
		cfg.MaxAgents = conf.LowerBound(cfg.MaxAgents, here.MaxAgents)
		cfg.Budget = conf.Lower(cfg.Budget, here.Budget)
	}
	sane(&cfg)
	return cfg, w
}

// sane puts the default in the place of what is no value.
func sane(cfg *conf.Config) {
	switch cfg.OnQuestion {
	case conf.Ask, conf.Park, conf.Fail:
	default:
		cfg.OnQuestion = ""
	}
	switch cfg.OnSilence {
	case conf.TellSilence, conf.RetrySilence, conf.FailSilence:
	default:
		cfg.OnSilence = conf.TellSilence
	}
	if cfg.Permissions != conf.DenyPermissions && cfg.Permissions != conf.AskRefused {
		cfg.Permissions = conf.AskPermissions
	}
	if cfg.Relaunch != conf.Fresh {
		cfg.Relaunch = conf.Resume
	}
	if cfg.Hold < 0 && cfg.Hold != conf.Forever {
		cfg.Hold = conf.DefaultHold
	}
	if cfg.SilentAfter < 0 {
		cfg.SilentAfter = conf.DefaultSilentAfter
	}
}

type withholding []Withheld

func (w *withholding) add(again, format string, args ...any) {
	*w = append(*w, Withheld{What: fmt.Sprintf(format, args...), Again: again})
}

// programs takes out what names programs, files and the span of another machine.
func (w *withholding) programs(cfg, here *conf.Config) {
	program, notify, parent, snapshots := "", []string(nil), "", (*conf.SnapshotTo)(nil)
	var where *claude.Whereabouts
	if here != nil {
		where = here.Where
		program, notify, parent, snapshots = here.Claude, here.Notify, here.TraceParent, here.Snapshots
	}
	cfg.TraceParent = parent
	cfg.Where, cfg.Toolless = where, false
	if cfg.Claude != program && cfg.Claude != "" {
		w.add("--claude PATH", "its claude, %s: the one on PATH is taken", cfg.Claude)
	}
	if len(cfg.Notify) > 0 && !slices.Equal(cfg.Notify, notify) {
		w.add("", "the command of --notify: %s", strings.Join(cfg.Notify, " "))
	}
	cfg.Claude, cfg.Notify, cfg.Snapshots = program, notify, snapshots
	if len(cfg.Exec) > 0 {
		w.add("--exec 'COMMAND {}'", "the command that runs in claude's place: %s", strings.Join(cfg.Exec, " "))
		cfg.Exec = []string{""} // it goes on with a command that the person gives
	}
	if DemoIsFile(cfg.Demo) {
		w.add("", "the scenario that it played, %s: the run cannot go on here, and starts no claude", cfg.Demo)
		cfg.Demo = withheldDemo
	}
	if cfg.KeepProcesses {
		w.add("", "--keep-processes: what the agent leaves running is ended")
		cfg.KeepProcesses = false
	}
}

// flags takes out the flags of claude that let something run unasked.
func (w *withholding) flags(cfg *conf.Config) {
	var dropped []string
	if cfg.Flags, dropped = claude.HarmlessFlags(cfg.Flags); len(dropped) > 0 {
		w.add("-- "+ShellLine(dropped), "flags of claude: %s", strings.Join(dropped, " "))
	}
}

// rules takes out the rules of what runs unasked, and what is no rule.
func (w *withholding) rules(cfg *conf.Config, vouched bool) {
	var allow []string
	for _, rule := range cfg.Allow {
		_, err := rules.Parse(rule)
		switch {
		case err != nil:
			w.add("", "the rule %s", rule)
		case vouched:
			allow = append(allow, rule)
		default:
			w.add("--allow "+ShellLine([]string{rule}), "the rule %s", rule)
		}
	}
	if cfg.AllowProject && !vouched {
		w.add("--allow project", "what the folder's own files permit and run")
	}
	if cfg.Permissions == conf.AskRefused && !vouched {
		w.add("--permissions ask-refused", "that you are asked about calls which claude refuses")
		cfg.Permissions = conf.AskPermissions
	}
	if cfg.AllowSessions && !vouched {
		w.add("--allow sessions", "messages to and from other sessions")
	}
	cfg.Allow, cfg.AllowProject, cfg.AllowSessions = allow, cfg.AllowProject && vouched, cfg.AllowSessions && vouched
	var deny []string
	for _, rule := range cfg.Deny {
		if _, err := rules.Parse(rule); err != nil {
			w.add("", "a denial that is not a rule: %s", rule)
			continue
		}
		deny = append(deny, rule)
	}
	cfg.Deny = deny
}

// answers takes out what answers for the person.
func (w *withholding) answers(cfg *conf.Config) {
	for _, p := range cfg.Answers {
		w.add("--answer "+ShellLine([]string{p.Key + "=" + p.Value}), "the answer given in advance to %q: %s", p.Key, p.Value)
	}
	cfg.Answers = nil
}

// retries takes out that more is tried again than by default.
func (w *withholding) retries(cfg *conf.Config) {
	if cfg.Retries > DefaultRetries {
		w.add(fmt.Sprint("--retries ", cfg.Retries), "--retries %d; here %d", cfg.Retries, DefaultRetries)
	}
	cfg.Retries = min(cfg.Retries, DefaultRetries)
}

// limits narrows what the run may use and start to what it may by default.
func (w *withholding) limits(cfg *conf.Config) {
	for _, l := range []struct {
		flag   string
		of     *int
		normal int
	}{
		{"--max-parallel", &cfg.MaxParallel, conf.DefaultMaxParallel},
		{"--max-depth", &cfg.MaxDepth, conf.DefaultMaxDepth},
		{"--max-agents", &cfg.MaxAgents, conf.DefaultMaxAgents},
	} {
		if *l.of > 0 && *l.of <= l.normal {
			continue
		}
		if was := max(*l.of, 0); was == 0 {
			w.add(l.flag+" 0", "%s: any number; here %d", l.flag, l.normal)
		} else {
			w.add(fmt.Sprint(l.flag, " ", was), "%s %d; here %d", l.flag, was, l.normal)
		}
		*l.of = l.normal
	}
	b := &cfg.Budget
	b.CostUSD, b.Tokens, b.Time, b.Turns = max(b.CostUSD, 0), max(b.Tokens, 0), max(b.Time, 0), max(b.Turns, 0)
	var known conf.Delegates
	var words []string
	for _, policy := range cfg.Delegate {
		words = append(words, string(policy))
		if policy != conf.AutoDelegations && policy != conf.DenyDelegations {
			policy = conf.AskDelegations
		}
		known = append(known, policy)
	}
	if slices.Contains(known, conf.AutoDelegations) {
		w.add("--delegate "+strings.Join(words, ","), "--delegate %s: each is asked about", strings.Join(words, ","))
	}
	cfg.Delegate = known.Within(conf.Delegates{conf.AskDelegations})
}

// withheldDemo is the scenario of a run whose own did not come along: the stand-in knows none of this name. Without a
// scenario such a run would go on with claude, and its login, by a conversation that never was.
const withheldDemo = "(a file that was not packed)"

// DemoIsFile reports whether a scenario is a file of the person's, not one that is built in.
func DemoIsFile(demo string) bool { return strings.ContainsAny(demo, "/\\.") }

// ShellLine writes words as a person types them into a shell.
func ShellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		var err error
		if quoted[i], err = syntax.Quote(word, syntax.LangBash); err != nil { // it holds what no shell takes
			quoted[i] = strconv.Quote(word)
		}
	}
	return strings.Join(quoted, " ")
}
