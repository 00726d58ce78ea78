package terminal

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestWhatIsCopiedIsNotBrokenAtItsHyphens(t *testing.T) {
	for text, want := range map[string]string{
		"asked just now by r-yd66yvnz":              "asked just now by\nr-yd66yvnz",
		"go on: claude-supervise resume":            "go on:\nclaude-supervise\nresume",
		"a word--of-dashes-longer-than-any-line-is": "a\nword--of-dashes-long\ner-than-any-line-is",
		"what had\u2011this keeps it":               "what had\u2011this keeps\nit",
	} {
		got := wrap(text, "", 20)
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
		for line := range strings.SplitSeq(got, "\n") {
			if ansi.StringWidth(line) > 20 {
				t.Errorf("%q is wider than 20", line)
			}
		}
	}
}
