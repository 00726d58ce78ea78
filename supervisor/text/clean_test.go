package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func TestCleanRemovesWhatATerminalWouldObeyOrHide(t *testing.T) {
	for name, test := range map[string]struct{ in, want string }{
		"plain text stays":                 {"Which database?\n\tRedis", "Which database?\n\tRedis"},
		"words of every script stay":       {"größer 数据库 קובץ 👩‍💻 نمی\u200cخواهم", "größer 数据库 קובץ 👩‍💻 نمی\u200cخواهم"},
		"colours":                          {"\x1b[31mred\x1b[0m", "red"},
		"a title and a link":               {"\x1b]0;owned\x07a \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "a link"},
		"a sequence without end":           {"before\x1b]0;never ended\nafter", "before\nafter"},
		"cursor up and erase":              {"safe\x1b[1A\x1b[2Krm -rf /", "saferm -rf /"},
		"an 8-bit sequence introducer":     {"a\x9b31mb", "a\uFFFD31mb"},
		"the same as a rune":               {"a\u009b31mb", "a31mb"},
		"an escape at the end":             {"a\x1b", "a"},
		"backspaces and bells":             {"pass\b\b\b\bfail\a", "passfail"},
		"carriage returns are line ends":   {"one\r\ntwo\rthree\vfour", "one\ntwo\nthree\nfour"},
		"separators of lines":              {"a\u2028b\u2029c\u0085d", "a\nb\nc\nd"},
		"direction overrides":              {"ok \u202egnp.exe\u202c \u2066x\u2069", "ok gnp.exe x"},
		"invisible characters":             {"pass\u200bword\ufeff\u00ad\u2060", "password"},
		"hidden tag characters":            {"hi\U000e0061\U000e0062", "hi"},
		"invalid UTF-8":                    {"a\xff\xfeb\xc3", "a\uFFFDb\uFFFD"},
		"a broken rune before an escape":   {"a\xe2\x1b[31mb", "a\uFFFDb"},
		"an escape hidden in another":      {"\x1b\x1b[31m[32mx", "[32mx"},
		"an escape sequence made of parts": {"\x1b\u202e[31mx", "[31mx"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Clean(test.in); got != test.want {
				t.Errorf("Clean(%q) = %q, want %q", test.in, got, test.want)
			}
		})
	}
}

func TestCleanBoundsWhatIsShownAndSaysSo(t *testing.T) {
	for name, in := range map[string]string{
		"plain":                      strings.Repeat("a", MaxClean+1),
		"growing while it is mended": strings.Repeat("a\xff", MaxClean/2),
		"wide":                       strings.Repeat("界", MaxClean),
	} {
		t.Run(name, func(t *testing.T) {
			got := Clean(in)
			if len(got) > MaxClean || !strings.HasSuffix(got, cutMark) || !utf8.ValidString(got) {
				t.Errorf("got %d bytes, ending in %q", len(got), got[len(got)-20:])
			}
			if Clean(got) != got {
				t.Error("cleaning again changed the text")
			}
		})
	}
	if whole := strings.Repeat("a", MaxClean); Clean(whole) != whole {
		t.Error("a text of the greatest length was cut")
	}
}

func TestCleanLineFoldsToOneLineOfCells(t *testing.T) {
	for _, test := range []struct {
		in    string
		width int
		want  string
	}{
		{"  one\n\n two\t three ", 0, "one two three"},
		{"a long label", 6, "a lon…"},
		{"数据库", 5, "数据…"},
		{"exact", 5, "exact"},
		{"\x1b[31mred\x1b[0m", 10, "red"},
		{"", 5, ""},
	} {
		if got := CleanLine(test.in, test.width); got != test.want {
			t.Errorf("CleanLine(%q, %d) = %q, want %q", test.in, test.width, got, test.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"", "plain", "\x1b[31mred", "\x1b]0;t\x07", "\xff\x9b1m", "\u202e",
		"a\r\nb", "\xe2\x1b[m", "\x1b\xc2\x9b", "\x1bP\x9c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		clean := Clean(s)
		mustBeSafe(t, clean)
		if again := Clean(clean); again != clean {
			t.Errorf("Clean is not idempotent: %q, then %q", clean, again)
		}
		line := CleanLine(s, 20)
		mustBeSafe(t, line)
		if strings.Contains(line, "\n") || ansi.StringWidth(line) > 20 {
			t.Errorf("CleanLine(%q, 20) = %q, %d cells", s, line, ansi.StringWidth(line))
		}
	})
}

// mustBeSafe holds the promise of Clean, told without the code of Clean.
func mustBeSafe(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) || len(s) > MaxClean {
		t.Fatalf("invalid or too long: %d bytes", len(s))
	}
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			t.Fatalf("%U in %q", r, s)
		}
	}
}

func BenchmarkClean(b *testing.B) {
	for name, text := range map[string]string{
		"plain":   strings.Repeat("The agent has finished step 3 of 12.\n", 100),
		"colours": strings.Repeat("\x1b[32mThe agent\x1b[0m has finished.\r\n", 100),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Clean(text)
			}
		})
	}
}
