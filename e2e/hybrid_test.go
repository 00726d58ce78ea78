package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"claude-supervise/e2e/sample"
)

// The hybrid document's agent: its shell scripts, as they are printed there, are what asks, and what goes on after an
// escalation. They run as the agent under --exec, and as a Bash command of the stand-in and of the real CLI.
//
// The scripts are unchanged, but what they call is the test's: a date that gives each its own second of asking, a
// notify-send with no desktop to notify, and a sleep that takes no time, or lasts until the test lets it end. With
// CLAUDE_SUPERVISE_TEST_SLEEP=real (make hybrid) the sleep is the machine's, and the document's five minutes are waited
// for.

// document is a script of the hybrid document.
func document(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "signals", "testdata", "documents", "000-"+name+".sh"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// The moments in which a script's sleep lasts until the test lets it end. The script looks 60 times.
const (
	never     = 0
	firstLook = 1
	lastLook  = 60 // after it: it does not look any more, and escalates
)

// A hybrid is a world whose agent is the document's.
type hybrid struct {
	*world
	dir      string // of the commands that the scripts call, and of what they tell
	workflow string // without the document's workflow_
	slow     bool   // the sleep is the machine's own
	sources  bool   // the first script is read into the shell that runs it: no process is its own
}

// newHybrid makes the world, with the moment in which the script sleeps. What notifies says is what the script's
// notification prints, which is how an agent's stream comes to name the question.
func newHybrid(t *testing.T, sleeps int, notifies string) *hybrid {
	t.Helper()
	jq, err := exec.LookPath("jq")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the document's scripts need it: %v", err)
		}
		t.Skipf("the document's scripts need it: %v", err)
	}
	h := &hybrid{world: newWorld(t), dir: t.TempDir(), slow: os.Getenv("CLAUDE_SUPERVISE_TEST_SLEEP") == "real"}
	h.workflow = fmt.Sprintf("%d%d", os.Getpid(), time.Now().UnixNano())
	t.Cleanup(func() { _ = os.Remove(h.checkpoint()) }) // in the temporary folder of all, as printed
	h.has("notify-send", notifies)
	h.has("jq", `case $* in
"-r .user_answer" | "-r .current_step" | "-r .completed_steps[]" | "-r .pending_steps[]") `+
		jq+` "$@" | tee -a `+h.dir+`/resumed;;
*) exec `+jq+` "$@";;
esac`)
	h.has("date", `case $1 in +%s) echo `+h.workflow+`;; *) exec /bin/date "$@";; esac`)
	others, that := "exit 0", "read -r _ < "+h.dir+"/woken"
	if h.slow {
		others, that = `exec /bin/sleep "$@"`, `exec /bin/sleep "$@"`
	}
	h.has("sleep", `echo >> `+h.dir+`/slept
[ $(wc -l < `+h.dir+`/slept) -eq `+strconv.Itoa(sleeps)+` ] || `+others+`
echo > `+h.dir+`/asleep
`+that)
	for _, pipe := range []string{"asleep", "woken"} {
		if err := syscall.Mkfifo(filepath.Join(h.dir, pipe), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.env = append(h.env, "PATH="+h.dir+":"+filepath.Dir(program)+":/usr/local/bin:/usr/bin:/bin")
	return h
}

// has puts a command where the scripts find it first.
func (h *hybrid) has(name, script string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte("#!/bin/bash\n"+script+"\n"), 0o700); err != nil {
		h.t.Fatal(err)
	}
}

// id is that of the script's question.
func (h *hybrid) id() string { return "workflow_" + h.workflow + "_q1" }

func (h *hybrid) checkpoint() string { return "/tmp/workflow_" + h.workflow + "_checkpoint.json" }

// asks waits until the script has asked, and sleeps.
func (h *hybrid) asks() {
	h.t.Helper()
	if _, err := os.ReadFile(filepath.Join(h.dir, "asleep")); err != nil {
		h.t.Fatal(err)
	}
}

// wake lets the script's sleep end; the machine's own ends by itself.
func (h *hybrid) wake() {
	h.t.Helper()
	if h.slow {
		return
	}
	if err := os.WriteFile(filepath.Join(h.dir, "woken"), []byte("\n"), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// ledger is what the agent has written down under a name; empty if nothing.
func (h *hybrid) ledger(name string) string {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, name))
	if err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	return string(text)
}

// resumed tells what the document's second script has found in the checkpoint, once it has ended.
func (h *hybrid) resumed() string { return h.ledger("resumed") }

// findsItsCheckpoint tells that script whose checkpoint it is. It is unchanged: this stands before it.
func findsItsCheckpoint(checkpoint string) string {
	return `WORKFLOW_ID=` + checkpoint + `
WORKFLOW_ID=${WORKFLOW_ID#/tmp/workflow_}; WORKFLOW_ID=${WORKFLOW_ID%_checkpoint.json}
`
}

// whatItFinds is what it finds, unless the checkpoint says otherwise than the first script wrote it.
const whatItFinds = "oauth\nauth_method_selection\nanalyze_requirements\ndesign_system\nimplement_auth\nadd_tests\n"

// exec gives the flags of a run whose agent is a shell: it is the first script, or the second where its prompt is the
// document's, and writes down what it was told.
func (h *hybrid) exec() []string {
	h.t.Helper()
	h.has("agent", `printf '%s\n' "$1" >> `+h.dir+`/told
case $1 in
*"Resume workflow from checkpoint: "*)
	checkpoint=${1#*Resume workflow from checkpoint: }
	checkpoint=${checkpoint%%. User selected: *}
	`+findsItsCheckpoint("$checkpoint")+`
	. `+document(h.t, "resume")+`;;
esac
`+h.quickResponse())
	return []string{"--check", "off", "--exec", "agent {}", "Set up the login."}
}

// quickResponse runs the first script by its path.
func (h *hybrid) quickResponse() string {
	if h.sources {
		return ". " + document(h.t, "quick-response")
	}
	return "exec bash " + document(h.t, "quick-response")
}

// scenario makes a scenario whose model runs the scripts as Bash commands, with their time limit raised.
func (h *hybrid) scenario() string {
	h.t.Helper()
	call := func(before, name string) string {
		script, err := os.ReadFile(document(h.t, name))
		if err != nil {
			h.t.Fatal(err)
		}
		if h.sources && before == "" {
			script = []byte(h.quickResponse())
		}
		input, err := json.Marshal(map[string]any{"command": before + string(script), "timeout": 600_000,
			"description": name})
		if err != nil {
			h.t.Fatal(err)
		}
		return string(input)
	}
	return h.world.scenario(`
name: hybrid
about: the hybrid document's scripts as Bash commands
prompt: Set up the login.
claude_flags: [--allowedTools, Bash]
answers: [{question: Which auth method, answer: oauth}]
turns:
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Bash, input: ` + call("", "quick-response") + `}]
      - text: The script has ended.
  - when: "Resume workflow from checkpoint: "
    replies:
      - tools: [{name: Bash, input: ` + call(findsItsCheckpoint("{{state}}"), "resume") + `}]
      - text: The work is done.
expect: {status: succeeded, exit_code: 0}
`)
}

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

// shell runs a command of a person's shell in the world, with what is typed into it.
func (h *hybrid) shell(typed string, command ...string) {
	h.t.Helper()
	cmd := exec.Command("bash", command...)
	cmd.Dir, cmd.Env, cmd.Stdin = h.cwd, h.env, strings.NewReader(typed)
	if said, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("%q: %v\n%s", command, err, said)
	}
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
		for way, answer := range quickAnswers {
			if name != "--exec" && way == "by the document's helper" {
				continue // to its agent, an answer by hand is the same
			}
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
				answer(h)
				if way != "by claude-supervise answer" { // its script looks every few seconds: it is read before
					waitForFile(t, h.dir+"/log", func(os.FileInfo) bool {
						return strings.Contains(h.ledger("log"), "an answer lies in the file of its script")
					})
				}
				h.wake()
				if code := run.wait(); code != 0 {
					t.Fatalf("exit %d\n%s", code, run.stderr)
				}
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

// nothingLies checks that no question is pending, and no answer waits to be taken.
func (h *hybrid) nothingLies() {
	h.t.Helper()
	for _, folder := range []string{"questions/pending", "answers"} {
		if left := h.filed(folder); len(left) > 0 {
			h.t.Errorf("%s holds %q", folder, left)
		}
	}
}

// answered checks what is left of the script's question: it was answered once, and the answer is kept where the
// document wants it.
func (h *hybrid) answered(path string) {
	h.t.Helper()
	h.nothingLies()
	h.closed(h.id(), "oauth", path)
	for _, q := range parse[struct{ Questions []questionView }](h.t, h.must("show", h.ps().ID, "--json")).Questions {
		if q.State != "delivered" || q.Answer == nil || *q.Answer != "oauth" {
			h.t.Errorf("the question is %+v", q)
		}
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
	if code := s.ends(); code != 0 {
		t.Fatalf("exit %d\n%s", code, s.seen)
	}
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
			if left := marked(open[0].Run); len(left) > 0 {
				t.Errorf("processes %v are left", left)
			}
			h.must("answer", open[0].ID, "oauth")
			h.must("resume", open[0].Run)
			h.goesOn(name, "`claude-supervise answer`")
		})
	}
}

// goesOn checks how the agent went on after an escalation.
func (h *hybrid) goesOn(agent, path string) {
	h.t.Helper()
	if found := h.resumed(); found != whatItFinds {
		h.t.Errorf("the second script finds %q", found)
	}
	checkpoint, err := os.ReadFile(h.checkpoint())
	if err != nil {
		h.t.Fatal(err)
	}
	kept := parse[map[string]any](h.t, string(checkpoint))
	if kept["user_answer"] != "oauth" || kept["next_action"] != "implement_selected_auth_method" {
		h.t.Errorf("the checkpoint is %s", checkpoint)
	}
	said := "Resume workflow from checkpoint: " + h.checkpoint() + ". User selected: oauth. Continue implementation."
	if agent == "--exec" {
		if told := h.ledger("told"); strings.Count(told, "\n"+said+"\n") != 1 || strings.Count(told, "User selected") != 1 {
			h.t.Errorf("the agent was told:\n%s", told)
		}
	} else {
		h.deliveredOnce(said)
	}
	if run := h.ps(); run.Status != "succeeded" || run.Agents[0].Launches != 2 {
		h.t.Errorf("it is %+v", run)
	}
	h.answered(path)
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
					if code := run.wait(); code != 0 {
						t.Fatalf("exit %d\n%s", code, run.stderr)
					}
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
			if code := run.wait(); code != 0 {
				t.Fatalf("exit %d\n%s", code, run.stderr)
			}
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
	if code := run.wait(); code != 0 {
		t.Fatalf("exit %d\n%s", code, run.stderr)
	}
	if log := h.must("logs", h.ps().ID); !strings.Contains(log, "Quick response received: oauth") {
		t.Errorf("it says:\n%s", log)
	}
	if code, _, stderr := h.run("answer", question, "jwt"); code != 1 {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	h.answered("`claude-supervise answer`")
}

func TestAnAnswerOfSeveralLinesReachesTheScriptInOneAndNotAgain(t *testing.T) {
	t.Parallel()
	h := newHybrid(t, firstLook, `echo "$@"`)
	run := h.start(append([]string{"run", "--on-question", "ask"}, h.exec()...)...)
	h.asks()
	h.must("answer", run.until("question").Question.ID, "oauth,\nfor now")
	h.untilAnswerFileHolds("oauth, for now\n")
	h.wake()
	if code := run.wait(); code != 0 || strings.Contains(h.ledger("told"), "User selected") {
		t.Fatalf("exit %d\n%s%s", code, run.stderr, h.ledger("told"))
	}
}

// untilAnswerFileHolds waits until the script's answer is this.
func (h *hybrid) untilAnswerFileHolds(want string) {
	h.t.Helper()
	for {
		waitFor(h.t, h.answerFile(h.id()))
		if text, err := os.ReadFile(h.answerFile(h.id())); err == nil && string(text) == want {
			return
		}
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
	if code := run.wait(); code != 5 {
		t.Fatalf("exit %d\n%s", code, run.stderr)
	}
	if open := w.questions(); len(open) > 0 || parse[questionView](t, w.must("show", q.ID, "--json")).State != "withdrawn" {
		t.Errorf("open are %+v", open)
	}
	if left := append(w.filed("questions/pending"), w.filed("answers")...); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	if code, _, stderr := w.run("answer", file, "oauth"); code != 2 {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}

// An answer by hand is put as the script knows it, or refused: it would take anything.
func TestAScriptIsGivenOneOfItsOptions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	script := filepath.Join(w.cwd, "ask.sh")
	if err := errors.Join(syscall.Mkfifo(filepath.Join(w.cwd, "go"), 0o600), os.WriteFile(script, []byte(`
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
	if why := w.rejected("w_q1"); !strings.Contains(why, `"passkeys" is none of the options that its script knows: oauth, jwt`) {
		t.Errorf("it says %q", why)
	}
	w.puts("w_q1", "1\n")
	run.until("answered")
	for text := []byte(nil); string(text) != "oauth\n"; {
		waitFor(t, w.answerFile("w_q1"))
		text, _ = os.ReadFile(w.answerFile("w_q1")) // it is replaced
	}
	if err := os.WriteFile(filepath.Join(w.cwd, "go"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
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
	if err := os.Remove(h.pending(h.id())); err != nil {
		t.Fatal(err)
	}
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
