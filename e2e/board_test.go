package e2e

import (
	"fmt"
	"os"
	"path/filepath"
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
	noError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	leftAsItWas(t, s)
}

// The keys of the board do to a run what the commands do.
func TestTheKeysOfTheBoardReachTheRun(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	first, _ := w.park()
	p := w.sitInTmux()
	p.keys("claude-supervise board", "Enter")
	p.sees(`1 question · 1 run(.*\n)+.*Enter answer`)
	p.keys("End", "w")
	p.sees(`\nto ` + first + `:`)
	p.keys("Use what there is.", "Enter")
	p.sees(`It is kept: the agent reads it when the run continues\. a answers what it asks; r\s+resumes the run then\.`)
	p.keys("a")
	p.sees(`↑↓ Enter choose`)
	p.keys("2", "Enter")
	p.sees("Nobody supervises " + first + ": r resumes it.")
	p.keys("r")
	p.sees(`❯ succeeded .*Add a login`)
	if got := w.got("auth.txt"); !strings.Contains(got, "Sessions") {
		t.Errorf("the run has made of it %q", got)
	}
	p.keys("d")
	p.sees(`\[diff\] ── ` + first + `(.*\n)+.*by its own edits:(.*\n)+\+.*Sessions`)
	p.keys("Escape")
	p.sees(`❯ succeeded .*Add a login`)
	p.keys("/", "login sessions", "Enter")
	p.sees(`❯ succeeded .*Add a login.*\n *✓ .*Which way of login .* was answered by(.*\n)+`)
	p.keys("Escape")
	p.sees(`0 questions · 0 runs +1/1`)
	p.keys("p")
	p.sees("Delete the records of " + first)
	p.keys("n")
	p.sees("Nothing was done.")
	p.keys("p", "y")
	p.sees(`no questions|0 questions · 0 runs(.*\n)+No run is active`)
	if code, _, _ := w.run("show", first); code != 2 {
		t.Errorf("show of what was forgotten exits %d", code)
	}
	second, _ := w.park()
	p.sees(`1 question · 1 run(.*\n)+.*Enter answer`)
	p.keys("s")
	p.sees("Stop .*, and what it started")
	p.keys("y")
	p.sees(`stopped `)
	if status := w.ps().Status; w.ps().ID != second || status != "stopped" {
		t.Errorf("%s is %s", w.ps().ID, status)
	}
}

// On a board of nothing, in an empty home, a run is started and answered.
func TestARunIsStartedAndAnsweredOnTheBoard(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	agent := filepath.Join(w.Home, "claude")
	if err := os.WriteFile(agent, []byte("#!/bin/sh\nexec "+program+" stand-in ask \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.Env = append(w.Env, "CLAUDE_SUPERVISE_CLAUDE="+agent)
	p := w.sitInTmux()
	p.keys("claude-supervise board", "Enter")
	p.sees(`No run is active(.*\n)+.*n starts one`)
	p.keys("n")
	p.sees(`\ntask:`)
	p.keys("Add a login to the service.", "Enter")
	p.sees(`the folder: ` + w.Cwd) // of a long one the end
	p.keys("/none", "Enter")
	p.sees(`\nname, or nothing:`)
	p.keys("Enter")
	p.sees(`there is no folder\s+/\S+/none;\s+nothing\s+was\s+started`)
	p.keys("n")
	p.sees(`\ntask: Add a login to the service.`)
	p.keys("Enter")
	p.sees(`the folder: ` + w.Cwd) // of a long one the end
	p.keys("Enter")
	p.sees(`\nname, or nothing:`)
	p.keys("login", "Enter")
	p.sees(`1 question · 1 run(.*\n)+.*login`)
	p.keys("a")
	p.sees(`May it run: ls -a`) // nothing was permitted
	runs := parse[[]struct{ Name, Cwd string }](t, w.must("ps", "--json"))
	if len(runs) != 1 || runs[0].Name != "login" || runs[0].Cwd != w.Cwd {
		t.Errorf("there are %+v", runs)
	}
	w.must("stop", w.ps().ID)
	p.sees(`q quit`)
}

// An answer that all others have seen before the command that gave it has come back is still its own.
func TestAnAnswerIsOnesOwnHoweverSoonItIsSeen(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run, question := w.park()
	s := w.sit([]string{"NO_COLOR=1"}, "board")
	s.sees(`1 question ·`)
	seen := make(chan struct{})
	w.watches(func(_ int, p pass) {
		if p.point == "after note answer" {
			<-seen
		}
	})
	terminal := w.sit(nil, "answer", question)
	terminal.asked("Which way of login")
	terminal.types("2\r")
	s.sees(`0 questions ·`)
	for range 10 { // by now the command has, too
		w.must("version")
	}
	close(seen)
	terminal.sees(question + `\] answered: Sessions`)
	terminal.sees("Nobody supervises " + run + `. Resume it in the background\? \[y/N\] $`)
	terminal.types("n\r")
}

func TestWithoutACommandTheBoardIsOpenedIfAnythingIsOpen(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil)
	s.sees(`Nothing is open\. To begin:\s+claude-supervise run "TASK"`)
	if code := s.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
	w.park()
	s = w.sit([]string{"NO_COLOR=1"})
	s.sees(`1 question · 1 run(.|\s)*q quit`)
	s.types("q")
	if code := s.leaves(); code != 0 {
		t.Errorf("the board exits %d", code)
	}
	if _, stdout, _ := w.run(); !strings.Contains(stdout, "Available Commands:") {
		t.Errorf("in a pipe it prints\n%s", stdout)
	}
}

// Whoever is first: the run's own terminal is told of the board's answer, and the board of the terminal's.
func TestTheBoardAndTheRunsTerminalTellEachOtherWhoAnswered(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run := w.sit([]string{"ACCESSIBLE="}, "run", "--cwd", ".", "--demo", "several")
	run.sees(`What is the service called\?`)
	s := w.sit([]string{"NO_COLOR=1"}, "board")
	s.sees(`3 questions · 1 run`)
	s.types("a")
	s.sees(`Enter sends`) // it wants a text, and the grace is over
	s.types("ledger\r")
	s.sees(`Which port does it listen on`)
	run.sees(`Answered in another terminal .*: ledger`)
	run.sees(`Which port does it listen on(.|\s)*\? help`)
	s.sees(`Enter sends`)
	s.types("80") // and is still at it
	run.types("8080\r")
	s.sees(`What you typed is kept: w writes it to a-\w+\. q-\w+ was answered by(.|\s)*: 8080`)
}

// A state that is moved away while the board is open is said, and what was seen stays; back again, it is live.
func TestTheBoardSaysThatTheStateIsGone(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	_, question := w.park()
	s := w.sit([]string{"NO_COLOR=1"}, "board")
	s.sees(`1 question · 1 run`)
	state := filepath.Join(w.Home, ".local/state/claude-supervise")
	noError(t, os.Rename(state, state+".away"))
	s.sees(`! .*(.|\s)*moved away or removed`)
	s.types("a")
	s.sees(`↑↓ Enter choose`)
	s.types("2\r")
	s.sees(`Not taken: `)
	noError(t, os.Rename(state+".away", state))
	w.must("answer", question, "JWT")
	s.sees(question + ` was answered by .*: JWT`)
}

// However it ends, a shell goes on where it was: with its own screen, a cursor, no mouse, and what is typed is seen.
func TestTheBoardGivesTheTerminalBackHoweverItEnds(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	w.park()
	p := w.sitInTmux()
	open := func() (pid int) {
		p.keys("clear; sh -c 'echo pid $$ > pid; exec claude-supervise board'", "Enter")
		p.sees(`1 question · 1 run(.*\n)+.*Enter answer`)
		text, err := os.ReadFile(filepath.Join(w.Cwd, "pid"))
		noError(t, err)
		if _, err := fmt.Sscanf(string(text), "pid %d", &pid); err != nil {
			t.Fatal(err)
		}
		return pid
	}
	given := func(ending string) {
		p.sees(`\$$`)
		const modes = "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{mouse_sgr_flag}"
		if flags := p.tmux("display-message", "-p", modes); flags != "0 1 0 0\n" {
			t.Errorf("%s: alternate screen, cursor, mouse, mouse's form: %s", ending, flags)
		}
		p.sane(ending)
	}
	for _, ending := range []struct {
		name string
		end  func(pid int)
		says string
	}{
		{"q", func(int) { p.keys("q") }, ""},
		{"Ctrl-C", func(int) { p.keys("C-c") }, ""},
		{"Ctrl-\\", func(int) { p.keys(`C-\`) }, "SIGQUIT"},
		{"SIGTERM", func(pid int) { _ = syscall.Kill(pid, syscall.SIGTERM) }, ""},
		{"SIGHUP", func(pid int) { _ = syscall.Kill(pid, syscall.SIGHUP) }, ""},
		{"SIGINT in a form", func(pid int) {
			p.keys("a")
			p.sees("↑↓ Enter choose")
			_ = syscall.Kill(pid, syscall.SIGINT)
		}, ""},
	} {
		ending.end(open())
		if ending.says == "" {
			p.sees(`^\$$`) // and nothing else
		}
		given(ending.name)
	}
	open()
	p.keys("C-z")
	p.sees(`(?s)Stopped .*\n\$$`)
	given("Ctrl-Z")
	p.keys("fg", "Enter")
	p.sees(`1 question · 1 run(.*\n)+.*Enter answer`)
	p.resizes("60", "16")
	p.sees(`(.*\n){14}Enter answer · Tab pane`) // the keys take two rows
	p.keys("q")
	p.resizes("80", "24")
	given("q after fg")
}

func TestTheBoardEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil, "board")
	s.sees(`no questions|0 questions`)
	_ = s.tty.Close()
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("it ends with %v\n%s", err, s.seen)
	}
}

func TestABoardIsRefusedWhereNothingCanBeDrawn(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit([]string{"TERM=dumb"}, "board")
	s.sees("the board needs a terminal that can be drawn on; elsewhere:")
	if code := s.ends(); code != 2 {
		t.Errorf("exit %d", code)
	}
	if strings.Contains(string(s.seen), "\x1b") {
		t.Errorf("it writes %q", s.seen)
	}
}

// With a mouse, and what a terminal says of one that it was not asked for is no key.
func TestTheBoardTakesAMouse(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	w.park()
	p := w.sitInTmux()
	p.keys("claude-supervise board", "Enter")
	p.sees(`1 question · 1 run(.*\n)+.*Enter answer`)
	click := func(row string) { p.keys("-l", "\x1b[<0;9;"+row+"M\x1b[<0;9;"+row+"m") }
	click("4")
	p.sees(`\n❯ parked (.*\n)+── \[log\] report worktrees`)
	click("2")
	p.sees(`\n❯ \? `)
	click("2")
	p.sees(`↑↓ Enter choose`)
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
