package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/examples"
)

// asksToRun is played by agents beside each other: each wants to run a command that nobody has allowed.
const asksToRun = `
name: asks-to-run
about: agents that ask for permission at the same moment
prompt: Run it.
turns:
  - when: "## YOUR TASK"
    replies:
      - tools:
          - {name: Bash, input: {command: "echo ran >> ran.txt", description: run it}}
      - text: |-
          [COMPLETION_REPORT]
          agent_id: {{agent}}
          timestamp: 2026-01-11T12:00:00Z
          status: success
          summary: it ran
          [/COMPLETION_REPORT]
expect: {status: succeeded, exit_code: 0}
`

// ready is the footer of a form whose keys count.
const ready = `\? help`

// ran is how often the command of asksToRun has run.
func (w *world) ran() int {
	text, _ := os.ReadFile(filepath.Join(w.Cwd, "ran.txt")) // not there: it never ran
	return strings.Count(string(text), "ran")
}

// A second key that comes with the first, or in the moment in which the next question appears, allows nothing.
func TestKeysOfOneMomentAllowOneCallOnly(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][2]string{"digits": {"1\r", "1"}, "Enter": {"1\r", "\r"}} {
		t.Run(name, func(t *testing.T) {
			agentsOn(t, asksToRun, func(t *testing.T, w *world, s examples.Scenario) {
				agent := w.agent
				w.agent = append([]string{"--check", "off", "--each", "printf 'a\\nb\\n'", "--max-parallel", "2", "{item}"},
					agent...)
				if agent[0] != "--demo" {
					w.agent = w.agent[:len(w.agent)-1]
				}
				tty := w.sit([]string{"ACCESSIBLE="}, w.runArgs(s, "--hold", "forever")...)
				tty.sees("1 more wait")
				tty.sees(ready)
				tty.types(keys[0])
				tty.sees("Answered: allow")
				tty.types(keys[1])
				if shown := tty.sees(`a moment|Answered: allow`); strings.Contains(shown, "Answered") {
					t.Fatalf("a key of the same moment allows the second call, too")
				}
				tty.sees(ready)
				if open := w.questions(); len(open) != 1 {
					t.Fatalf("%d questions are open, want 1\n%s", len(open), tty.seen)
				}
				tty.types("\x03")
				_ = tty.cmd.Wait()
				if n := w.ran(); n > 1 {
					t.Errorf("the command ran %d times, one was allowed", n)
				}
			})
		})
	}
}

// A second Enter behind an own answer that wants a command does not run it; nor does any Enter: the word run does.
func TestACommandWantsTheWordRunAndNotASecondEnter(t *testing.T) {
	t.Parallel()
	ran := func(shown string) bool { return strings.Contains(strings.ToLower(shown), "answered: run it") }
	for mode, env := range map[string]string{"form": "ACCESSIBLE=", "lines": "ACCESSIBLE=1"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := demoWorld(t)
			s := w.sit([]string{env}, "run", "--cwd", ".", "--demo", "stop")
			prompt := ready
			if mode == "lines" {
				prompt = askedFor
			}
			s.sees("folder data is missing")
			s.sees(prompt)
			if mode == "form" {
				s.types("\t")
				s.sees("In your own words")
			}
			s.types("run: echo ran >> ran.txt\r")
			s.sees("(?i)answered: run: echo")
			s.types("\r")
			s.types("\r")
			if shown := s.sees("Run now, as you(?s:.*)((?i)answered: run it|" + prompt + ")"); ran(shown) {
				t.Fatalf("a second Enter runs the command\n%s", shown)
			}
			for _, keys := range []string{"\r", "1\r", "y\r"} {
				s.types(keys)
				if shown := s.sees("(the word run|Type run to|Nothing is selected|(?i)answered: run it)(?s:.*)" +
					prompt); ran(shown) {
					t.Fatalf("%q runs the command\n%s", keys, shown)
				}
			}
			if w.ran() > 0 {
				t.Fatalf("the command ran\n%s", s.seen)
			}
			if mode == "form" { // the y stands there
				s.types("\x1b")
				s.sees(`1\) run it(?s:.*)` + prompt)
			}
			s.types("run\r")
			s.sees("(?i)answered: run it")
			err := s.cmd.Wait()
			<-s.gone
			if err != nil {
				t.Fatalf("%v\n%s", err, s.seen)
			}
			if w.ran() != 1 {
				t.Errorf("the command ran %d times", w.ran())
			}
		})
	}
}

// What is typed before a question exists is no answer to it, in lines as little as in a form.
func TestWhatIsTypedBeforeAQuestionExistsAnswersNothing(t *testing.T) {
	t.Parallel()
	for mode, env := range map[string]string{"form": "ACCESSIBLE=", "lines": "ACCESSIBLE=1"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			agentsOn(t, strings.Replace(asksToRun, "- tools:\n",
				`- tools: [{name: Read, input: {file_path: "{{cwd}}/go"}}]`+"\n      - tools:\n", 1),
				func(t *testing.T, w *world, s examples.Scenario) {
					noError(t, os.WriteFile(filepath.Join(w.Cwd, "go"), []byte("go\n"), 0o600))
					tty := w.sit([]string{env}, w.runArgs(s, "--check", "off", "--hold", "forever")...)
					tty.types("1\r1\rallow\r")
					tty.sees("Allow Bash|May it run")
					if mode == "lines" {
						tty.sees(askedFor)
					} else {
						tty.sees(ready)
					}
					if open := w.questions(); len(open) != 1 {
						t.Fatalf("%d questions are open, want 1\n%s", len(open), tty.seen)
					}
					tty.types("\x03")
					_ = tty.cmd.Wait()
					if w.ran() > 0 {
						t.Errorf("the command ran, which nobody allowed\n%s", tty.seen)
					}
				})
		})
	}
}

// Without a terminal nothing that stands in a pipe answers a question, whenever it was put there.
func TestWhatStandsInAPipeAnswersNoQuestion(t *testing.T) {
	t.Parallel()
	agentsOn(t, asksToRun, func(t *testing.T, w *world, s examples.Scenario) {
		cmd := w.Command(w.runArgs(s, "--check", "off", "--plain", "--hold", "0")...)
		cmd.Stdin = strings.NewReader(strings.Repeat("1\nallow\ny\n", 1000))
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 75 {
			t.Fatalf("%v, want exit 75\n%s", err, out)
		}
		if w.ran() > 0 {
			t.Errorf("the command ran, which nobody allowed\n%s", out)
		}
	})
}

// Every question on a terminal waits: the commands that ask by themselves, too.
func TestWhatIsTypedAheadAnswersNoCommandsQuestion(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	_, question := w.park()
	s := w.sit(nil, "answer", question)
	s.types("1\r2\ry\ry\r")
	s.asked("Which way of login")
	if open := w.questions(); len(open) != 1 || open[0].Answer != nil {
		t.Fatalf("it is answered by what was typed before: %+v\n%s", open, s.seen)
	}
	s.types("2\r")
	s.sees(`\[` + question + `\] answered: Sessions`)
	s.sees(`Resume it in the background\? \[y/N\] $`)
	s.types("\r")
	s.sees("The answer is kept")
	s.exits(0)
	if p := w.ps(); p.Status != "parked" {
		t.Errorf("it is %s, though nobody said yes after it was asked\n%s", p.Status, s.seen)
	}
}
