package rules

import (
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// commandCovered reports whether rules permit a command line, given as the spec of an exact rule: one of them is that
// very line, or each of the simple commands that it is made of is covered by one. A line counts as made of simple
// commands only if nothing in it is decided when it runs: no substitution, variable, pattern, redirection into a file,
// assignment, pipe, subshell, loop or background, and, in a line of several, no command that changes what the next one
// means. One that takes an argument for code (evaluates) is covered by a rule that says it whole, and by no wildcard.
func commandCovered(rules []Rule, exact string) bool {
	about := slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return r.Tool != "Bash" })
	if slices.ContainsFunc(about, func(r Rule) bool { return r.Spec == "" || r.Spec == exact }) {
		return true
	}
	commands, ok := simpleCommands(literalParts(exact)[0])
	return ok && len(about) > 0 && !slices.ContainsFunc(commands, func(c simple) bool {
		return !slices.ContainsFunc(about, func(r Rule) bool {
			return patternCovers(r.Spec, c.text) &&
				(len(literalParts(r.Spec)) == 1 && !strings.HasSuffix(r.Spec, ":*") || !c.evaluates())
		})
	})
}

// literalParts returns the text between the wildcards of a rule about commands. A backslash makes a wildcard, or a
// backslash, stand for itself.
func literalParts(spec string) []string {
	parts := []string{""}
	for i := 0; i < len(spec); i++ {
		last := len(parts) - 1
		switch {
		case spec[i] == '\\' && i+1 < len(spec) && (spec[i+1] == '*' || spec[i+1] == '\\'):
			i++
			parts[last] += spec[i : i+1]
		case spec[i] == '*':
			parts = append(parts, "")
		default:
			parts[last] += spec[i : i+1]
		}
	}
	return parts
}

// patternCovers holds a command against what a rule about commands says: the command itself, a beginning (`npm run:*`,
// `npm run *`: with or without more words), or with * for anything. The program has to be named: `* install` covers
// nothing here.
func patternCovers(spec, command string) bool {
	if prefix, any := strings.CutSuffix(spec, ":*"); any {
		spec = prefix + " *"
	}
	parts := literalParts(spec)
	if len(parts) == 1 {
		return command == parts[0]
	}
	if !strings.Contains(strings.TrimLeft(parts[0], " "), " ") || strings.HasPrefix(parts[0], " ") {
		return false // the program's name is not whole
	}
	if len(parts) == 2 && parts[1] == "" && command == strings.TrimSuffix(parts[0], " ") {
		return true
	}
	rest, begins := strings.CutPrefix(command, parts[0])
	if !begins {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}

// maxParsed bounds a command line that is taken apart, in bytes: the parser goes as deep as what it reads.
const maxParsed = 4 << 10

// Words returns the words of a line that is one simple command and nothing else, without their quotes: no redirection,
// no comment, nothing that is decided when it runs.
func Words(line string) ([]string, bool) {
	commands, ok := simpleCommands(line)
	if !ok || len(commands) != 1 || commands[0].text != line {
		return nil, false
	}
	return commands[0].words, true
}

// A simple command: its text, and its words without their quotes.
type simple struct {
	text  string
	words []string
}

// simpleCommands takes a command line apart; false if it is more than simple commands one after the other.
func simpleCommands(line string) ([]simple, bool) {
	if len(line) > maxParsed || strings.ContainsFunc(line, func(r rune) bool {
		return r != '\n' && r != '\t' && unicode.IsControl(r)
	}) {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, false
	}
	var commands []simple
	shifts := false
	var take func(s *syntax.Stmt) bool
	take = func(s *syntax.Stmt) bool {
		if s.Negated || s.Background || s.Coprocess || s.Disown || slices.ContainsFunc(s.Redirs, opensFile) {
			return false
		}
		switch c := s.Cmd.(type) {
		case *syntax.BinaryCmd:
			return len(s.Redirs) == 0 && (c.Op == syntax.AndStmt || c.Op == syntax.OrStmt) && take(c.X) && take(c.Y)
		case *syntax.CallExpr:
			if len(c.Assigns) > 0 || len(c.Args) == 0 || slices.ContainsFunc(c.Args, decidedLater) {
				return false
			}
			shifts = shifts || slices.Contains(shifting, c.Args[0].Lit()) || c.Args[0].Lit() == ""
			text := line[c.Pos().Offset():c.End().Offset()]
			commands = append(commands, simple{text, plainWords(c.Args)})
			return !strings.Contains(text, "\n") // that a backslash takes back
		}
		return false
	}
	for _, s := range file.Stmts {
		if !take(s) {
			return nil, false
		}
	}
	return commands, len(commands) > 0 && (len(commands) == 1 || !shifts)
}

// shifting are the shell's own commands after which the next one may mean something else.
var shifting = []string{
	"cd", "pushd", "popd", "eval", "exec", "source", ".", "alias", "unalias", "hash", "enable",
	"export", "declare", "typeset",
	"readonly", "local", "unset", "set", "shopt", "trap", "umask", "ulimit", "builtin", "command",
	"read", "mapfile", "readarray",
	"printf", "getopts", "wait",
}

// opensFile reports whether a redirection does more than to join two streams or to throw one away. One that picks a
// free number ({PATH}>/dev/null) sets a variable to it.
func opensFile(r *syntax.Redirect) bool {
	if r.N != nil && strings.Trim(r.N.Value, "0123456789") != "" {
		return true
	}
	to := ""
	if r.Word != nil {
		to = r.Word.Lit()
	}
	switch r.Op {
	case syntax.DplOut:
		return to != "1" && to != "2"
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn:
		return to != "/dev/null"
	}
	return true
}

// decidedLater reports whether a word is more than its own text: the shell puts something else in its place.
func decidedLater(w *syntax.Word) bool {
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "*?[]{}\\!") || i == 0 && strings.HasPrefix(p.Value, "~") ||
				strings.Contains(p.Value, "=~") || strings.Contains(p.Value, ":~") {
				return true
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return true
			}
		case *syntax.DblQuoted:
			if p.Dollar || slices.ContainsFunc(p.Parts, func(in syntax.WordPart) bool {
				lit, ok := in.(*syntax.Lit)
				return !ok || strings.ContainsAny(lit.Value, "\\!")
			}) {
				return true
			}
		default:
			return true
		}
	}
	return false
}
