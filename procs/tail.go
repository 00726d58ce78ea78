package procs

import (
	"strings"
	"unicode/utf8"
)

// Bounds on what is taken from a child, in bytes.
const (
	MaxShown = 4 << 10 // of a line that is not understood, as Garbled shows it
	MaxTail  = 8 << 10 // what Exit keeps of stderr

	MaxResult = 64 << 10 // the text of a ToolResult
)

// A Tail is a writer that keeps the last bytes written to it.
type Tail struct {
	Limit int // of them
	kept  []byte
}

// Write implements io.Writer. It gives no error.
func (t *Tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p[max(0, len(p)-t.Limit):]...)
	if over := len(t.kept) - t.Limit; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// Text returns them, as UTF-8.
func (t *Tail) Text() string { return strings.ToValidUTF8(string(t.kept), "\uFFFD") }

// Cut bounds a text to n bytes, at a rune's edge, and says so.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "\n[… the rest was cut]"
}

// Shown returns the beginning of a line that is no JSON, in at most MaxShown bytes of UTF-8.
func Shown(data []byte) string {
	return Cut(strings.ToValidUTF8(string(data[:min(len(data), MaxShown)]), "\uFFFD"), MaxShown)
}

// maxReason bounds a reason, in bytes.
const maxReason = 300

// CutLine returns the first line of a text, in at most maxReason bytes.
func CutLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason], "") + "…"
	}
	return s
}
