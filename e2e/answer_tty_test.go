package e2e

import (
	"testing"
)

// park leaves a run that nobody supervises, and gives it with its question.
func (w *world) park() (run, question string) {
	w.t.Helper()
	if code, _, stderr := w.run("run", "--cwd", ".", "--demo", "ask", "--hold", "0", "--on-question", "park"); code != 75 {
		w.t.Fatalf("exit %d\n%s", code, stderr)
	}
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
	if code := s.ends(); code != 0 {
		t.Fatalf("exit %d\n%s", code, s.seen)
	}
	for w.ps().Status != "succeeded" { // each look is a process of its own: no need to rest between them
	}
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
	if code := s.ends(); code != 0 {
		t.Fatalf("exit %d\n%s", code, s.seen)
	}
}

func TestAnswerOnATerminalTakesNoForNo(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run, question := w.park()
	s := w.sit(nil, "answer", question, "own words")
	s.sees(`\[y/N\] $`)
	s.types("\r")
	s.sees("The answer is kept; nobody supervises the run. To continue, run:\\s+claude-supervise resume " + run)
	if code := s.ends(); code != 0 {
		t.Fatalf("exit %d\n%s", code, s.seen)
	}
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
	if code := s.ends(); code != 1 {
		t.Fatalf("exit %d\n%s", code, s.seen)
	}
	if open := w.questions(); len(open) != 1 {
		t.Errorf("open are %+v", open)
	}
}
