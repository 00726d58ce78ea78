package terminal

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

const pasteBegin, pasteEnd = ansi.BracketedPasteStart, ansi.BracketedPasteEnd

// keysOf says what a keyboard made of bytes, in words.
func keysOf(msgs []tea.Msg) []string {
	var words []string
	for _, msg := range msgs {
		switch msg := msg.(type) {
		case tea.KeyPressMsg:
			words = append(words, msg.String())
		case tea.PasteMsg:
			words = append(words, fmt.Sprintf("paste %q", msg.Content))
		default:
			words = append(words, fmt.Sprintf("%T", msg))
		}
	}
	return words
}

func TestAKeyboardHearsKeysAndPastes(t *testing.T) {
	for name, test := range map[string]struct {
		looks []string // what came in one look at the terminal each
		want  []string
	}{
		"keys": {[]string{"aÄ日 \x7f\t\r"},
			[]string{"a", "Ä", "日", "space", "backspace", "tab", "enter"}},
		"Ctrl-J is not Enter":       {[]string{"\n"}, []string{"ctrl+j"}},
		"arrows, both ways of them": {[]string{"\x1b[A\x1bOB\x1b[1;5C"}, []string{"up", "down", "ctrl+right"}},
		"with Alt":                  {[]string{"\x1b\r"}, []string{"alt+enter"}},
		"a sequence in pieces":      {[]string{"\x1b", "[", "5", "~"}, []string{"pgup"}},
		"a rune in pieces":          {[]string{"\xe6", "\x97", "\xa5"}, []string{"日"}},
		"no UTF-8":                  {[]string{"a\xffb"}, []string{"a", "b"}},
		"a paste": {[]string{pasteBegin + "one\rtwo\x1b[A\tthree\r\n" + pasteEnd + "x"},
			[]string{`paste "one\ntwo\tthree"`, "x"}},
		"a paste in pieces": {[]string{pasteBegin[:3], pasteBegin[3:] + "one\r", "two\x1b[20", "1~", "x"},
			[]string{`paste "one\ntwo"`, "x"}},
		"a paste that looks like its end": {[]string{pasteBegin + "a\x1b[201", "x" + pasteEnd}, []string{`paste "a"`}},
		"a paste without marks":           {[]string{"one\rtwo\r"}, []string{`paste "one\ntwo"`}},
		"a line that was typed":           {[]string{"one\r"}, []string{"o", "n", "e", "enter"}},
		"what nobody asked for": {[]string{"\x1b[?1u\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[I\x1b[<0;3;4Ma"},
			[]string{"a"}},
		"a paste that is longer than ever": {[]string{pasteBegin, strings.Repeat("x", maxText), "y", pasteEnd + "a"},
			[]string{"terminal.tooLong", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			var k keyboard
			var got []string
			for _, look := range test.looks {
				got = append(got, keysOf(k.take([]byte(look)))...)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if k.half() || len(k.pending) > 0 {
				t.Errorf("%q is left", k.pending)
			}
		})
	}
}

func TestAnEscapeThatStaysAloneIsTheKey(t *testing.T) {
	var k keyboard
	if got := keysOf(k.take([]byte("\x1b"))); len(got) > 0 || !k.half() {
		t.Fatalf("it made %v before it could know", got)
	}
	if diff := cmp.Diff([]string{"esc"}, keysOf(k.settle())); diff != "" || k.half() {
		t.Error(diff)
	}
}

func TestASequenceThatNeverEndsIsNotKept(t *testing.T) {
	var k keyboard
	k.take([]byte("\x1b]0;"))
	for range 1000 {
		k.take([]byte(strings.Repeat("x", 100)))
	}
	if len(k.pending) > maxSequence {
		t.Errorf("%d bytes are kept", len(k.pending))
	}
}

// What is pasted arrives as it is, however the terminal cuts it, and none of it is ever a key.
func FuzzAPasteArrivesWhole(f *testing.F) {
	f.Add("one\ntwo", uint16(3))
	f.Add("\x1b[201\x1b[20", uint16(9))
	f.Add("日本\r\n", uint16(7))
	f.Fuzz(func(t *testing.T, text string, cut uint16) {
		if len(text) > maxText || strings.Contains(text, pasteEnd) {
			t.Skip("not one paste") // in CI, too: it is the fuzzer's input
		}
		all := pasteBegin + text + pasteEnd
		at := int(cut) % len(all)
		var k keyboard
		got := append(keysOf(k.take([]byte(all[:at]))), keysOf(k.take([]byte(all[at:])))...)
		want := []string{fmt.Sprintf("paste %q", strings.TrimRight(Clean(text), "\n"))}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzAKeyboardKeepsLittle(f *testing.F) {
	f.Add([]byte("\x1b[A\x1b[<0;1;1M\x1bP\xffx"))
	f.Add([]byte("\x1b[200~\x1b[201~\x1b[200~"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var k keyboard
		for _, b := range in {
			k.take([]byte{b})
		}
		if !k.pasting && len(k.pending) > maxSequence {
			t.Errorf("%d bytes are kept", len(k.pending))
		}
		k.settle()
		if !k.pasting && len(k.pending) > 0 {
			t.Errorf("%q is kept for ever", k.pending)
		}
	})
}
