package text

import (
	"fmt"
	"strings"
)

// Plural counts things.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// maxListed is how many agents a reason names.
const maxListed = 3

// JoinLimited lists names, of many the first.
func JoinLimited(names []string) string {
	if n := len(names); n > maxListed {
		return fmt.Sprintf("%d agents: %s, …", n, strings.Join(names[:maxListed], ", "))
	}
	return strings.Join(names, ", ")
}

// FirstOf returns names, as many as a person reads; of more the last says how many.
func FirstOf(names []string, most int) []string {
	if more := len(names) - most; more > 0 {
		return append(names[:most:most], fmt.Sprintf("and %d more", more))
	}
	return names
}

// SameWords reports whether two texts differ in nothing but case and white space.
func SameWords(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}
