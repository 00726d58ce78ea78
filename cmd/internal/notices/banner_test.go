package notices

import (
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func TestPlainLeavesNothingThatADesktopWouldObey(t *testing.T) {
	for text, want := range map[string]string{
		"q-7kq2mx: Which way?":                        "q-7kq2mx: Which way?",
		"--hint=string:x:y":                           "hint=string:x:y",
		"[{(<list>)}]":                                "list›)}]",
		`<img src="http://tracker/x">look & go`:       "img src=”http://tracker/x”›look ＆ go",
		`say "hi" \033[2J with title "x"`:             "say ”hi” ＼033[2J with title ”x”",
		"two\nlines\tand \x1b]52;c;ZXZpbA==\aclipped": "two lines and clipped",
		"a\u202eright-to-left\u2066 b\u200bc\u00a0d":  "aright-to-left bc d",
		"\ufffe\U0010ffff private \ue000":             "private",
		"…":                                           "",
		"größer 日本 ✓":                                 "größer 日本 ✓",
	} {
		if got := plain(text, 80); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if got := plain(strings.Repeat("字", 1000), 20); ansi.StringWidth(got) > 20 || !strings.HasSuffix(got, "… +2982") {
		t.Errorf("a long text becomes %q", got)
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("--x <b>\\n\"$(id)\"", 10)
	f.Add("\x1b[2J\xff\u202e", 0)
	f.Fuzz(func(t *testing.T, text string, cells int) {
		got := plain(text, cells)
		first, _ := utf8.DecodeRuneInString(got)
		bad := strings.IndexFunc(got, func(r rune) bool { return r != ' ' && !unicode.IsGraphic(r) })
		if strings.ContainsAny(got, "<>&\\\"\n\t") || bad >= 0 || got != "" && !unicode.IsLetter(first) &&
			!unicode.IsDigit(first) && first != '…' {
			t.Errorf("%q becomes %q", text, got)
		}
		if again := plain(got, cells); again != got && first != '…' {
			t.Errorf("%q becomes %q, and that %q", text, got, again)
		}
	})
}

func TestWhatIsNoBannerIsRefused(t *testing.T) {
	for _, doc := range []string{"", "{", "[]", `{"title": 1}`, `{"body":"` + strings.Repeat("x", maxBanner) + `"}`} {
		if err := Show(strings.NewReader(doc), io.Discard); err == nil {
			t.Errorf("%.20q is shown", doc)
		}
	}
}
