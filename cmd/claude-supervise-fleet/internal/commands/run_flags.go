package commands

import (
	"strings"

	"github.com/spf13/pflag"

	"claude-supervise/cmd/internal/exitcode"
)

// An ownFlag is one of `claude-supervise run` that the run is given wherever it is.
type ownFlag struct {
	name, usage string
	// given: it grants the run something, or bounds it. Whoever goes on with the run gives it again, and resume takes it.
	given bool
	alone bool // it has no value
}

var ownFlags = []ownFlag{
	{name: "allow", usage: "permit a `RULE` without asking", given: true},
	{name: "permissions", usage: "`ACTION`: ask, ask-refused or deny", given: true},
	{name: "delegate", usage: "`ACTION`: ask, auto, deny, or by depth", given: true},
	{name: "max-parallel", usage: "at most `N` agents at a time", given: true},
	{name: "max-depth", usage: "at most `N` levels of children", given: true},
	{name: "max-agents", usage: "at most `N` agents in the run", given: true},
	{name: "max-cost-usd", usage: "spend at most `X` dollars; then ask, or end", given: true},
	{name: "max-tokens", usage: "at most `N` tokens, such as 2M, cache included", given: true},
	{name: "max-time", usage: "at most `TIME`, such as 90m, waits for you excluded", given: true},
	{name: "max-turns", usage: "at most `N` requests of main conversations", given: true},
	{name: "hold", usage: "park the run after `TIME`: 10m, 0 or forever"},
	{name: "max-held", usage: "hold `N`, park the rest; -1: all"},
	{name: "check", usage: "`LEVEL`: off, warn or require"},
	{name: "answer", usage: "answer in advance: `KEY=VALUE`", given: true},
	{name: "accept-id", usage: "accept signals with this `ID`"},
	{name: "relaunch", usage: "`HOW`: resume or fresh"},
	{name: "retries", usage: "retry a transient failure up to `N` times", given: true},
	{name: "silent-after", usage: "report silence after `TIME`; 0: never"},
	{name: "on-silence", usage: "`ACTION` then: tell, retry, fail"},
	{name: "model", usage: "the `MODEL` of claude"},
	{name: "worktree", usage: "give each child its own git worktree", alone: true},
	{name: "demo", usage: "play a built-in `SCENARIO`"},
}

// notHere are the flags of `claude-supervise run` that a fleet has no use for, and why.
var notHere = map[string]string{
	"claude":         "each worker runs the claude of its own machine",
	"cwd":            "agents work in a folder that the worker makes; --repo says what is in it",
	"on-question":    "a run that waits for an answer parks, and continues on any worker",
	"detach":         "run hands the task in and does not wait; wait does",
	"continue":       "the conversation of an agent that has ended is on no worker any more",
	"keep-processes": "a worker keeps nothing of a run that has ended",
	"snapshots":      "workers put snapshots into the fleet's blob store by themselves",
	"keep-snapshots": "workers put snapshots into the fleet's blob store by themselves",
	"notify":         "workers notify nobody; questions lists what is asked, and logs -f shows a run",
	"notify-url":     "workers notify nobody; questions lists what is asked, and logs -f shows a run",
	"no-notify":      "workers notify nobody",
	"plain":          "run only hands the task in; logs -f shows the run",
	"quiet":          "run only hands the task in; logs -f shows the run",
	"log":            "a worker's diagnostics are its own, on its stderr",
	"task-schema":    "`claude-supervise run --task-schema` prints it",
}

// addPassed adds the flags that are passed on; onlyGiven: those that a run is given after it was handed in.
func addPassed(fl *pflag.FlagSet, onlyGiven bool) {
	for _, own := range ownFlags {
		switch {
		case onlyGiven && !own.given:
		case own.alone:
			fl.Bool(own.name, false, own.usage)
		default:
			fl.StringArray(own.name, nil, own.usage)
		}
	}
}

// passed returns the flags that are passed on as they were typed, and of them those that the run is given again by
// whoever goes on with it.
func passed(fl *pflag.FlagSet) (all, given []string) {
	for _, own := range ownFlags {
		for _, value := range typed(fl, own.name) {
			flag := "--" + own.name + "=" + value
			all = append(all, flag)
			if own.given {
				given = append(given, flag)
			}
		}
	}
	return all, given
}

// typed returns the values of a flag that is passed on, in the order in which they were typed.
func typed(fl *pflag.FlagSet, name string) []string {
	if !fl.Changed(name) {
		return nil
	}
	value := fl.Lookup(name).Value
	if several, is := value.(pflag.SliceValue); is {
		return several.GetSlice()
	}
	return []string{value.String()}
}

// lastTyped returns the value of a flag that was typed last; "" if it was not typed.
func lastTyped(fl *pflag.FlagSet, name string) string {
	values := typed(fl, name)
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// addNotHere has the flags that a fleet has no use for known, so that they are refused with the reason.
func addNotHere(fl *pflag.FlagSet) {
	for name := range notHere {
		fl.String(name, "", "")
		f := fl.Lookup(name)
		f.Hidden, f.NoOptDefVal = true, "true"
	}
}

// refuseNotHere says of a flag that a fleet has no use for why that is so.
func refuseNotHere(fl *pflag.FlagSet) (err error) {
	fl.Visit(func(f *pflag.Flag) {
		if why, is := notHere[f.Name]; is && err == nil {
			err = exitcode.Usage("--%s is not for a fleet: %s; nothing was submitted", f.Name, strings.TrimSpace(why))
		}
	})
	return err
}
