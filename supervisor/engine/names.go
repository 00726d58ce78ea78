package engine

import "strings"

// NamesID reports whether a text names an id, and not one that it is part of.
func NamesID(text, id string) bool {
	for {
		before, after, found := strings.Cut(text, id)
		if !found {
			return false
		}
		if !endsInID(before) && !beginsInID(after) {
			return true
		}
		text = after
	}
}

func endsInID(s string) bool { return s != "" && isIDByte(s[len(s)-1]) }

// beginsInID leaves out a dot: an id is named at the end of a sentence too, and before .txt.
func beginsInID(s string) bool { return s != "" && isIDByte(s[0]) && s[0] != '.' }

func isIDByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
