package procs

import "strings"

// This file finds the scripts that a shell reads into itself (". PATH", "source PATH"): the process table shows nothing
// of them. It looks at words alone and runs nothing, so it finds what is written plainly. What comes before the last
// variable or command of a path is not known here; the rest is looked for in the folders that it likely means.

var (
	sourcing = Lazily(`(?:^|[\s;&|(){}'"])(?:\.|source)[ \t]+`)
	unknown  = Lazily("^.*(?:[)}`]|\\$\\w+)")
)

// sourced returns the paths that the shell text sources. Unless they are absolute, they are relative to a folder that
// the text does not tell.
func sourced(text string) []string {
	var paths []string
	for _, at := range sourcing().FindAllStringIndex(text, scriptsMax) {
		word := strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(wordAt(text[at[1]:], text[at[0]]))
		path := unknown().ReplaceAllString(word, "")
		if path != word {
			path = strings.TrimPrefix(path, "/")
		}
		paths = append(paths, strings.TrimPrefix(path, "~/"))
	}
	return paths
}

// wordAt returns the word of a shell with which a text begins: to the first space or operator outside of quotes and
// commands, or to the quote in which the text stands itself.
func wordAt(text string, around byte) string {
	quote, depth, escaped, command := byte(0), 0, false, false
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '\n':
			return text[:i]
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case c == '`':
			command = !command
		case command:
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth > 0:
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			if c == around {
				return text[:i]
			}
			quote = c
		case quote == 0 && strings.IndexByte(" \t;&|<>)", c) >= 0:
			return text[:i]
		}
	}
	return text
}
