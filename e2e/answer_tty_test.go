package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// park leaves a run that nobody supervises, and gives it with its question.
func (w *world) park() (run, question string) {
	w.t.Helper()
	w.exits(75, "run", "--cwd", ".", "--demo", "ask", "--hold", "0", "--on-question", "park")
	q := w.questions()[0]
	return q.Run, q.ID
}

func TestAnswerAsksOnATerminalAndOffersToGoOn(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run, question := w.park()
	s := w.sit(nil, "answer")
	if asked := s.asked("Which way of login"); asked != question {
		t.Errorf("it asks %s, not %s", asked, question)
	}
	s.types("2\r")
	s.sees(question + `\] answered: Sessions`)
	s.sees("Nobody supervises " + run + `. Resume it in the background\? \[y/N\] $`)
	s.types("y\r")
	s.sees("continues in the background")
	s.exits(0)
	w.becomes("succeeded")
	w.written("auth.txt", "login by Sessions\n")
}

// Without an id a person is asked all that is open, can put one off and come back to it, and is told of an answer that
// came from elsewhere meanwhile.
func TestAnswerWithoutAnIDWalksTheQueue(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	_, first := w.park()
	if code, _, stderr := w.run("run", "--demo", "ask", "--cwd", ".", "--quiet", "--hold", "0", "--on-question",
		"park"); code != 75 {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	second := w.questions()[1].ID
	s := w.sit(nil, "answer")
	if asked := s.asked("Which way of login"); asked != first {
		t.Errorf("it asks %s first, not %s", asked, first)
	}
	s.types(">\r")
	s.sees(first + `\] later`)
	if asked := s.asked("Which way of login"); asked != second {
		t.Errorf("it asks %s next, not %s", asked, second)
	}
	s.types("<\r")
	if asked := s.asked("Which way of login"); asked != first {
		t.Errorf("it goes back to %s, not %s", asked, first)
	}
	s.types("2FA please\r")
	s.sees(first + `\] answered: 2FA please`)
	if asked := s.asked("Which way of login"); asked != second {
		t.Errorf("it asks %s then, not %s", asked, second)
	}
	w.must("answer", second, "JWT")
	s.sees(second + `\] answered by .*claude-supervise answer.*: JWT`)
	s.sees(`Resume it in the background\? \[y/N\] $`)
	s.types("\r")
	s.exits(0)
}

func TestAnswerOnATerminalTakesNoForNo(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run, question := w.park()
	s := w.sit(nil, "answer", question, "own words")
	s.sees(`\[y/N\] $`)
	s.types("\r")
	s.sees("The answer is kept; nobody supervises the run. To continue, run:\\s+claude-supervise resume " + run)
	s.exits(0)
	if p := w.ps(); p.Status != "parked" {
		t.Errorf("it is %s", p.Status)
	}
}

func TestAnswerWithoutAWordLeavesTheQuestionOpen(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	_, question := w.park()
	s := w.sit(nil, "answer", question)
	s.asked("Which way of login")
	s.types("\r")
	s.asked("Which way of login")
	s.types("\x04")
	s.sees("the question stays open")
	s.exits(1)
	if open := w.questions(); len(open) != 1 {
		t.Errorf("open are %+v", open)
	}
}

// What a person was typing is said when it comes to nothing, and is there again, and is sent by Enter alone, after a
// Ctrl-C and after a kill.
func TestWhatWasTypedOnATerminalIsThereAfterResume(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	forms := []string{"ACCESSIBLE="}
	s := w.sit(forms, "run", "--cwd", ".", "--demo", "ask")
	s.sees(`\? help`)
	s.types("a magic")
	s.sees("a magic")
	s.types("\x03")
	s.sees("Not sent: a magic")
	s.leavesWith(130)
	q := w.questions()[0]
	draft := filepath.Join(w.stateFolder(), "runs", q.Run, "draft."+q.ID)
	if info, err := os.Stat(draft); err != nil || info.Mode() != 0o600 {
		t.Fatalf("the draft: %v, %v", info, err)
	}

	s = w.sit(forms, "resume", q.Run)
	s.sees(`Tab your draft`)
	s.sees(`\? help`)
	s.types("\t")
	s.sees("a magic")
	s.types(" link")
	s.sees("link")
	_ = s.cmd.Process.Kill()
	s.leaves()

	s = w.sit(forms, "resume", q.Run)
	s.sees(`Tab your draft`)
	s.sees(`\? help`)
	s.types("\t")
	s.sees("a magic link")
	w.must("answer", q.ID, "JWT")
	s.sees("Not sent: a magic link")
	s.leavesWith(0)
	w.written("auth.txt", "login by JWT\n")
	if _, err := os.Stat(draft); !os.IsNotExist(err) {
		t.Errorf("the draft of an answered question: %v", err)
	}
}

// Where lines are read, half a line is in the kernel's hands: it is neither lost nor left to the shell, however the
// person goes, and the terminal is as it was.
func TestHalfALineIsSaidAndKept(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	p := w.sitInTmux()
	p.keys("stty -g > mode", "Enter")
	asIs := func() {
		p.keys("clear; stty -g | cmp - mode && echo as it was", "Enter")
		p.sees(`(?m)^as it was\n\$$`)
		p.keys("clear", "Enter")
		p.sees(`^\$$`)
	}
	halfway := func(before, typed string) {
		p.sees(before + `(.*\n)*q-\w+>$`)
		p.keys(typed)
		p.sees(`q-\w+> ` + typed + `$`)
	}
	p.keys("claude-supervise run --plain --cwd . --demo ask", "Enter")
	halfway("", "one")
	q := w.questions()[0]
	p.keys("C-z")
	p.sees(`(?s)Not sent: one\n.*Stopped .*\n\$$`)
	asIs()
	p.keys("fg", "Enter")
	halfway("did not send it: one", "two")
	p.keys("C-c")
	p.sees(`(?s)Not sent: two\n.*interrupted with q-\w+ open.*\n\$$`)
	asIs()
	p.keys("claude-supervise resume --plain "+q.Run, "Enter")
	halfway("did not send it: two", "three")
	p.keys(`C-\`)
	p.sees(`(?m)^gs .*\n\$$`) // it dies as programs do
	if said := p.tmux("capture-pane", "-p", "-S", "-"); !strings.Contains(said, "Not sent: three\n") {
		t.Errorf("it is not said:\n%s", said)
	}
	asIs()
	p.keys("claude-supervise resume --plain "+q.Run, "Enter")
	halfway("did not send it: three", "four")
	w.must("answer", q.ID, "JWT")
	p.sees(`(?s)Not sent: four\n.*\n\$$`)
	asIs()
	w.written("auth.txt", "login by JWT\n")
}

// What is typed on the board and not sent is said when it ends, and is there again: on the next board, and where the
// run itself asks.
func TestWhatWasTypedOnTheBoardIsThereAfterIt(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run, question := w.park()
	p := w.sitInTmux()
	typed := func() {
		p.keys("clear; claude-supervise board", "Enter")
		p.sees(`1 question · 1 run(.*\n)+.*Enter answer`)
	}
	typed()
	p.keys("w", "use mysql")
	p.sees(`use mysql`)
	p.keys("Escape")
	p.sees(`Enter answer`)
	p.keys("a")
	p.sees(`Enter choose(.*\n)*.*\? help`)
	p.keys("a magic link")
	p.sees(`a magic link`)
	p.keys("C-c")
	p.sees(`\[` + question + `\] Not sent: a magic link\n(.*\n)*\[[ar]-\w+\] Not sent: use mysql\n\$$`)
	typed()
	p.keys("w")
	p.sees(`: use mysql`)
	p.keys("Escape")
	p.sees(`Enter answer`)
	p.keys("q")
	p.sees(`\$$`)
	p.keys("clear; claude-supervise resume --on-question ask "+run, "Enter")
	p.sees(`Tab your draft(.*\n)*.*\? help$`)
	p.keys("Tab", "Enter")
	p.sees(`Answered: a magic link`)
	w.must("wait", run)
	w.written("auth.txt", "login by a magic link\n")
}
