package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/e2e/machine"
	"claude-supervise/examples"
	"claude-supervise/procs/pty"
)

func demoWorld(t *testing.T) *world {
	t.Helper()
	return newWorld(t)
}

// written checks what a file of the run's folder holds.
func (w *world) written(name, want string) {
	w.t.Helper()
	if got, err := os.ReadFile(filepath.Join(w.Cwd, name)); err != nil || string(got) != want {
		w.t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
	}
}

func TestAQuestionOnTheTerminalTakesNumberLetterLabelAndOwnWords(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"2": "Sessions", "b": "Sessions", "sessions": "Sessions", "j": "JWT", "passkeys, please": "passkeys, please",
		`""" 2 """`: "2",
	} {
		t.Run(typed, func(t *testing.T) {
			t.Parallel()
			w := demoWorld(t)
			s := w.sit(nil, "run", "--cwd", ".", "--demo", "ask")
			s.asked("Which way of login")
			s.types(typed + "\r")
			s.sees(`\] answered: ` + regexp.QuoteMeta(strings.Fields(want)[0]))
			s.exits(0)
			w.written("auth.txt", "login by "+want+"\n")
		})
	}
}

func TestATaskFromAFileIsAskedAboutOnTheTerminal(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	w.writes("task.txt", "Add a login.\n")
	cmd := w.Command("run", "-", "--demo", "ask", "--cwd", ".", "--check", "off")
	cmd.Args = append([]string{"sh", "-c", `exec "$0" "$@" < task.txt`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	s := w.seat(cmd, nil)
	s.asked(`Which way of login`)
	s.types("2\r")
	s.exits(0)
	if got := w.reads("auth.txt"); !strings.HasPrefix(got, "login by Sessions\n") {
		t.Errorf("auth.txt holds %q", got)
	}
}

func TestAnAnswerOnTheTerminalMayHaveSeveralLines(t *testing.T) {
	t.Parallel()
	for first, more := range map[string]string{
		`a token \`:              "and a cookie\r",
		`"""a token `:            "and a cookie\"\"\"\r",
		"a token \rand a cookie": "\r", // pasted
	} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			w := demoWorld(t)
			s := w.sit(nil, "run", "--cwd", ".", "--demo", "ask")
			id := s.asked("Which way of login")
			s.types(first + "\r")
			s.sees(`\.\.\. $`)
			s.types(more)
			s.sees(`\] answered: a token and a cookie`)
			s.exits(0)
			q := parse[questionView](t, w.must("show", id, "--json"))
			if q.Answer == nil || *q.Answer != "a token \nand a cookie" {
				t.Errorf("the answer kept is %v", q.Answer)
			}
		})
	}
}

func TestAnAnswerThatTheQuestionForbidsIsAskedForAgain(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil, "run", "--cwd", ".", "--demo", "ask")
	s.asked("Which way of login")
	s.types("3\r")
	s.sees(`Not taken: "3" is not one of the options`)
	s.sees(askedFor)
	s.types("\r") // shows the question again
	s.asked("Which way of login")
	s.types("?\r")
	s.sees("Ctrl-D +stops asking here")
	s.sees(askedFor)
	s.types("1\r")
	s.exits(0)
}

// asksForItsFile is played by a child that makes a file where it works, and asks for it.
var asksForItsFile = `
name: own-file
about: a child that asks for a file that is in its worktree alone
prompt: Find it.
claude_flags: [--allowedTools, Bash]
turns:
  - when: "## YOUR TASK"
    replies:
      - tools:
          - {name: Bash, input: {command: "touch made.txt", description: make it}}
      - ` + clarifies("\n  - question_id: Q1\n    text: Which file is it?\n    validate: path") + `
  - when: "## CLARIFICATION RESPONSE"
    replies:
      - text: |-
          [COMPLETION_REPORT]
          agent_id: {{agent}}
          timestamp: 2026-01-11T12:00:00Z
          status: success
          summary: it is {{A1}}
          [/COMPLETION_REPORT]
expect: {status: succeeded, exit_code: 0}
`

func TestAPathOnTheTerminalIsLookedUpWhereItsAgentWorks(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	w.committed()
	s := w.sit(nil, "run", "--worktree", "--each", "echo it", "Find {item}", "--demo", w.scenario(asksForItsFile))
	s.asked("Which file is it")
	s.types("none.txt\r")
	s.sees(`Not taken: there is no "none.txt"`)
	s.sees(askedFor)
	s.types("made.txt\r")
	s.sees("it is made.txt")
	s.exits(0)
}

func TestAPathGivenInAdvanceIsLookedUpWhereItsAgentWorks(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	w.committed()
	said := w.must("run", "--worktree", "--each", "echo it", "Find {item}", "--answer", "Q1=made.txt",
		"--on-question", "fail", "--demo", w.scenario(asksForItsFile))
	if !strings.Contains(said, "it is made.txt") {
		t.Errorf("it ends with %q", said)
	}
}

func TestSeveralQuestionsAreAskedOneByOneAndOneCanGoBack(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil, "run", "--cwd", ".", "--demo", "several")
	first := s.asked("What is the service called")
	s.types("ledger\r")
	s.asked("Which port")
	s.types("eighty\r")
	s.sees("Not taken")
	s.sees(askedFor)
	s.types("<\r")
	if again := s.asked("What is the service called"); again != first {
		t.Errorf("question %s became %s", first, again)
	}
	s.types("journal\r")
	s.asked("Which port")
	s.types("8080\r")
	s.asked("How much")
	s.types("quiet\r")
	s.exits(0)
	w.written("settings.txt", "name=journal\nport=8080\nlog=quiet\n")
}

func TestAQuestionAnsweredElsewhereIsWithdrawnFromTheTerminal(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil, "run", "--cwd", ".", "--demo", "ask")
	id := s.asked("Which way of login")
	s.types("JW") // half an answer
	s.sees("JW")
	w.must("answer", id, "2")
	s.sees(id + `\] answered by .*claude-supervise answer.*: Sessions`)
	s.exits(0)
	w.written("auth.txt", "login by Sessions\n")
}

func TestCtrlDLeavesTheQuestionOpenUntilEnter(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil, "run", "--cwd", ".", "--demo", "ask")
	id := s.asked("Which way of login")
	s.types("\x04")
	s.sees("stays open. Answer it with: claude-supervise answer " + id + " VALUE")
	s.sees("Nothing more is asked here until you press Enter")
	if open := w.questions(); len(open) != 1 || open[0].ID != id {
		t.Fatalf("open are %+v", open)
	}
	s.types("\r")
	s.asked("Which way of login")
	s.types("1\r")
	s.exits(0)
}

func TestCtrlCSavesAllAndSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil, "run", "--cwd", ".", "--demo", "ask")
	id := s.asked("Which way of login")
	s.types("\x03")
	s.sees("with " + id + " open; everything is saved \\(.*\\)\\s+To continue, run: claude-supervise resume r-")
	s.exits(130)
	run := w.ps()
	if left := machine.Marked(run.ID); len(left) > 0 || run.SupervisorPID != 0 || len(run.OpenQuestions) != 1 {
		t.Fatalf("processes %v are left, ps says %+v", left, run)
	}
	again := w.sit(nil, "resume", run.ID)
	if asked := again.asked("Which way of login"); asked != id {
		t.Errorf("question %s became %s", id, asked)
	}
	again.types("1\r")
	again.exits(0)
}

// timeout, systemd and a shell's kill wake what they end: the question is not drawn again for that.
func TestWhoEndsARunFromOutsideHasNoQuestionDrawnAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env          []string
		ready, again string // what is shown last, and only where the question is drawn again
	}{
		"lines": {nil, "q-[a-z0-9]+> $", "1) JWT"},
		"form":  {[]string{"ACCESSIBLE="}, "Tab own words", "a moment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := demoWorld(t).sit(c.env, "run", "--cwd", ".", "--demo", "ask")
			s.sees(c.ready)
			for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM, syscall.SIGCONT, syscall.SIGCONT} {
				noError(t, s.cmd.Process.Signal(sig))
			}
			<-s.gone
			if rest := s.seen[s.read:]; bytes.Contains(rest, []byte(c.again)) {
				t.Errorf("it is drawn again:\n%q", rest)
			}
		})
	}
}

// stubborn is work that a SIGTERM does not end.
const stubborn = `
name: stubborn
about: work that does not end when it is told to
prompt: Work.
claude_flags: [--allowedTools, Bash]
turns:
  - when: "## YOUR TASK"
    replies:
      - tools:
          - name: Bash
            input:
              command: "trap '' TERM INT HUP; echo started > started.txt; while [ $((i+=1)) -lt 600 ]; do sleep 0.1; done"
              timeout: 600000
expect: {status: interrupted, exit_code: 130}
`

// clarifies is a reply of a scenario that asks questions, which are YAML.
func clarifies(questions string) string {
	return "text: " + strconv.Quote("[CLARIFICATION_NEEDED]\nagent_id: {{agent}}\ntimestamp: 2026-01-11T08:45:00Z\n"+
		"blocked_at: the next step\nreason: it is yours to say\nquestions:"+questions+
		"\ncan_resume_with: the answers\ncurrent_state: nothing is done\n[/CLARIFICATION_NEEDED]")
}

func (w *world) scenario(text string) string {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "scenario.yaml")
	noError(w.t, os.WriteFile(path, []byte(text), 0o600))
	if _, err := examples.Load(path); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func TestASecondCtrlCEndsAtOnceAndLeavesNoProcess(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil, "run", "--demo", w.scenario(stubborn))
	waitForText(t, filepath.Join(w.Cwd, "started.txt"))
	s.types("\x03")
	for seen := ""; !strings.Contains(seen, "To continue"); { // the same Ctrl-C passed on would come at once
		s.types("\x03")
		seen = s.sees("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]|(everything is saved|was ended at once; .* is kept) \\(.*\\)\\s+To continue, run:")
	}
	s.sees(" claude-supervise resume r-")
	s.exits(130)
	if left := machine.Marked(w.ps().ID); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

func TestATerminalThatIsClosedLosesNothing(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil, "run", "--cwd", ".", "--demo", "ask")
	id := s.asked("Which way of login")
	noError(t, s.tty.Close())
	if err := s.cmd.Wait(); s.cmd.ProcessState.ExitCode() != 130 {
		t.Fatalf("%v\n%s", err, s.seen)
	}
	run := w.ps()
	if left := machine.Marked(run.ID); len(left) > 0 || run.Status == "orphaned" {
		t.Fatalf("processes %v are left, ps says %s: %s", left, run.Status, run.Reason)
	}
	w.must("answer", id, "2")
	w.must("resume", run.ID)
	w.written("auth.txt", "login by Sessions\n")
}

func TestADumbTerminalGetsPlainLines(t *testing.T) {
	t.Parallel()
	for _, env := range [][]string{{"TERM=dumb"}, {"TERM="}} {
		t.Run(env[0], func(t *testing.T) {
			t.Parallel()
			w := demoWorld(t)
			s := w.sit(env, "run", "--cwd", ".", "--demo", "ask")
			s.asked("Which way of login")
			s.types("1\r")
			s.exits(0)
			if bytes.ContainsRune(s.seen, '\x1b') {
				t.Errorf("it shows an escape sequence: %q", s.seen)
			}
		})
	}
}

func TestNoColorLeavesOnlyTheStatusLine(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit([]string{"NO_COLOR=1"}, "run", "--cwd", ".", "--demo", "ask")
	s.asked("Which way of login")
	s.types("1\r")
	s.exits(0)
	if colour := regexp.MustCompile(`\x1b\[[0-9;]*m`).Find(s.seen); colour != nil {
		t.Errorf("it shows %q", colour)
	}
}

func TestANarrowedTerminalGetsNarrowLines(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil, "run", "--cwd", ".", "--demo", "ask")
	s.asked("Which way of login")
	noError(t, pty.Setsize(s.tty, &pty.Winsize{Rows: 20, Cols: 40}))
	s.types("\r") // shows the question again
	shown := s.sees(askedFor)
	for _, row := range rows(shown) {
		if width := ansi.StringWidth(row); width > 40 {
			t.Errorf("a line of %d columns: %s", width, row)
		}
	}
	s.types("1\r")
	s.exits(0)
}

// hostile says on every occasion what would take a terminal over: colours, the title, the clipboard (OSC 52), a cleared
// screen, the other reading direction.
const hostile = `
name: hostile
about: an agent whose words would take a terminal over
prompt: Choose a colour.
claude_flags: [--allowedTools, Bash]
turns:
  - when: "## YOUR TASK"
    replies:
      - text: "\e[2J\e]52;c;ZXZpbA==\aI look \u202Earound\u2066, \x9B31mred\r\nand \u200Bhidden."
        tools:
          - {name: Bash, input: {command: "printf '\\033[31mred' # \e[2J\e]0;title\a", description: paint}}
      - text: "[CLARIFICATION_NEEDED]\nagent_id: {{agent}}\ntimestamp: 2026-01-11T08:45:00Z\nquestions:\n  - question_id: Q1\n    text: Which \e]52;c;ZXZpbA==\acolour \u202Eis it?\n    context: It \e[5mblinks\e[0m.\n    options:\n      - label: \e[31mred\e[0m\n        description: a \u2066colour\n      - label: blue\n        description: \"\e]0;title\aanother\"\n[/CLARIFICATION_NEEDED]"
  - when: "## CLARIFICATION RESPONSE"
    replies:
      - text: "[COMPLETION_REPORT]\nagent_id: {{agent}}\ntimestamp: 2026-01-11T12:00:00Z\nstatus: success\nsummary: all \e]52;c;ZXZpbA==\ais \e[31mred \u202Enow\nissues_encountered: \e[2Jnone\n[/COMPLETION_REPORT]"
expect: {status: succeeded, exit_code: 0}
`

func TestNothingThatAnAgentSaysReachesTheTerminalRaw(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit(nil, "run", "--demo", w.scenario(hostile))
	s.asked("Which colour is it")
	s.types("red\r")
	s.sees("all is red now")
	if code := s.ends(); code != 0 { // and looks at all that was shown
		t.Fatalf("exit %d\n%s", code, s.seen)
	}
	if s.bells != 2 { // for the question and the end; the agent rings none
		t.Errorf("the bell rings %d times", s.bells)
	}
}
