package terminal

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// drawn is what a Screen has written since the last look.
type drawn struct {
	*Screen
	t             *testing.T
	read          *os.File
	columns, high int
}

func newDrawn(t *testing.T, columns, high int) *drawn {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = read.Close(); _ = write.Close() })
	d := &drawn{t: t, read: read, columns: columns, high: high}
	d.Screen = &Screen{out: write, size: func() (int, int) { return d.columns, d.high }}
	return d
}

// shows draws a text and gives what was written for it, with the sequences told in words.
func (d *drawn) shows(text string) string {
	d.t.Helper()
	if err := d.Draw(text); err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.out.WriteString("\x00"); err != nil { // the end
		d.t.Fatal(err)
	}
	var got strings.Builder
	for one := make([]byte, 1); ; {
		if _, err := io.ReadFull(d.read, one); err != nil {
			d.t.Fatal(err)
		}
		if one[0] == 0 {
			return strings.NewReplacer(
				ansi.EraseLineRight, "", "\r\n", "|", wipe, "<wipe>", "\r"+ansi.CursorUp(1), "<up 1>", "\r"+ansi.CursorUp(2),
				"<up 2>", "\r"+ansi.CursorUp(3), "<up 3>", ansi.EraseScreenBelow, "<below>",
			).Replace(got.String())
		}
		got.Write(one)
	}
}

func TestAScreenDrawsEachTextOverTheLastOne(t *testing.T) {
	d := newDrawn(t, 10, 5)
	for _, step := range []struct{ text, want string }{
		{"one\ntwo\n", "one|two|<below>"},
		{"one\ntwo", ""}, // nothing has changed
		{"three", "<up 2>three|<below>"},
		{"wider than ten", "<up 1>wider tha…|<below>"},
		{"\x1b[2Jclean\x07", "<up 1>clean|<below>"},
		{"1\n2\n3\n4", "<up 1>1|2|3|4|<below>"},
	} {
		if got := d.shows(step.text); got != step.want {
			t.Errorf("%q is drawn as %q, want %q", step.text, got, step.want)
		}
	}
}

func TestAScreenLeavesOutWhatIsTooHigh(t *testing.T) {
	d := newDrawn(t, 40, 4)
	if got, want := d.shows("1\n2\n3\n4\n5"), "1|2|(3 more rows than this terminal has)|<below>"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	d.high = 1
	if got := d.shows("1\n2"); !strings.Contains(got, "(2 more rows") {
		t.Errorf("%q", got)
	}
}

func TestAScreenGoesUpOverRowsThatANarrowedTerminalHasBroken(t *testing.T) {
	d := newDrawn(t, 10, 5)
	d.shows("12345\n1234567890")
	d.columns = 12
	if got, want := d.shows("12345\n1234567890"), "<up 2>12345|1234567890|<below>"; got != want {
		t.Errorf("wider: %q, want %q", got, want)
	}
	d.columns = 8
	if got, want := d.shows("12345\n1234567890"), "<up 3><wipe>12345|1234567…|<below>"; got != want {
		t.Errorf("narrower: %q, want %q", got, want)
	}
}

func TestAScreenStandsBelowWhatOthersHaveWritten(t *testing.T) {
	d := newDrawn(t, 10, 5)
	d.shows("one")
	d.Forget()
	if got, want := d.shows("one"), "one|<below>"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// tmux keeps what stood on a screen that is cleared from its first cell on: a form would leave a copy of itself.
func TestNoScreenIsClearedFromItsFirstCell(t *testing.T) {
	d := newDrawn(t, 10, 3)
	d.shows("one\ntwo")
	if err := d.erase(); err != nil {
		t.Fatal(err)
	}
	if got, want := d.shows("three"), "<up 2><wipe>three|<below>"; got != want {
		t.Errorf("written is %q, want %q", got, want)
	}
}

func TestAScreenErasesTheRowsThatAHigherTerminalBringsBack(t *testing.T) {
	d := newDrawn(t, 10, 6)
	for _, step := range []struct {
		high       int
		text, want string
	}{
		{6, "1\n2\n3\n4", "1|2|3|4|<below>"},
		{4, "a\nb\nc", "<up 3><wipe>a|b|c|<below>"},          // 1 is above
		{3, "A\nB", "<up 2><wipe>A|B|<below>"},               // and a below it
		{4, "x\ny", "<up 3><wipe>x|y|<below>"},               // a is back
		{9, "z", "<up 3><wipe>z|<below>"},                    // and 1
		{12, "none", "<up 1>none|<below>"},                   // all were
		{2, "low", "<up 1>low|<below>"},                      // and it had room
		{9, "what stands above", "<up 1>what stan…|<below>"}, // is not erased
	} {
		d.high = step.high
		if got := d.shows(step.text); got != step.want {
			t.Errorf("%q on %d rows is drawn as %q, want %q", step.text, step.high, got, step.want)
		}
	}
}

func TestNoScreenWhereNoneCanBe(t *testing.T) {
	d := newDrawn(t, 10, 5)
	if s := NewScreen(d.out, func(string) string { return "xterm" }); s != nil {
		t.Error("a pipe is taken for a terminal")
	}
}
