package terminal

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestWhatIsCopiedIsNotBrokenAtItsHyphens(t *testing.T) {
	for text, want := range map[string]string{
		"asked just now by r-yd66yvnz":              "asked just now by\nr-yd66yvnz",
		"continue: claude-supervise resume":         "continue:\nclaude-supervise\nresume",
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

func TestAFactIsFoldedAtItsBlanksOnly(t *testing.T) {
	const log = "/home/somebody/a/very/long/path/to/a-file-of.jsonl"
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"what is known of it, in words", 24, "Why    what is known of\n       it, in words"},
		{"in " + log + " or elsewhere", 24, "Why    in\n       " + log + "\n       or elsewhere"},
		{"first\nsecond", 24, "Why    first\n       second"},
		{"in " + log, 0, "Why    in " + log},
		{"by a non\u2011breaking hyphen-ated word", 24, "Why    by a non\u2011breaking\n       hyphen-ated word"},
	} {
		if got := Fact("Why    ", c.text, c.width); got != c.want {
			t.Errorf("%q in %d columns is\n%s\nnot\n%s", c.text, c.width, got, c.want)
		}
	}
}
