package e2e

import (
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// The board on a real terminal: a question is answered there while another place is too late, and the terminal is given
// back.
func TestTheBoardAnswersAndLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run, question := w.park()
	s := w.sit([]string{"NO_COLOR=1"}, "board")
	s.sees(`1 question · 1 run`)
	s.types("a")
	s.sees(`↑↓ Enter choose`) // the grace is over
	s.types("2")
	s.sees(`❯ 2\) Sessions`)
	s.types("\r")
	s.sees("Nobody supervises " + run)
	if code, _, stderr := w.run("answer", question, "JWT"); code != 1 || !strings.Contains(stderr, "Sessions") {
		t.Errorf("a second answer gets exit %d and reads %q", code, stderr)
	}
	s.types("q")
	leftAsItWas(t, s)
}

func TestTheBoardShowsWhoAnsweredElsewhereAndEndsOnASignal(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	_, question := w.park()
	s := w.sit([]string{"NO_COLOR=1"}, "board")
	s.sees(`1 question · 1 run`)
	s.types("a")
	s.sees(`↑↓ Enter choose`)
	w.must("answer", question, "JWT")
	s.sees(question + ` was answered by .*claude-supervise answer.*: JWT`)
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	leftAsItWas(t, s)
}

// leftAsItWas waits for the program's end without an error, and checks that all modes that a full screen sets are taken
// back.
func leftAsItWas(t *testing.T, s *screen) {
	t.Helper()
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	<-s.gone
	for set, reset := range map[string]string{
		ansi.SetModeAltScreenSaveCursor: ansi.ResetModeAltScreenSaveCursor, ansi.HideCursor: ansi.ShowCursor,
		ansi.SetModeMouseNormal: ansi.ResetModeMouseNormal, ansi.SetModeBracketedPaste: ansi.ResetModeBracketedPaste,
	} {
		if at := strings.LastIndex(string(s.seen), set); at < 0 || at > strings.LastIndex(string(s.seen), reset) {
			t.Errorf("%q is not taken back", set)
		}
	}
}
