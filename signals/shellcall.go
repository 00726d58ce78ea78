package signals

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// leaving are the commands after which the next one may not run, or not as it reads.
var leaving = []string{
	".", "alias", "break", "continue", "enable", "eval", "exec", "exit", "kill", "logout", "pkill",
	"killall", "return", "source", "suspend", "trap", "unalias",
}

// printless are the commands that print nothing to their output.
var printless = []string{
	":", "break", "cd", "chmod", "continue", "cp", "exit", "false", "getopts", "kill", "ln", "logout",
	"mapfile", "mkdir", "mv",
	"notify-send", "read", "readarray", "return", "rm", "rmdir", "shift", "shopt", "sleep", "test",
	"touch", "true", "umask", "unset", "wait", "[",
}

// call reads a simple command.
func (s *shell) call(c *syntax.CallExpr, at place) (stays bool) {
	words := make([]string, len(c.Args))
	for i, w := range c.Args {
		words[i] = s.text(w)
	}
	for len(words) > 1 && (words[0] == "command" || words[0] == "builtin") {
		words = words[1:]
	}
	if len(words) == 0 {
		return true // assignments
	}
	name, args := words[0], words[1:]
	if body := s.functions[name]; body != nil {
		return s.function(name, body, at)
	}
	p := print{branch: at.branch}
	stays = !slices.Contains(leaving, name) && !strings.Contains(name, holeBegins)
	s.strict = s.strict || name == "set" && s.failed
	if name == "exit" && len(args) == 1 && strings.Trim(args[0], "123456789") == "" && !s.failed {
		return true // it has not run
	}
	switch {
	case name == "exec" && len(args) == 0:
		s.muted = at.hidden
		return true
	case name == "echo":
		p.text = echoed(args)
	case name == "printf":
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		} else if len(args) > 0 && strings.HasPrefix(args[0], "-v") {
			return true
		}
		if len(args) > 0 {
			p.text = formatted(args[0], args[1:])
		}
	case name == "cat" && at.fed && (len(args) == 0 || len(args) == 1 && args[0] == "-"):
		p.text = at.input
	case slices.Contains(printless, name), name == "set" && len(args) > 0, name == "cat" && len(args) == 0 && !at.piped:
		return stays
	default:
		p.unknown = true
	}
	p.unknown = p.unknown || hasBareHole(p.text)
	if !at.hidden {
		s.add(p)
	}
	return stays
}

// function reads a call of a function of the command's own.
func (s *shell) function(name string, body *syntax.Stmt, at place) (stays bool) {
	if slices.Contains(s.calling, name) || len(s.calling) == maxNesting || len(s.prints) == maxPrints {
		s.add(print{branch: at.branch, unknown: true})
		return false
	}
	s.calling = append(s.calling, name)
	stays = s.stmt(body, at)
	s.calling = s.calling[:len(s.calling)-1]
	return stays
}

// A hole in a text is where the shell puts something in. It stands between these, with the name of the variable as it
// is written.
const holeBegins, holeEnds = "\x00", "\x01"

var holes = lazily(holeBegins + "[^" + holeEnds + "]*" + holeEnds)

func withoutHoles(text string) string {
	return strings.NewReplacer(holeBegins, "", holeEnds, "").Replace(text)
}

// hasBareHole reports whether a line of a text is nothing but what the shell puts in.
func hasBareHole(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.Contains(line, holeBegins) && strings.TrimSpace(holes().ReplaceAllString(line, "")) == "" {
			return true
		}
	}
	return false
}

// text takes the quotes off a word.
func (s *shell) text(w *syntax.Word) string { return s.joined(w.Parts, "") }

// joined puts the parts of a text together, without the backslashes before these characters, "" for all.
func (s *shell) joined(parts []syntax.WordPart, before string) string {
	var b strings.Builder
	for _, part := range parts {
		if lit, ok := part.(*syntax.Lit); ok {
			b.WriteString(unescaped(lit.Value, before))
		} else {
			b.WriteString(s.part(part))
		}
	}
	return b.String()
}

func (s *shell) part(part syntax.WordPart) string {
	switch p := part.(type) {
	case *syntax.SglQuoted:
		if p.Dollar {
			return ansiQuoted.Replace(p.Value)
		}
		return p.Value
	case *syntax.DblQuoted:
		return s.joined(p.Parts, "\"\\$`")
	case *syntax.ParamExp:
		if name := s.src[p.Pos().Offset():p.End().Offset()]; !strings.Contains(name, "\n") {
			return holeBegins + name + holeEnds
		}
	}
	return holeBegins + holeEnds
}

var ansiQuoted = strings.NewReplacer(`\n`, "\n", `\\`, `\`, `\'`, `'`, `\"`, `"`)

// unescaped takes the backslashes from a text before these characters, "" for all, and where they join two lines.
func unescaped(text, before string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '\\' || i+1 == len(text):
			b.WriteByte(text[i])
		case text[i+1] == '\n':
			i++
		case before == "" || strings.IndexByte(before, text[i+1]) >= 0:
			i++
			b.WriteByte(text[i])
		default:
			b.WriteByte('\\')
		}
	}
	return b.String()
}

// echoed is what echo prints.
func echoed(args []string) string {
	escaped := false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, flag := range args[0][1:] {
			escaped = flag == 'e' || escaped && flag == 'n'
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escaped {
		text = escapes.Replace(text)
	}
	return text
}

// escapes are the sequences of echo -e and printf that matter here: new lines, and what colours a text.
var escapes = strings.NewReplacer(
	`\n`, "\n", `\t`, "\t", `\033`, "\x1b", `\0033`, "\x1b", `\x1b`, "\x1b", `\x1B`, "\x1b", `\e`, "\x1b", `\E`, "\x1b",
)

// formatted does what printf does with %s and %b; the format is used again as long as there are arguments, within
// bounds.
func formatted(format string, args []string) string {
	format = escapes.Replace(format)
	var b strings.Builder
	for {
		before := len(args)
		for i := 0; i < len(format); i++ {
			if format[i] != '%' || i+1 == len(format) {
				b.WriteByte(format[i])
				continue
			}
			i++
			switch {
			case format[i] == '%':
				b.WriteByte('%')
			case len(args) > 0:
				b.WriteString(escapes.Replace(args[0]))
				args = args[1:]
			}
		}
		if len(args) == 0 || len(args) == before || b.Len() > MaxBlock {
			return b.String()
		}
	}
}
