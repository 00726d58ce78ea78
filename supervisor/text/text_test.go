package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/supervisor/text/texttest"
)

func TestWhatCannotBeSeenIsMadeVisibleAndNothingRemoved(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain text stays":                   {"npm test\nls", "npm test\nls"},
		"words of every script stay":         {"größer 数据库 קובץ ❤️ é", "größer 数据库 קובץ ❤️ é"},
		"an escape sequence":                 {"echo \x1b]0;\a", `echo \x1b]0;\x07`},
		"a carriage return in a line":        {"rm x\rls", `rm x\x0dls`},
		"a tab":                              {"all:\tb", "all:⇥   b"},
		"the sign of a tab":                  {"⇥", `\u21e5`},
		"bytes that are no UTF-8":            {"a\xff\xc3", `a\xff\xc3`},
		"a replacement character is one":     {"\uFFFD", "\uFFFD"},
		"a C1 control":                       {"\u009b", `\u009b`},
		"direction overrides":                {"\u202egnp", `\u202egnp`},
		"isolates":                           {"\u2066x\u2069", `\u2066x\u2069`},
		"zero-width characters":              {"a\u200bb\u200d\ufeff", `a\u200bb\u200d\ufeff`},
		"a soft hyphen":                      {"a\u00adb", `a\u00adb`},
		"separators of lines":                {"a\u2028b\u2029", `a\u2028b\u2029`},
		"tags":                               {"x\U000e0061", `x\U000e0061`},
		"variation selectors that hide":      {"x\ufe0fy\U000e0100", `x\ufe0fy\U000e0100`},
		"spaces that are none":               {"rm\u00a0x\u3000", `rm\u00a0x\u3000`},
		"fillers and blanks":                 {"\u3164\u115f\u2800", `\u3164\u115f\u2800`},
		"private use":                        {"\ue000", `\ue000`},
		"a backslash":                        {`grep '\.' \`, `grep '\.' \`},
		"a backslash and what reads as ours": {`printf '\x1b'`, `printf '\\x1b'`},
		"two of them":                        {`\\u202e`, `\\\\u202e`},
		"a backslash and an escape":          {"\\\x1b", `\\\x1b`},
		"what is none of ours":               {`\x1B \x1 \u12`, `\x1B \x1 \u12`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Visible(c.in); got != c.want {
				t.Errorf("%q is shown as %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestALineSaysHowMuchThereIsBesides(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want string
	}{
		{"npm test", 20, "npm test"},
		{" npm test\n", 20, "npm test"},
		{"npm test\ntouch PWN", 20, "npm test… (+1 line, 10 bytes)"},
		{"npm test\n\n\nx", 20, "npm test… (+3 lines, 4 bytes)"},
		{"0123456789", 4, "0123… (+6 bytes)"},
		{"ab\x1b\x1bc", 7, `ab\x1b… (+2 bytes)`},
		{"aéé", 2, "a… (+4 bytes)"},
		{"", 4, ""},
		{"ab", 1, "a… (+1 byte)"},
	} {
		if got := Line(c.in, c.most); got != c.want {
			t.Errorf("Line(%q, %d) = %q, want %q", c.in, c.most, got, c.want)
		}
	}
}

func TestALineThatIsCutAgainSaysAllThatIsMissing(t *testing.T) {
	line := "Allow Bash: " + Line("echo one two three four five\ntouch PWN", 100) + "?"
	for width, want := range map[int]string{
		200: "Allow Bash: echo one two three four five… (+1 line, 10 bytes)?",
		50:  "Allow Bash: echo one two thr… (+1 line, 22 bytes)?",
		30:  "Allow Bash: echo one two … +25",
		13:  "Allow Bash: …",
		1:   "…",
	} {
		if got := Fit(line, width); got != want {
			t.Errorf("in %d cells it is %q, want %q", width, got, want)
		}
	}
	if got, want := Fit(strings.Repeat("x", 60), 50), strings.Repeat("x", 37)+"… (+23 bytes)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAGistDoesNotCountWhatItLeavesOut(t *testing.T) {
	line := "Allow Bash: " + Line("echo one two three four five\ntouch PWN", 100) + "?"
	for width, want := range map[int]string{
		200: "Allow Bash: echo one two three four five…?", 30: "Allow Bash: echo one two thre…", 1: "…",
	} {
		if got := Cut(line, width); got != want {
			t.Errorf("in %d cells it is %q, want %q", width, got, want)
		}
	}
	if got := Gist("it is (+3 bytes) longer"); got != "it is (+3 bytes) longer" {
		t.Errorf("what is no count is lost: %q", got)
	}
}

// Whatever it is made of, a text is seen whole, and read back in one way.
func FuzzVisible(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "echo done \"\x1b]0;\"; touch PWN; : \"\a\"", `\\\x1b\u202e`, "\\\x1b", "\\\\\t⇥   ",
		"\xff\xfe\\xff", "\u202e\u2066\U000e0061\ufe0f",
		"❤\ufe0f\ufe0f", "a\r\nb\rc", "\\\n", "\\\u00a0", "\\\\⇥", "é́",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, write := range map[string]func(string) string{"Visible": Visible, "VisibleLine": VisibleLine} {
			shown := write(s)
			if back, err := texttest.Original(shown); err != nil || back != s {
				t.Errorf("%s(%q) = %q, which reads as %q (%v)", name, s, shown, back, err)
			}
			for _, r := range shown {
				if r != '\n' && unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Bidi_Control) &&
					!unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
					t.Errorf("%U is left in %s(%q)", r, name, s)
				}
			}
			if !utf8.ValidString(shown) || name == "VisibleLine" && strings.Contains(shown, "\n") {
				t.Errorf("%s(%q) = %q", name, s, shown)
			}
			if Shown(shown) != shown {
				t.Errorf("%q is made visible again", shown)
			}
		}
		if got := Line(s, 40); len(got) > 40+len("… (+123456789 lines, 123456789 bytes)") ||
			strings.ContainsAny(got, "\n\t") {
			t.Errorf("Line(%q) = %q", s, got)
		}
		if got := Fit(Line(s, 40), 20); ansi.StringWidth(got) > 20 {
			t.Errorf("%q is %d cells wide", got, ansi.StringWidth(got))
		}
	})
}

func BenchmarkVisible(b *testing.B) {
	text := strings.Repeat("if err != nil {\n\treturn err \\\n}\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Visible(text)
	}
}
