package e2e

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"claude-supervise/e2e/machine"
	"claude-supervise/e2e/sample"
)

// The hybrid document's agent: its shell scripts, as they are printed there, are what asks, and what goes on after an
// escalation. They run as the agent under --exec, and as a Bash command of the stand-in and of the real CLI.
//
// The scripts are unchanged, but what they call is the test's: a date that gives each its own second of asking, a
// notify-send with no desktop to notify, and a sleep that takes no time, or lasts until the test lets it end. With
// CLAUDE_SUPERVISE_TEST_SLEEP=real (make hybrid) the sleep is the machine's, and the document's five minutes are waited
// for.

// The moments in which a script's sleep lasts until the test lets it end. The script looks 60 times.
const (
	never     = 0
	firstLook = 1
	lastLook  = 60 // after it: it does not look any more, and escalates
)

// The agents that the scripts are: each gives the last arguments of its run.
var hybridAgents = map[string]func(*hybrid) []string{
	"--exec":   (*hybrid).exec,
	"stand-in": func(h *hybrid) []string { return []string{"--demo", h.scenario()} },
	"real CLI": func(h *hybrid) []string {
		s := load(h.t, h.scenario())
		h.real(s, nil)
		return append(append(h.agent, "--"), s.ClaudeFlags...)
	},
}

// The ways in which a person answers a script that waits, none of which knows that a run is behind it.
var quickAnswers = map[string]func(*hybrid){
	"by hand":                    func(h *hybrid) { h.shell("", "-c", "echo oauth > ~/.claude/answers/"+h.id()+".txt") },
	"by the document's helper":   func(h *hybrid) { h.shell(h.id()+"\noauth\n", document(h.t, "claude-answer")) },
	"by claude-supervise answer": func(h *hybrid) { h.must("answer", h.id(), "oauth") },
}

func TestTheHybridDocumentsScriptTakesAQuickAnswer(t *testing.T) {
	t.Parallel()
	for name, agent := range hybridAgents {
		ways := slices.Sorted(maps.Keys(quickAnswers))
		if name != "--exec" { // to its agent, an answer by the document's helper is one by hand
			ways = sample.Pick("quick "+name, []string{"by hand", "by claude-supervise answer"})
		}
		for _, way := range ways {
			t.Run(name+"/"+way, func(t *testing.T) {
				t.Parallel()
				h := newHybrid(t, firstLook, "")
				run := h.start(append([]string{"run", "--log", h.dir + "/log", "--on-question", "ask"}, agent(h)...)...)
				h.asks()
				asked := run.until("question").Question // its stream has not named it: its process says whose it is
				if open := h.questions(); len(open) != 1 || open[0].ID != asked.ID || open[0].Run != h.ps().ID ||
					len(h.ps().OpenQuestions) != 1 {
					t.Errorf("open are %+v", open)
				}
				quickAnswers[way](h)
				if way != "by claude-supervise answer" { // its script looks every few seconds: it is read before
					waitForFile(t, h.dir+"/log", func(os.FileInfo) bool {
						return strings.Contains(h.ledger("log"), "an answer lies in the file of its script")
					})
				}
				h.wake()
				run.exits(0)
				log := h.must("logs", "--raw", h.ps().ID)
				if !strings.Contains(log, "Quick response received: oauth") || strings.Contains(log, "User selected") {
					t.Errorf("it says:\n%s", log)
				}
				if n := h.ps().Agents[0].Launches; n != 1 {
					t.Errorf("it took %d launches", n)
				}
				h.answered(map[string]string{"by claude-supervise answer": "`claude-supervise answer`"}[way])
			})
		}
	}
}

// A script that is only read into another shell has no process of its own. Its question is the run's all the same.
func TestTheQuestionOfAScriptThatIsOnlySourcedIsItsRuns(t *testing.T) {
	t.Parallel()
	for _, name := range sample.Pick(t.Name(), slices.Sorted(maps.Keys(hybridAgents))) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent := hybridAgents[name]
			h := newHybrid(t, firstLook, "")
			h.sources = true
			run := h.start(append([]string{"run", "--on-question", "ask"}, agent(h)...)...)
			h.asks()
			if asked := run.until("question").Question; asked.Run != h.ps().ID {
				t.Errorf("asked is %+v", asked)
			}
			h.must("answer", h.id(), "oauth")
			h.wake()
			want := 6 // the command does not itself print what the script ends with: that counts for no report
			if name == "--exec" {
				want = 0
			}
			if code := run.wait(); code != want {
				t.Errorf("exit %d\n%s", code, run.stderr)
			}
			if !strings.Contains(h.must("logs", "--raw", h.ps().ID), "Quick response received: oauth") {
				t.Error("the script has no answer")
			}
			h.answered("`claude-supervise answer`")
		})
	}
}

// Once its stream has named the question, it is the run's, and is asked on the run's terminal. The script alone takes
// the answer: the agent is not told it again.
func TestTheHybridDocumentsScriptIsAnsweredOnTheTerminalOfItsRun(t *testing.T) {
	t.Parallel()
	h := newHybrid(t, firstLook, `echo "$@"`)
	s := h.sit(nil, append([]string{"run"}, h.exec()...)...)
	h.asks()
	s.asked("Which auth method: OAuth or JWT")
	s.types("1\r")
	waitFor(t, h.answerFile(h.id()))
	h.wake()
	s.exits(0)
	if told := h.ledger("told"); strings.Contains(told, "User selected") || strings.Count(told, "## YOUR TASK") != 1 {
		t.Errorf("the agent was told:\n%s", told)
	}
	h.answered("a person on pts/")
}

// A question that nobody answers in time is escalated: its process ends, and the question stays for as long as it
// takes. Answered, the checkpoint has the answer in it, and the agent is told so in the document's words.
func TestTheHybridDocumentsScriptEscalates(t *testing.T) {
	t.Parallel()
	for name, agent := range hybridAgents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHybrid(t, never, "")
			code, _, stderr := h.run(append([]string{"run", "--hold", "0", "--on-question", "park"}, agent(h)...)...)
			if code != 75 {
				t.Fatalf("exit %d\n%s", code, stderr)
			}
			open := h.questions()
			if len(open) != 1 || open[0].Run != h.ps().ID || open[0].Question != "Which auth method: OAuth or JWT?" {
				t.Fatalf("open are %+v", open)
			}
			if _, err := os.Stat(h.pending(h.id())); err != nil {
				t.Error(err) // the document's own main agent could answer it, too
			}
			if left := machine.Marked(open[0].Run); len(left) > 0 {
				t.Errorf("processes %v are left", left)
			}
			h.must("answer", open[0].ID, "oauth")
			h.must("resume", open[0].Run)
			h.goesOn(name, "`claude-supervise answer`")
		})
	}
}

// The answer to an escalated question may come by file as well, for the script does not look there any more.
func TestAnEscalatedQuestionIsAnsweredByFile(t *testing.T) {
	t.Parallel()
	for _, lives := range []bool{true, false} {
		t.Run(map[bool]string{true: "while its supervisor waits", false: "while nobody supervises it"}[lives],
			func(t *testing.T) {
				t.Parallel()
				h := newHybrid(t, never, "")
				policy := map[bool]string{true: "ask", false: "park"}[lives]
				run := h.start(append([]string{"run", "--on-question", policy}, h.exec()...)...)
				run.until("parked")
				if !lives && run.wait() != 75 {
					t.Fatalf("it is not parked\n%s", run.stderr)
				}
				h.shell("", "-c", "echo 1 > "+h.answerFile(h.id()))
				if lives {
					run.exits(0)
				} else {
					h.must("resume", h.ps().ID)
				}
				h.goesOn("--exec", "answer file")
			})
	}
}

// What the script does not take any more is said by the prompt, and only there.
func TestAnAnswerThatComesAfterTheScriptsLastLookIsSaidByThePrompt(t *testing.T) {
	t.Parallel()
	for way, answer := range map[string]func(h *hybrid, question string){
		"by claude-supervise answer": func(h *hybrid, question string) { h.must("answer", question, "1") },
		"by hand": func(h *hybrid, _ string) {
			h.shell("", "-c", "echo oauth > "+h.answerFile(h.id()))
		},
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			h := newHybrid(t, lastLook, `echo "$@"`)
			run := h.start(append([]string{"run", "--on-question", "ask"}, h.exec()...)...)
			h.asks()
			answer(h, run.until("question").Question.ID)
			waitFor(t, h.answerFile(h.id()))
			h.wake()
			run.exits(0)
			h.goesOn("--exec", map[bool]string{true: "answer file", false: "`claude-supervise answer`"}[way == "by hand"])
		})
	}
}

// What the script has taken is not said by the prompt, and nobody answers it again.
func TestTheFirstAnswerThatTheScriptFindsStands(t *testing.T) {
	t.Parallel()
	h := newHybrid(t, firstLook, `echo "$@"`)
	run := h.start(append([]string{"run", "--on-question", "ask"}, h.exec()...)...)
	h.asks()
	question := run.until("question").Question.ID
	h.shell("", "-c", "echo jwt > "+h.answerFile(h.id()))
	h.must("answer", question, "oauth") // the database goes before a file
	h.untilAnswerFileHolds("oauth\n")
	if code, _, stderr := h.run("answer", question, "--change", "jwt"); code != 1 {
		t.Errorf("an answer that lies where the script looks is changed: exit %d\n%s", code, stderr)
	}
	h.wake()
	run.exits(0)
	if log := h.must("logs", h.ps().ID); !strings.Contains(log, "Quick response received: oauth") {
		t.Errorf("it says:\n%s", log)
	}
	h.exits(1, "answer", question, "jwt")
	h.answered("`claude-supervise answer`")
}

func TestAnAnswerOfSeveralLinesReachesTheScriptInOneAndNotAgain(t *testing.T) {
	t.Parallel()
	h := newHybrid(t, firstLook, `echo "$@"`)
	h.ownWords = true
	run := h.start(append([]string{"run", "--on-question", "ask"}, h.exec()...)...)
	h.asks()
	h.must("answer", run.until("question").Question.ID, "oauth,\nfor now")
	h.untilAnswerFileHolds("oauth, for now\n")
	h.wake()
	if code := run.wait(); code != 0 || strings.Contains(h.ledger("told"), "User selected") {
		t.Fatalf("exit %d\n%s%s", code, run.stderr, h.ledger("told"))
	}
}

// The document's error: whoever is asked by a file that cannot be read is told so, and may answer all the same.
func TestAnEscalationWhoseFileCannotBeReadIsAQuestionThatSaysSo(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"it is cut off": `echo '{"question": "Which' > ~/.claude/questions/pending/w_q1.json; `, "it is not there": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			code, _, stderr := w.run("run", "--check", "off", "--on-question", "park", "--exec",
				"bash -c '"+strings.ReplaceAll(file, "'", `'\''`)+"echo QUESTION_ESCALATED:w_q1'", "Set up the login.")
			if code != 75 {
				t.Fatalf("exit %d\n%s", code, stderr)
			}
			open := w.questions()
			if len(open) != 1 || !strings.Contains(open[0].Question, "w_q1.json, which cannot be read") {
				t.Fatalf("open are %+v", open)
			}
			w.must("answer", open[0].ID, "oauth")
		})
	}
}

// quiet starts a run whose script asks by a file and prints nothing that names it.
func (w *world) quiet() (run *supervised, question *questionView, file string) {
	w.t.Helper()
	run = w.start("run", "--check", "off", "--on-question", "ask", "--exec",
		"bash "+absolute(w.t, "testdata/kill/quiet.sh"), "Set up the login.")
	question = run.until("question").Question
	return run, question, "login-" + w.ps().Agents[0].ID
}

// The answer to a script that died with its supervisor is the run's: it is kept, and told to the agent when it goes on.
func TestAQuickAnswerOutlivesItsScript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, q, file := w.quiet()
	run.kill9()
	if said := w.must("answer", file, "oauth"); !strings.Contains(said, "claude-supervise resume "+q.Run) {
		t.Errorf("it says:\n%s", said)
	}
	if code, _, stderr := w.run("resume", q.Run); code != 0 || strings.Contains(stderr, "asks by file") {
		t.Errorf("exit %d; of a question that is answered it says:\n%s", code, stderr)
	}
	w.written("told.2", "oauth\n")
	w.closed(file, "oauth", "`claude-supervise answer`")
	if left := append(w.filed("questions/pending"), w.filed("answers")...); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

func TestTheQuestionOfAScriptThatIsStoppedIsWithdrawnAndItsFileRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, q, file := w.quiet()
	w.must("stop", q.Run)
	run.exits(5)
	if open := w.questions(); len(open) > 0 || parse[questionView](t, w.must("show", q.ID, "--json")).State != "withdrawn" {
		t.Errorf("open are %+v", open)
	}
	if left := append(w.filed("questions/pending"), w.filed("answers")...); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	w.exits(2, "answer", file, "oauth")
}

// An answer is put as the script knows it, or refused, wherever it is given: the script would take anything.
func TestAScriptIsGivenOneOfItsOptions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	script := filepath.Join(w.Cwd, "ask.sh")
	if err := errors.Join(syscall.Mkfifo(filepath.Join(w.Cwd, "go"), 0o600), os.WriteFile(script, []byte(`
echo '{"question": "Which auth method?", "options": ["oauth", "jwt"], "urgent": true}' > ~/.claude/questions/pending/w_q1.json
read -r _ < go
cat ~/.claude/answers/w_q1.txt > got
rm ~/.claude/answers/w_q1.txt ~/.claude/questions/pending/w_q1.json
echo WORKFLOW_COMPLETE
`), 0o600)); err != nil {
		t.Fatal(err)
	}
	run := w.start("run", "--check", "off", "--on-question", "ask", "--exec", "bash ask.sh", "Set up the login.")
	if q := run.until("question").Question; !q.Urgent {
		t.Error("it is not urgent")
	}
	w.puts("w_q1", "passkeys\n")
	unknown := `"passkeys" is not one of the options: type 1 for "oauth" or 2 for "jwt"`
	if why := w.rejected("w_q1"); !strings.Contains(why, unknown) {
		t.Errorf("it says %q", why)
	}
	for _, typed := range []string{"passkeys", `"""passkeys"""`} {
		code, _, stderr := w.run("answer", w.questions()[0].ID, typed)
		if code == 0 || !strings.Contains(stderr, "\"passkeys\" is not one of the options") {
			t.Errorf("answer %s: exit %d, %s", typed, code, stderr)
		}
	}
	w.puts("w_q1", "\xff\xfeo\x00a\x00u\x00t\x00h\x00\r\x00\n\x00") // as PowerShell writes it; the script reads UTF-8
	run.until("answered")
	for text := []byte(nil); string(text) != "oauth\n"; {
		waitFor(t, w.answerFile("w_q1"))
		text, _ = os.ReadFile(w.answerFile("w_q1")) // it is replaced
	}
	noError(t, os.WriteFile(filepath.Join(w.Cwd, "go"), []byte("\n"), 0o600))
	w.succeeds(run)
	w.written("got", "oauth\n")
}

// Where the file was known before it went, nothing is lost with it.
func TestAnEscalationWhoseFileIsGoneIsAskedAllTheSame(t *testing.T) {
	t.Parallel()
	h := newHybrid(t, lastLook, `echo "$@"`)
	run := h.start(append([]string{"run", "--on-question", "ask"}, h.exec()...)...)
	h.asks()
	run.until("question")
	noError(t, os.Remove(h.pending(h.id())))
	h.wake()
	run.until("parked")
	open := h.questions()
	if len(open) != 1 || open[0].Question != "Which auth method: OAuth or JWT?" {
		t.Fatalf("open are %+v", open)
	}
	h.must("answer", open[0].ID, "oauth")
	if code := run.wait(); code != 0 || h.resumed() != whatItFinds {
		t.Errorf("exit %d, the second script finds %q\n%s", code, h.resumed(), run.stderr)
	}
	h.closed(h.id(), "oauth", "`claude-supervise answer`")
}
