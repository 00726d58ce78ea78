package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"claude-supervise/procs/pty"
)

const hostileLine = "{\"line\":\"\x1b[2J \u009b31m \u202eevil \x9b31m\U000e0041\"}\r\n"

func TestARawLineIsWrittenByteForByteIntoAPipe(t *testing.T) {
	var out bytes.Buffer
	p := NewPrinter(&out, io.Discard, Look{})
	for _, line := range []string{hostileLine, "cut"} {
		if err := p.Raw([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(context.Background()); err != nil || out.String() != hostileLine+"cut" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestARawLineOnATerminalHoldsNothingThatItWouldObey(t *testing.T) {
	person, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = person.Close(); _ = tty.Close() }()
	p := NewPrinter(tty, io.Discard, Look{})
	if err := p.Raw([]byte(hostileLine)); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	seen := make([]byte, 1000)
	n, err := person.Read(seen)
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.TrimSuffix(string(seen[:n]), "\r\n")
	if Clean(shown) != shown {
		t.Errorf("it shows %q", shown)
	}
	shown = strings.TrimSuffix(shown, `\u000d`) // stood outside of the JSON
	var kept struct{ Line string }
	if err := json.Unmarshal([]byte(shown), &kept); err != nil ||
		!strings.HasPrefix(kept.Line, "\x1b[2J \u009b31m \u202eevil \ufffd31m") {
		t.Errorf("%q is read as %q: %v", shown, kept.Line, err)
	}
}
