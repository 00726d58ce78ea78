package signals

import (
	"strconv"
	"strings"
	"unicode"

	yaml "go.yaml.in/yaml/v4"
)

// This file says how one line of YAML, as agents write it, falls into marks of lists, a name and a value.

// dash reads the mark of a list entry: what follows it, and how wide it is. In questions, numbers and bullets are
// such marks too.
func (r *repairer) dash(text string) (rest string, width int, ok bool) {
	mark := 0
	switch {
	case text == "-":
		return "", 2, true
	case strings.HasPrefix(text, "- "):
		mark = 1
	case r.inQuestions && strings.HasPrefix(text, "* "):
		mark = 1
	case r.inQuestions && strings.HasPrefix(text, "• "):
		mark = len("•")
	case r.inQuestions:
		if mark = numberMark(text); mark == 0 {
			return "", 0, false
		}
	default:
		return "", 0, false
	}
	rest = strings.TrimLeft(text[mark:], " \t")
	return rest, len(text) - len(rest), true
}

// numberMark is how wide the number of an entry is, as in "1. " and "2) "; 0 if there is none.
func numberMark(text string) int {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	if digits == 0 || digits > 3 || len(text) < digits+2 || text[digits] != '.' && text[digits] != ')' ||
		text[digits+1] != ' ' {
		return 0
	}
	return digits + 1
}

// key reads the name of a map entry, and what follows its colon.
func (r *repairer) key(column int, text string) (name, rest string, ok bool) {
	if text == "" {
		return "", "", false
	}
	if text[0] == '"' || text[0] == '\'' {
		end := closingQuote(text[1:], text[0])
		if end < 0 {
			return "", "", false
		}
		after, found := strings.CutPrefix(strings.TrimSpace(text[end+2:]), ":")
		n, err := loadYAML(text[:end+2], 1)
		if !found || err != nil || n.Kind != yaml.ScalarNode {
			return "", "", false
		}
		return n.Value, strings.TrimSuffix(strings.TrimSpace(after), ","), true
	}
	i := strings.IndexByte(text, ':')
	for i >= 0 && i+1 < len(text) && text[i+1] != ' ' && text[i+1] != '\t' {
		if r.known(strings.Trim(text[:i], "*`")) {
			break // agent_id:a-1, or **agent_id:** a-1
		}
		next := strings.IndexByte(text[i+1:], ':')
		if next < 0 {
			return "", "", false
		}
		i += 1 + next
		if i > maxName {
			return "", "", false
		}
	}
	if i <= 0 || i > maxName {
		return "", "", false
	}
	name, rest = text[:i], text[i+1:]
	if trimmed := strings.TrimRight(name, " \t"); r.known(trimmed) {
		name = trimmed // agent_id : a-1
	}
	if plain := strings.Trim(name, "*`"); plain != name {
		if !r.known(plain) {
			return "", "", false
		}
		return plain, strings.TrimLeft(rest, "*`"), true
	}
	if r.known(name) {
		return name, rest, true
	}
	words := 4
	if len(r.stack) == 0 || column <= r.stack[0].column || r.inQuestions {
		words = 1
	}
	return name, rest, isName(name, words)
}

const maxName = 64 // bytes of a field's name

// known reports whether a name is one that may stand here.
func (r *repairer) known(name string) bool {
	return r.form.knows(snake(name)) || r.inQuestions && isQuestionMember(name)
}

// isName reports whether a plain text can be the name of a field, rather than a piece of a sentence.
func isName(s string, words int) bool {
	if s == "" || strings.HasSuffix(s, " ") || strings.Count(s, " ") >= words {
		return false
	}
	for i, c := range s {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' || i > 0 && strings.ContainsRune("-./ &+", c) {
			continue
		}
		return false
	}
	return true
}

// bulletedField reports whether a line is a field of a body whose fields are written as a list, and returns it
// without its mark.
func (r *repairer) bulletedField(column int, text string) (rest string, ok bool) {
	if len(r.stack) > 0 && (!r.bulleted || column > r.stack[0].column) {
		return "", false
	}
	if rest, _, ok = r.dash(text); !ok {
		mark := numberMark(text)
		if mark == 0 {
			return "", false
		}
		rest = strings.TrimLeft(text[mark:], " \t")
	}
	name, _, ok := r.key(column, rest)
	return rest, ok && r.form.knows(snake(name))
}

// indented splits a line into the column where its text begins and the text. A tab goes to the next fourth column.
func indented(line string) (column int, text string) {
	for i, c := range line {
		switch {
		case c == '\t':
			column += 4 - column%4
		case unicode.IsSpace(c):
			column++
		default:
			return column, strings.TrimRightFunc(line[i:], unicode.IsSpace)
		}
	}
	return column, ""
}

func isComment(text string) bool { return text == "#" || strings.HasPrefix(text, "# ") }

// scalar writes a value that had no quotes as YAML that has one meaning only.
func scalar(s string) string {
	if isSimple(s) || s == "~" {
		return s
	}
	return strconv.Quote(s)
}

// isSimple reports whether a text is words, numbers and paths only, so that YAML takes it as it stands.
func isSimple(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '/':
		case c == '.' || c == '-' || c == '+':
			if i == 0 && len(s) < 2 || i == 0 && (s[1] < '0' || s[1] > '9') && s[1] != '/' {
				return false
			}
		case c == ' ':
			if i == 0 || i == len(s)-1 {
				return false
			}
		default:
			return false
		}
	}
	return s != ""
}
