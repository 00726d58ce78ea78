package terminal

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// The marks have words of ours alone, stand for as long as something is asked, and the title is then what it was.
func TestTheTerminalIsMarkedWhileSomethingIsAsked(t *testing.T) {
	asked := question("q-1", "Red", "Green")
	asked.Text, asked.Header = "\x1b]0;mine\x1b\\", "mine"
	for name, c := range map[string]struct {
		env   map[string]string
		on    bool
		marks bool
	}{
		"a terminal":         {map[string]string{"TERM": "xterm", "ACCESSIBLE": formsPlease}, true, true},
		"switched off":       {map[string]string{"TERM": "xterm", "ACCESSIBLE": formsPlease}, false, false},
		"questions in lines": {map[string]string{"TERM": "xterm"}, true, false},
		"a dumb terminal":    {map[string]string{"TERM": "dumb"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var shown bytes.Buffer
			able := c.env["TERM"] != "dumb"
			out := newPrinter(stream{io.Discard, nil}, stream{&shown, nil}, false, able, able)
			out.inLines = c.env["ACCESSIBLE"] != formsPlease
			a := newPromptState(out, nil, "", out.forms())
			a.marks = c.on
			a.open = []Question{asked}
			a.mark(a.waiting())
			a.mark(a.waiting())
			a.mark(false)
			mustClose(t, out)
			want := keepTitle + "\x1b]0;? claude-supervise asks\x1b\\\x1b]9;4;4;100\x1b\\" +
				"\x1b]9;4;0\x1b\\\x1b]0;claude-supervise\x1b\\" + backTitle
			if got := shown.String(); c.marks && got != want || !c.marks && strings.Contains(got, "\x1b]") {
				t.Errorf("it writes %q", got)
			}
		})
	}
}
