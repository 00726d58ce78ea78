package standin

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/pflag"
)

// Permission modes that the stand-in plays, by the names that the stream uses.
const (
	modeDefault = "default"
	modeEdits   = "acceptEdits"
	modeBypass  = "bypassPermissions"
	modeAuto    = "auto" // its check does not run, as with a server that does not pass it on
)

type options struct {
	session  string // "" for a new one
	resume   bool
	at       string // the line at which it is continued, "": its end
	fork     string // the session that the new one goes on from
	mode     string
	allowed  []string  // rules: Bash, Bash(git:*), Write
	denied   []string  // the same
	replay   bool      // --replay-user-messages
	servers  []string  // of --mcp-config: those that the other side serves itself,
	programs []program // and those that are started

	subagentText bool // --forward-subagent-text
	model        string
	budget       float64 // what the process may cost, in USD; 0: no bound
	maxTurns     int     // how many replies a turn may have; 0: no bound
}

// A ruleList is the rules of a flag, divided by the commas that stand in no parentheses.
type ruleList []string

func (l *ruleList) String() string { return strings.Join(*l, ",") }

// Type is what pflag calls it.
func (l *ruleList) Type() string { return "rules" }

// Set adds the rules of one use of the flag.
func (l *ruleList) Set(text string) error {
	depth, begin := 0, 0
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth <= 0:
			*l = append(*l, text[begin:i])
			begin = i + 1
		}
	}
	*l = append(*l, text[begin:])
	return nil
}

// A complaint is a line with which the CLI ends, in its words.
type complaint string

func (c complaint) Error() string { return string(c) }

func complain(format string, args ...any) error { return complaint(fmt.Sprintf(format, args...)) }

// parseFlags reads the CLI's flags, those that a supervisor uses. The errors are the CLI's own lines, which a
// supervisor reads: `error: unknown option '--x'` tells it what a release does not have.
func parseFlags(args []string) (options, error) {
	o := options{}
	var input, output, prompts, mode, resume string
	var servers []string
	var skip, verbose, printing, fork bool
	f := pflag.NewFlagSet("claude", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "allowed-tools" {
			name = "allowedTools"
		}
		return pflag.NormalizedName(name)
	})
	f.BoolVarP(&printing, "print", "p", false, "")
	f.StringVar(&input, "input-format", "text", "")
	f.StringVar(&output, "output-format", "text", "")
	f.BoolVar(&verbose, "verbose", false, "")
	f.StringVar(&prompts, "permission-prompt-tool", "", "")
	f.BoolVar(&o.replay, "replay-user-messages", false, "")
	f.BoolVar(&o.subagentText, "forward-subagent-text", false, "")
	f.StringArrayVar(&servers, "mcp-config", nil, "")
	f.Bool("strict-mcp-config", false, "") // there is no other configuration
	f.String("agent", "", "")              // an unknown one is no error
	f.String("setting-sources", "", "")    // no settings are read,
	f.String("settings", "", "")           // none of these either
	f.StringArray("add-dir", nil, "")      // nor CLAUDE.md
	f.String("agents", "", "")             // a subagent of any type is the scenario's
	f.IntVar(&o.maxTurns, "max-turns", 0, "")
	f.Float64Var(&o.budget, "max-budget-usd", 0, "")
	f.BoolVar(&fork, "fork-session", false, "")
	f.StringVar(&o.session, "session-id", "", "")
	f.StringVarP(&resume, "resume", "r", "", "")
	f.StringVar(&o.at, "resume-session-at", "", "")
	f.StringVar(&mode, "permission-mode", modeDefault, "")
	f.BoolVar(&skip, "dangerously-skip-permissions", false, "")
	f.Var((*ruleList)(&o.allowed), "allowedTools", "")
	f.Var((*ruleList)(&o.denied), "disallowedTools", "")
	f.StringVar(&o.model, "model", "scripted", "")
	if err := f.Parse(args); err != nil {
		return o, flagError(args, err)
	}
	switch {
	case f.NArg() > 0:
		return o, complain("Error: the stand-in takes its prompts on stdin, not %q", f.Arg(0))
	case !printing || input != "stream-json" || output != "stream-json" || prompts != "stdio":
		return o,
			complain(
				"Error: the stand-in needs -p --input-format stream-json --output-format stream-json --permission-prompt-tool " +
					"stdio")
	case !verbose:
		return o, complain("Error: When using --print, --output-format=stream-json requires --verbose")
	}
	for _, config := range servers {
		if err := o.addServers(config); err != nil {
			return o, err
		}
	}
	switch o.mode = mode; {
	case skip:
		o.mode = modeBypass
	case mode == "manual":
		o.mode = modeDefault
	case mode != modeDefault && mode != modeEdits && mode != modeBypass && mode != modeAuto &&
		mode != modePlan:
		return o,
			complain(
				"error: option '--permission-mode <mode>' argument '%s' is invalid. Allowed choices are acceptEdits, "+
					"auto, bypassPermissions, manual, plan.", mode)
	}
	if f.Changed("session-id") {
		if uuid.Validate(o.session) != nil {
			return o, complain("Error: Invalid session ID. Must be a valid UUID.")
		}
	}
	switch {
	case f.Changed("resume") && fork:
		o.fork = resume
	case f.Changed("resume"):
		o.session, o.resume = resume, true
	}
	return o, nil
}

func flagError(args []string, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return complain("error: %v", err)
	}
	name := "--" + unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		name = "-" + unknown.GetSpecifiedName()
	}
	// The CLI quotes the argument as it was given, a value after = included.
	if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, name+"=") }); i >= 0 {
		name = args[i]
	}
	return complain("error: unknown option '%s'", name)
}
