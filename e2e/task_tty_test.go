package e2e

import (
	"strings"
	"testing"
)

func TestUnderCheckAskATaskThatLacksSomethingStartsOnlyAfterAYes(t *testing.T) {
	t.Parallel()
	for typed, code := range map[string]int{"y\r": 0, "yes\r": 0, "n\r": 2, "\r": 2, "yeah, why not\r": 2, "\x04": 2} {
		t.Run(typed, func(t *testing.T) {
			t.Parallel()
			w := demoWorld(t)
			s := w.sit(nil, "run", "--cwd", ".", "--demo", "ask", "--answer", "login=JWT", "--check", "ask", "Write a poem")
			shown := s.sees(`Start it all the same\? \[y/N\] $`)
			for _, part := range []string{"  context: ", "  success criteria: "} {
				if !strings.Contains(shown, part) {
					t.Errorf("%q is not asked about:\n%s", part, shown)
				}
			}
			s.types(typed)
			if got := s.ends(); got != code {
				t.Fatalf("exit %d, want %d\n%s", got, code, s.seen)
			}
			if runs := len(parse[[]runView](t, w.must("ps", "-a", "--json"))); runs != map[int]int{0: 1, 2: 0}[code] {
				t.Errorf("%d runs were made", runs)
			}
			if code == 2 && !strings.Contains(string(s.seen), "nothing was started") {
				t.Errorf("the person is not told that nothing was started:\n%s", s.seen)
			}
		})
	}
}

func TestACompleteTaskIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil, "run", "--demo", "ask", "--answer", "login=JWT",
		"--check", "ask", "Fix the tests in ./parser until they pass")
	if code := s.ends(); code != 0 || strings.Contains(string(s.seen), "[y/N]") {
		t.Errorf("exit %d\n%s", code, s.seen)
	}
}

func TestARunInTheBackgroundIsAskedAboutBeforeItGoesThere(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil, "run", "--cwd", ".", "--demo", "ask", "--answer", "login=JWT", "--check", "ask", "--detach", "Write a poem")
	s.sees(`\[y/N\] $`)
	s.types("y\r")
	if code := s.ends(); code != 0 {
		t.Fatalf("exit %d\n%s", code, s.seen)
	}
	run := parse[[]runView](t, w.must("ps", "-a", "--json"))[0].ID
	w.must("wait", run)
	w.written("auth.txt", "login by JWT\n")
}

func TestOnATerminalTheFirstLinesSayHowToFollowAnswerAndStopTheRun(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil, "run", "--cwd", ".", "--demo", "ask", "--answer", "login=JWT")
	if code := s.ends(); code != 0 {
		t.Fatalf("exit %d\n%s", code, s.seen)
	}
	run := parse[[]runView](t, w.must("ps", "-a", "--json"))[0].ID
	first := strings.Join(rows(string(s.seen))[:4], "\n")
	for _, told := range []string{"run " + run, "claude-supervise attach " + run, "answer, stop, ps"} {
		if !strings.Contains(first, told) {
			t.Errorf("%q is not in the first lines:\n%s", told, first)
		}
	}
	quiet := w.sit(nil, "run", "--cwd", ".", "--demo", "ask", "--answer", "login=JWT", "--quiet")
	if code := quiet.ends(); code != 0 || strings.Contains(string(quiet.seen), "stop r-") {
		t.Errorf("under --quiet: exit %d\n%s", code, quiet.seen)
	}
}
