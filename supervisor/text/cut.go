package text

import "unicode/utf8"

const (
	// MaxPreview bounds what of a call a person is shown, in bytes. Nobody judges more in a prompt (about 1,500 lines),
	// and what is not shown cannot be allowed: a call over it can only be refused, and the agent is told to make smaller
	// ones.
	MaxPreview = 60 << 10
	// MaxRestated bounds what of a call its own agent is told again, in bytes.
	MaxRestated = 16 << 10
)

// Truncate gives at most n bytes of a text, and breaks no rune.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// End gives at most the last n bytes of a text, and breaks no rune.
func End(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for s = s[len(s)-n:]; s != "" && !utf8.RuneStart(s[0]); {
		s = s[1:]
	}
	return s
}
