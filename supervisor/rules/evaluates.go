package rules

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// evaluating are the shell's own commands that take an argument for code, load or run what it names, or expand it as an
// arithmetic expression, which may hold a command (a[$(command)]).
var evaluating = []string{
	".", "alias", "bind", "builtin", "command", "compgen", "complete", "compopt", "coproc", "declare",
	"enable", "eval", "exec",
	"export", "fc", "getopts", "hash", "history", "jobs", "let", "local", "mapfile", "read", "readarray",
	"readonly", "set", "shopt",
	"source", "trap", "typeset", "unset", "wait",
}

// running are the programs that run what their arguments name, and the shells.
var running = []string{
	"ash", "bash", "busybox", "chroot", "csh", "dash", "doas", "env", "fish", "flock", "ionice",
	"ksh", "nice", "nohup", "nsenter",
	"parallel", "prlimit", "rbash", "runuser", "script", "setarch", "setpriv", "setsid", "sh",
	"ssh", "stdbuf", "strace", "su", "sudo",
	"systemd-run", "taskset", "tcsh", "time", "timeout", "unshare", "watch", "xargs", "zsh",
}

// evaluates reports whether a command takes one of its arguments for code. What such a command does, no rule with a
// wildcard says.
func (c simple) evaluates() bool {
	name, args := path.Base(c.words[0]), c.words[1:]
	switch {
	case slices.Contains(evaluating, name), slices.Contains(running, name):
		return true
	case name == "test", name == "[":
		return slices.Contains(args, "-v") || slices.Contains(args, "-R")
	case name == "printf":
		return len(args) > 0 && strings.HasPrefix(args[0], "-")
	case name == "find":
		return slices.ContainsFunc(args, func(arg string) bool {
			return strings.HasPrefix(arg, "-exec") || strings.HasPrefix(arg, "-ok") || strings.HasPrefix(arg, "-f") ||
				arg == "-delete"
		})
	}
	return false
}

// plainWords returns the text of words of which nothing is decided later.
func plainWords(words []*syntax.Word) []string {
	plain := make([]string, len(words))
	for i, w := range words {
		for _, part := range w.Parts {
			plain[i] += plainPart(part)
		}
	}
	return plain
}

func plainPart(part syntax.WordPart) string {
	switch p := part.(type) {
	case *syntax.Lit:
		return p.Value
	case *syntax.SglQuoted:
		return p.Value
	case *syntax.DblQuoted:
		text := ""
		for _, in := range p.Parts {
			text += plainPart(in)
		}
		return text
	}
	return ""
}
