package yamlfile

import (
	"slices"
	"strings"
	"unicode"

	"claude-supervise/supervisor/text"
)

// Nearest returns the name that a misspelt one is nearest to, "" if it is near to none: one that it is a part of, in
// whatever way its words are joined, or the one that the fewest changed letters lead to, at most a third of them.
func Nearest(typed string, names []string) string {
	typed = snake(typed)
	if slices.Contains(names, typed) {
		return typed
	}
	best, least := "", len(typed)/3+1
	for _, name := range names[:min(len(names), maxLooked)] {
		if strings.HasSuffix(name, "_"+typed) || strings.HasPrefix(name, typed+"_") {
			return name
		}
		if d := text.Distance(typed, name[:min(len(name), maxQuoted)]); d < least {
			best, least = name, d
		}
	}
	return best
}

// maxLooked bounds among how many names the nearest is looked for.
const maxLooked = 1000

// snake writes maxTurns, Max-Turns and "max turns" as max_turns. What is longer than any key is cut.
func snake(typed string) string {
	var b strings.Builder
	before := ' '
	for _, r := range typed {
		switch {
		case b.Len() > maxQuoted:
			return b.String()
		case r == '-' || r == ' ':
			b.WriteByte('_')
		case unicode.IsUpper(r) && unicode.IsLower(before):
			b.WriteByte('_')
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		before = r
	}
	return b.String()
}
