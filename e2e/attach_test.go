package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"claude-supervise/examples"
)

// told is an agent that asks, and does what it is told meanwhile.
const told = `
name: told
about: a message reaches the agent while its question is open
prompt: Set the login up.
claude_flags: [--allowedTools, Bash]
turns:
  - when: "## YOUR TASK"
    replies:
      - text: |-
          I need to know one thing.

          [CLARIFICATION_NEEDED]
          agent_id: {{agent}}
          timestamp: 2026-01-11T08:45:00Z
          questions:
            - question_id: Q1
              text: Which way of login?
              options: [JWT, Sessions]
          [/CLARIFICATION_NEEDED]
  - when: "keep it simple"
    replies:
      - text: Simple it is.
        tools:
          - {name: Bash, input: {command: "echo simple > told.txt"}}
      - text: I still wait for the way of login.
  - when: "## CLARIFICATION RESPONSE"
    replies:
      - tools:
          - {name: Bash, input: {command: "echo '{{A1}}' > auth.txt"}}
      - text: "[COMPLETION_REPORT]\nagent_id: {{agent}}\ntimestamp: 2026-01-11T12:00:00Z\nstatus: success\nsummary: login is set up\n[/COMPLETION_REPORT]"
expect: {status: succeeded, exit_code: 0}
`

func TestAttachShowsARunAsksAsRunDoesAndTakesMessages(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run := strings.TrimSpace(w.must("run", "--detach", "--demo", w.scenario(told), "--hold", "forever"))
	p := w.sitInTmux()
	attach := `claude-supervise attach; echo "[exit $?]"`
	form := `Which way of login\?\n\n❯ 1\) JWT\n  2\) Sessions\n`
	p.keys("claude-supervise attach", "Enter")
	p.sees(`(?s)I need to know one thing\..*` + form + `.*\? help$`)

	// What others write to the run is shown above the form, which stays as it is.
	p.keys("Down")
	p.sees(`❯ 2\) Sessions`)
	w.must("attach", run, "from", "elsewhere")
	p.sees(`(?s)-- message of .*: from elsewhere.*the agent reads: from elsewhere.*❯ 2\) Sessions.*\? help$`)

	// A message is written beside the question, and is none of its answers.
	p.keys("Escape")
	p.sees(`Esc back to the question\n>$`)
	p.keys("keep it simple", "Enter")
	p.sees(`(?s)you: keep it simple\n.*The agent reads it now, in a turn of its own\..*❯ 2\) Sessions`)
	p.sees(`(?s)the agent reads: keep it simple.*❯ 2\) Sessions`) // which the log says, and the agent's own words beside it
	p.sees(`(?s)I still wait for the way of login.*❯ 2\) Sessions`)
	w.written("told.txt", "simple\n")
	if open := w.questions(); len(open) != 1 || open[0].Answer != nil {
		t.Errorf("open are %+v", open)
	}

	// Who leaves changes nothing, and finds all again.
	p.keys("C-z")
	p.sees(`Stopped.*\n\$$`)
	p.sane("after Ctrl-Z")
	p.keys("fg", "Enter")
	p.sees(`(?s)❯ 2\) Sessions.*\? help$`)
	p.keys("C-d")
	p.sees(`(?s)stays open\. Answer it with: .*Detached; ` + run +
		` continues\. To follow it again, run:\n  claude-supervise attach ` + run + `\n\$$`)
	p.keys(`echo "[exit $?]"`, "Enter")
	p.sees(`\n\[exit 0\]\n\$$`)
	p.sane("after Ctrl-D")
	if v := w.ps(); v.Status != "waiting" || len(v.OpenQuestions) != 1 {
		t.Errorf("the run is %s, %d questions are open", v.Status, len(v.OpenQuestions))
	}
	p.keys("clear; "+attach, "Enter")
	p.sees(`(?s)I need to know one thing\..*I still wait for the way of login\..*` + form + `.*\? help$`)
	p.keys("2", "Enter")
	p.sees(`(?s)Which way of login\?\n  Answered: Sessions.*` + run +
		` succeeded: reported success \(.*\)\n\[exit 0\]\n\$$`)
	w.written("auth.txt", "Sessions\n")
}

// A run may be over before the terminal that gave its last answer knows that the answer is kept.
func TestAnAnswerInAttachIsOnesOwnHoweverSoonTheRunIsOver(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run := strings.TrimSpace(w.must("run", "--detach", "--cwd", ".", "--demo", "ask", "--hold", "forever"))
	kept, over := make(chan struct{}), make(chan struct{})
	w.watches(func(_ int, p pass) {
		if p.point == "after note answer" {
			close(kept)
			<-over
		}
	})
	s := w.sit(nil, "attach", run)
	question := s.asked("Which way of login")
	s.types("2\r")
	<-kept
	if code, _, stderr := w.run("answer", question, "1"); code == 0 { // which rings for the one that was first
		t.Fatalf("a second answer is taken:\n%s", stderr)
	}
	w.must("wait", run)
	for range 10 { // by now attach has seen the end, too
		w.must("version")
	}
	close(over)
	seen := s.sees(`\] answered: Sessions`) + s.sees(run+` succeeded: `)
	if strings.Contains(seen, "Not taken") || strings.Contains(seen, "answered by") {
		t.Errorf("its own answer is another's:\n%s", seen)
	}
}

func TestAttachTakesMessagesWhileNothingIsAskedAndKeepsOneBesideAQuestion(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	gate := filepath.Join(w.Cwd, "go")
	noError(t, unix.Mkfifo(gate, 0o600))
	run := strings.TrimSpace(w.must("run", "--detach", "--demo", w.scenario(toldBeforeItAsks), "--hold", "forever"))
	waitFor(t, filepath.Join(w.Cwd, "started"))
	p := w.sitInTmux()
	p.keys("claude-supervise attach", "Enter")
	p.sees(`\n.+ · \d+s( · .*)? · type to write · Ctrl-C leaves\n>$`)
	p.pastes("two lines\nare one message")
	p.keys("Enter")
	p.sees(`you: two lines\n.*are one message\n.*in the turn that is under way`)
	p.keys("half a mess")
	p.sees(`\n> half a mess$`)
	noError(t, os.WriteFile(gate, []byte("go\n"), 0))
	p.sees(`(?s)❯ 1\) JWT.*\? help$`)
	w.must("answer", "2")
	p.sees(`(?s)  Answered by .*: Sessions.*Not sent: half a mess\n.*` + run + ` succeeded`)
}

// toldBeforeItAsks is told, whose agent is at work until the test lets it ask.
var toldBeforeItAsks = strings.Replace(told, `    replies:
      - text: |-
`, `    replies:
      - tools:
          - {name: Bash, input: {command: "echo > started; read line < go"}}
      - text: |-
`, 1)

func TestAttachInLinesLeavesByCtrlC(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run := strings.TrimSpace(w.must("run", "--detach", "--demo", w.scenario(told), "--hold", "forever"))
	s := w.sit([]string{"TERM=dumb"}, "attach")
	s.asked("Which way of login")
	s.types("/say keep it simple\r")
	s.sees("Simple it is")
	s.types("\x03")
	s.sees("Detached; " + run + " continues")
	s.exits(0)
	w.must("stop", run)
}

// toldInTurn is the same, and is told something more in the turn after the answer, in which it waits for the test.
var toldInTurn = strings.Replace(told, `> auth.txt"}}`, `> auth.txt; echo > started; read line < go"}}
  - when: "make it two"
    replies:
      - tools:
          - {name: Bash, input: {command: "echo two > second.txt"}}`, 1)

func TestAMessageReachesTheRealCLIBesideItsQuestion(t *testing.T) {
	s, err := examples.Parse([]byte(toldInTurn))
	noError(t, err)
	t.Parallel()
	w := newWorld(t).real(s, nil)
	gate := filepath.Join(w.Cwd, "go")
	noError(t, unix.Mkfifo(gate, 0o600))
	run := strings.TrimSpace(w.must(w.runArgs(s, "--detach", "--hold", "forever")...))
	w.becomes("waiting")
	w.must("attach", run, "keep it simple")
	waitFor(t, filepath.Join(w.Cwd, "told.txt"))
	q := w.questions()[0]
	w.must("answer", q.ID, "Sessions")
	waitFor(t, filepath.Join(w.Cwd, "started"))
	queued := func() int { return strings.Count(w.must("logs", run, "--raw"), `"state":"queued"`) }
	before := queued()
	w.must("attach", run, "make it two") // in the middle of a turn, which goes on with it
	for queued() == before {
	}
	noError(t, os.WriteFile(gate, []byte("go\n"), 0))
	w.must("wait", run)
	w.written("auth.txt", "Sessions\n")
	w.written("second.txt", "two\n")
	said := slices.DeleteFunc(w.conversation(), func(line string) bool {
		return !strings.Contains(line, "make it two") || !strings.Contains(line, `"queued_command"`)
	})
	if len(said) != 1 {
		t.Errorf("the message was taken into a turn %d times", len(said))
	}
}

// toldAtWork is an agent that is at work until the test lets it go on, and does what it is told meanwhile.
const toldAtWork = `
name: told-at-work
about: a message reaches the agent in the turn under way
prompt: Work.
claude_flags: [--allowedTools, Bash]
turns:
  - when: "## YOUR TASK"
    replies:
      - tools:
          - {name: Bash, input: {command: "echo > started; read line < go"}}
      - text: "[COMPLETION_REPORT]\nagent_id: {{agent}}\ntimestamp: 2026-01-11T12:00:00Z\nstatus: success\nsummary: it is done\n[/COMPLETION_REPORT]"
  - when: "make it two"
    replies:
      - tools:
          - {name: Bash, input: {command: "echo two > second.txt"}}
      - text: "[COMPLETION_REPORT]\nagent_id: {{agent}}\ntimestamp: 2026-01-11T12:00:00Z\nstatus: success\nsummary: two are done\n[/COMPLETION_REPORT]"
expect: {status: succeeded, exit_code: 0}
`

func TestWhatIsTypedWhileARunWorksIsAMessageAndNeverReachesTheShell(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	gate := filepath.Join(w.Cwd, "go")
	noError(t, unix.Mkfifo(gate, 0o600))
	p := w.sitInTmux()
	w.put("task.txt", "Work.") // which is what stdin has; the terminal is asked for all the same
	p.keys("claude-supervise run --demo "+w.scenario(toldAtWork)+" - < task.txt", "Enter")
	waitFor(t, filepath.Join(w.Cwd, "started"))
	p.keys("make it two")
	p.sees(`\n> make it two$`)
	p.keys("Enter")
	p.sees(`(?s)you: make it two\nThe agent reads it in the turn that is under way\.`)
	p.keys("touch typed.txt")
	p.sees(`\n> touch typed.txt$`)
	noError(t, os.WriteFile(gate, []byte("go\n"), 0))
	p.sees(`(?s)Not sent: touch typed\.txt\n.* succeeded \(.*\)\n\$$`)
	p.sane("after the run")
	w.written("second.txt", "two\n")
}
