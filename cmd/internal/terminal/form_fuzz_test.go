package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/supervisor/questions"
)

// mustFit checks that rows are a picture that no terminal can take amiss.
func mustFit(t *testing.T, rows []string, width, height int) {
	t.Helper()
	if len(rows) > height {
		t.Errorf("%d rows on a terminal of %d:\n%s", len(rows), height, strings.Join(rows, "\n"))
	}
	for _, row := range rows {
		if w := ansi.StringWidth(row); w > max(width, narrowestForm)+1 { // one cell for the cursor behind a full row
			t.Errorf("%d cells in %d: %q", w, width, row)
		}
		if plain := ansi.Strip(row); Clean(plain) != plain || strings.ContainsAny(plain, "\n\t") {
			t.Errorf("%q reaches the terminal", plain)
		}
	}
}

// Whatever an agent asks and a person types, the form fits the terminal and shows nothing raw.
func FuzzAForm(f *testing.F) {
	f.Add("Which?", "one", "two", "about", "clarification", "ab\r\x1b[A\t2", uint8(80), uint8(24), uint8(0))
	f.Add("\x1b[2J\u202e", "日本語のラベル", "", "\x1b]0;x\x07", "permission", "\tx\x1b[B \r\x7f", uint8(40),
		uint8(10), uint8(255))
	// the whole help on the narrowest terminal
	f.Add("Which?", "one", "two", "", "budget", "?", uint8(0), uint8(60), uint8(0x17))
	// room for two rows of keys, which take three
	f.Add("0", "0", "", "0", "0", "1", uint8(7), uint8(10), uint8(255))
	f.Add("Which?", "", "", "", "", "\x7f", uint8(0), uint8(60), uint8(8)) // a hyphen where a row is full
	f.Add("a\nb\nc", "1", "2", "\t", "budget", "??!-<\x04zz\x1b[A\x1b[A\r \x1b[6~", uint8(1), uint8(1), uint8(7))
	f.Fuzz(func(t *testing.T, text, one, two, about, kind, keys string, width, height, bits uint8) {
		q := Question{Terms: questions.Terms{Kind: questions.Name(kind), Options: []Option{{Label: one, Description: about, Preview: text}, {Label: two}, {Label: about}}[:bits&3], MultiSelect: bits&4 != 0},
			ID: "q-1", Text: text, Context: about, Header: one, Asker: about, Agent: two, Command: about, Optional: bits&8 != 0, Declinable: bits&16 != 0, Urgent: bits&32 != 0}
		if bits&64 != 0 {
			q.Validate = "yes_no"
		}
		w, h := int(width), max(int(height), 1)
		form := newForm(q, bits&128 != 0, "", newStyles(true))
		var k keyboard
		for _, msg := range append(k.take([]byte(keys)), k.settle()...) {
			form.press(msg)
			mustFit(t, form.view(w, h, 1, when), w, h)
		}
		mustFit(t, form.view(80, 24, 1, when), 80, 24)
		mustFit(t, form.view(w, h, 1, when), w, h)
	})
}

func BenchmarkAKeyInAForm(b *testing.B) {
	long := strings.Repeat("words of 日本 ", 4000)
	for name, size := range map[string]struct{ options, label, about, preview int }{
		"of a long diff":      {maxShown, 20, 0, 0},
		"of the longest text": {500, 1 << 10, 4 << 10, 32 << 10},
	} {
		b.Run(name, func(b *testing.B) {
			q := question("q-1")
			q.Context = strings.Repeat("+ a line of a long diff\n", 5000)
			for i := range size.options {
				q.Options = append(q.Options, Option{Label: fmt.Sprintf("%d %.*s", i, size.label, long),
					Description: long[:size.about], Preview: long[:size.preview]})
			}
			f := newForm(q, false, "", newStyles(true))
			f.view(80, 40, 0, when)
			for b.Loop() {
				typeInto(f, down, "w", "\x7f")
			}
		})
	}
}
