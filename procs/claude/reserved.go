package claude

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"claude-supervise/procs"
)

// reserved are the flags of the CLI that a launch sets itself, or that would take its streams or conversation away.
var reserved = []string{
	"-p", "--print", "--input-format", "--output-format", "--permission-prompt-tool",
	"--permission-prompts", // with none it refuses AskUserQuestion by itself, and nobody is asked
	"--session-id",
	"-r", "--resume", "-c", "--continue", "--from-pr", "--fork-session", "--no-session-persistence",
	"-h", "--help", "-v", "--version", "--bg", "--background",
}

// Reserved returns the first of the person's own flags that a launch cannot take, and why; "" if there is none.
func Reserved(flags []string) (flag, why string) {
	for _, f := range grouped(flags) {
		name, _, _ := strings.Cut(f[0], "=")
		switch {
		case slices.Contains(reserved, name):
			return name, "the supervisor sets it, or needs its default"
		case name == "--bare":
			return name, "it turns off the hooks by which agents are held to asking and reporting"
		case name == "--permission-mode" && slices.Contains(valuesOf(f), "dontAsk"):
			return name + " dontAsk", "it refuses the agents' questions too; --permissions deny refuses what would be asked"
		}
	}
	return "", ""
}

// harmless are the flags of the CLI, and what their values must be, that let an agent do nothing that it may not do
// without them. nil takes no value. Each value comes in the form with =, in which it is never taken for a flag.
var harmless = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"--model": plainValue(), "--fallback-model": plainValue(), "--effort": plainValue(),
		"--disallowedTools": anyValue(), "--disallowed-tools": anyValue(),
		"--permission-mode":        regexp.MustCompile(`^(default|manual|plan)$`),
		"--disable-slash-commands": nil, "--verbose": nil,
	}
})

var (
	plainValue = procs.Lazily(`^[A-Za-z0-9][A-Za-z0-9._:,/@\[\]-]*$`)
	anyValue   = procs.Lazily(`^[^-\s].*$`)
)

// HarmlessFlags returns those flags that let an agent do no more than it may without them, as a launch can take them
// from anybody, and the others with their values. What no list of ours knows is not harmless.
func HarmlessFlags(flags []string) (kept, dropped []string) {
	for _, flag := range grouped(flags) {
		name, _, _ := strings.Cut(flag[0], "=")
		values := valuesOf(flag)
		form, known := harmless()[name]
		fits := known && (form == nil) == (len(values) == 0) && (len(values) <= 1 || form == anyValue())
		for _, v := range values {
			fits = fits && form.MatchString(v)
		}
		switch {
		case !fits:
			dropped = append(dropped, flag...)
		case form == nil:
			kept = append(kept, name)
		default:
			for _, v := range values {
				kept = append(kept, name+"="+v)
			}
		}
	}
	return kept, dropped
}

// WithoutPlanMode returns the flags without the one by which an agent begins in plan mode.
func WithoutPlanMode(flags []string) (left []string) {
	for _, f := range grouped(flags) {
		if name, _, _ := strings.Cut(f[0], "="); name != "--permission-mode" || !slices.Contains(valuesOf(f), "plan") {
			left = append(left, f...)
		}
	}
	return left
}

// ReplaceFlags returns the flags with others added, which stand in place of those of the same names.
func ReplaceFlags(flags, others []string) []string {
	return append(WithoutFlags(flags, others), others...)
}

// WithoutFlags returns flags without those that have the names of others.
func WithoutFlags(flags, others []string) []string {
	given := map[string]bool{}
	for _, flag := range grouped(others) {
		name, _, _ := strings.Cut(flag[0], "=")
		given[name] = true
	}
	var kept []string
	for _, flag := range grouped(flags) {
		if name, _, _ := strings.Cut(flag[0], "="); !given[name] {
			kept = append(kept, flag...)
		}
	}
	return kept
}

// grouped returns flags each with the words that follow it.
func grouped(flags []string) [][]string {
	var all [][]string
	for _, word := range flags {
		if strings.HasPrefix(word, "-") || len(all) == 0 {
			all = append(all, []string{word})
			continue
		}
		all[len(all)-1] = append(all[len(all)-1], word)
	}
	return all
}

// FlagValues returns the values of flags of these names.
func FlagValues(flags []string, names ...string) (values []string) {
	for _, flag := range grouped(flags) {
		if name, _, _ := strings.Cut(flag[0], "="); slices.Contains(names, name) {
			values = append(values, valuesOf(flag)...)
		}
	}
	return values
}

func valuesOf(flag []string) []string {
	values := flag[1:]
	if _, value, is := strings.Cut(flag[0], "="); is {
		values = append([]string{value}, values...)
	}
	return values
}
