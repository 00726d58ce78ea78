package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"claude-supervise/e2e/machinetest"
)

// document is a script of the hybrid document.
func document(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "signals", "testdata", "documents", "000-"+name+".sh"))
	noError(t, err)
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// A hybrid is a world whose agent is the document's.
type hybrid struct {
	*world
	dir      string // of the commands that the scripts call, and of what they tell
	workflow string // without the document's workflow_
	slow     bool   // the sleep is the machine's own
	ownWords bool   // the first script takes what is none of its options
	sources  bool   // the first script is read into the shell that runs it: no process is its own
}

// newHybrid makes the world, with the moment in which the script sleeps. What notifies says is what the script's
// notification prints, which is how an agent's stream comes to name the question.
func newHybrid(t *testing.T, sleeps int, notifies string) *hybrid {
	t.Helper()
	jq, err := exec.LookPath("jq")
	if err != nil {
		machinetest.Lacks(t, "the document's scripts need it: %v", err)
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
		noError(t, syscall.Mkfifo(filepath.Join(h.dir, pipe), 0o600))
	}
	h.Env = append(h.Env, "PATH="+h.dir+":"+filepath.Dir(program)+":/usr/local/bin:/usr/bin:/bin")
	return h
}

// has puts a command where the scripts find it first.
func (h *hybrid) has(name, script string) {
	h.t.Helper()
	noError(h.t, os.WriteFile(filepath.Join(h.dir, name), []byte("#!/bin/bash\n"+script+"\n"), 0o700))
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
	noError(h.t, os.WriteFile(filepath.Join(h.dir, "woken"), []byte("\n"), 0o600))
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

// exec returns the flags of a run whose agent is a shell: it is the first script, or the second where its prompt is the
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
	script := document(h.t, "quick-response")
	if h.ownWords {
		text, err := os.ReadFile(script)
		noError(h.t, err)
		script = filepath.Join(h.dir, "quick-response.sh")
		said := strings.Replace(string(text), `"options":`, `"own_words": true, "options":`, 1)
		noError(h.t, os.WriteFile(script, []byte(said), 0o600))
	}
	if h.sources {
		return ". " + script
	}
	return "exec bash " + script
}

// scenario makes a scenario whose model runs the scripts as Bash commands, with their time limit raised.
func (h *hybrid) scenario() string {
	h.t.Helper()
	call := func(before, name string) string {
		script, err := os.ReadFile(document(h.t, name))
		noError(h.t, err)
		if h.sources && before == "" {
			script = []byte(h.quickResponse())
		}
		input, err := json.Marshal(map[string]any{"command": before + string(script), "timeout": 600_000,
			"description": name})
		noError(h.t, err)
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

// shell runs a command of a person's shell in the world, with what is typed into it.
func (h *hybrid) shell(typed string, command ...string) {
	h.t.Helper()
	cmd := exec.Command("bash", command...)
	cmd.Dir, cmd.Env, cmd.Stdin = h.Cwd, h.Env, strings.NewReader(typed)
	if said, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("%q: %v\n%s", command, err, said)
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

// goesOn checks how the agent went on after an escalation.
func (h *hybrid) goesOn(agent, path string) {
	h.t.Helper()
	if found := h.resumed(); found != whatItFinds {
		h.t.Errorf("the second script finds %q", found)
	}
	checkpoint, err := os.ReadFile(h.checkpoint())
	noError(h.t, err)
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
