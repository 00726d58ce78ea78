package service

import (
	"strings"
	"testing"
)

func TestALongDiffIsCutBetweenLinesAndSaysHowMuchIsLeft(t *testing.T) {
	const line = "+größer\n"
	short := strings.Repeat(line, maxDiff/len(line))
	if got := beginning(short, "r-one"); got != short {
		t.Errorf("%d bytes were cut to %d", len(short), len(got))
	}
	got := beginning(short+line+line, "r-one")
	if want := short + "… (20 more bytes: claude-supervise show r-one --diff)\n"; got != want {
		t.Errorf("it ends in %q, want %q", got[len(got)-90:], want[len(want)-90:])
	}
}
