package signals

import (
	"strings"
	"unicode"
)

const pausedForInput = "PAUSED_FOR_INPUT"

// asPaused opens the skill's (001) PAUSED_FOR_INPUT, with the file that holds the agent's state or without, and the
// question with its options below it.
func asPaused(line string, _ bool) collector {
	rest, colon, ok := argument(line, pausedForInput)
	if !ok || rest != "" && !colon {
		return nil
	}
	path, sure := pausedPath(rest)
	sure = sure || !colon
	if !sure && strings.ContainsFunc(rest, unicode.IsSpace) {
		return nil
	}
	return &openQuestions{dialect: Paused, word: pausedForInput, path: path, unsure: !sure}
}

// pausedPath reads the path behind the word. It is sure if it cannot be a word of a sentence.
func pausedPath(text string) (path string, sure bool) {
	path = strings.TrimSpace(cleanText(strings.Trim(text, "\"'`")))
	return path, isTemplateID(text) || path != "" && (path != text || isPath(path))
}

// A path with blanks has to look like one all over.
var spacedPath = lazily(`^(?:/|~/|\./|[A-Za-z]:[\\/])[^:;,?!()]*\.[A-Za-z0-9]{1,8}$`)

// isPath reports whether a text behind the word can be a path, rather than a sentence.
func isPath(s string) bool {
	if strings.ContainsAny(s, " \t") {
		return spacedPath().MatchString(s)
	}
	return strings.ContainsAny(s, `/\.`) && !strings.HasSuffix(s, ".") && !strings.ContainsAny(s, "|()")
}

// isTemplatePath reports whether a path is what a template has in its place. A home folder that the shell would fill in
// is none.
func isTemplatePath(s string) bool {
	return isTemplateID(s) && !strings.HasPrefix(s, "$HOME/") && !strings.HasPrefix(s, "${HOME}/")
}
