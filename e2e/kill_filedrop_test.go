package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"claude-supervise/e2e/machine"
	"claude-supervise/examples"
)

// These scenarios are of answers that have a way to go before the agent reads them: a command is run for them, they are
// stored beside the agent's state, or they lie in a file where its script looks for them.
var answerScenarios = []killScenario{
	{name: "a command for a stop", scenario: "testdata/kill/command.yaml",
		flags: []string{"--hold", "forever", "--on-question", "ask"}, once: blockerResolved, ends: (*world).commandTold},
	{name: "a command for a parked stop", scenario: "testdata/kill/command.yaml",
		flags: []string{"--hold", "0", "--on-question", "park"}, answers: onceLeft, once: blockerResolved,
		ends: (*world).commandTold},
	{name: "a script that waits", agent: "testdata/kill/polls.sh", play: theLogin, flags: []string{"--on-question", "ask"},
		ends: (*world).toldOnce},
	{name: "a script that escalates", agent: "testdata/kill/escalates.sh",
		play: theLogin, flags: []string{"--on-question", "ask"}, answers: onceParked, ends: (*world).toldFromCheckpoint},
	{name: "a script that leaves", agent: "testdata/kill/leaves.sh",
		play: theLogin, flags: []string{"--on-question", "ask"}, ends: (*world).toldOnce},
	{name: "a script that pauses", agent: "testdata/kill/awaits.sh",
		play: theLogin, flags: []string{"--on-question", "park"}, answers: onceLeft, ends: (*world).toldWithState},
	{name: "an answer file in the meantime", scenario: "ask", flags: []string{"--hold", "0", "--on-question", "park"},
		answers: whileDead, prelude: asked, once: byPrompt},
	{name: "an answer file for a script in the meantime", agent: "testdata/kill/polls.sh", play: theLogin,
		flags: []string{"--on-question", "park"}, answers: whileDead, prelude: asked, ends: (*world).toldOnce},
	{name: "a script that outlives its supervisor", agent: "testdata/kill/outlives.sh", play: theLogin,
		flags: []string{"--on-question", "park"}, answers: takenWhileDead, prelude: asked, state: "withdrawn",
		ends: (*world).tookItself},
}

// asked is when everybody knows of the first question.
var asked = &pass{1, "after save noticed", 1}

// blockerResolved is how the answer to a stop is said.
var blockerResolved = []string{"## BLOCKER RESOLVED"}

// theLogin is what the scripts are about.
var theLogin = examples.Scenario{
	Prompt:  "Build the login. Done when: it is built.",
	Answers: []examples.Answer{{Question: "Which auth method?", Answer: "oauth"}},
	Expect:  examples.Expect{Status: "succeeded"},
}

// gives gives the answer to a question, as a person does who does not give up.
func (w *world) gives(s examples.Scenario, q questionView) {
	w.t.Helper()
	answer := answerTo(w.t, s, q.Question)
	if q.Kind == "command" {
		w.decides(q.ID, answer)
		return
	}
	args := []string{"answer", q.ID, answer}
	if w.image != "" {
		args = append(args, "--image", w.image)
	}
	w.insists(args...)
}

// decides answers where a terminal is needed.
func (w *world) decides(question, answer string) {
	w.t.Helper()
	for range 3 {
		s := w.sit(nil, "answer", question, answer)
		s.declines()     // it is not to go on in the background, should it ask that
		_ = s.cmd.Wait() // it may be killed
		<-s.gone
		switch code := s.cmd.ProcessState.ExitCode(); {
		case code == -1:
		case code == 0, strings.Contains(strings.ToLower(string(s.seen)), "answered"),
			strings.Contains(string(s.seen), "withdrawn"):
			return
		default:
			w.t.Errorf("answer %s exits %d: %s", question, code, s.seen)
			return
		}
	}
}

// answersByFile answers the open question by its answer file, which is the script's own where a script asks.
func (w *world) answersByFile(t killScenario, s examples.Scenario) {
	w.t.Helper()
	for _, q := range w.questions() {
		id := q.ID
		if t.agent != "" {
			id = "login-" + w.ps().Agents[0].ID
		}
		path := filepath.Join(w.Home, ".claude/answers", id+".txt")
		if err := os.WriteFile(path, []byte(answerTo(w.t, s, q.Question)+"\n"), 0o600); err != nil {
			w.t.Error(err)
		}
		if t.answers == takenWhileDead {
			waitFor(w.t, filepath.Join(w.Cwd, "taken", id+".json"))
		}
	}
}

// commandTold checks that the person's command has run at most once, and that the agent was told what came of it.
func (w *world) commandTold(kills int) {
	w.t.Helper()
	fetched, err := os.ReadFile(filepath.Join(w.Cwd, "fetched.txt"))
	if err != nil && !os.IsNotExist(err) {
		w.t.Error(err)
	}
	const told = "The person had `echo fetched | tee -a fetched.txt` run: "
	var conversation bytes.Buffer
	for _, path := range w.transcripts() {
		text, err := os.ReadFile(path)
		noError(w.t, err)
		conversation.Write(text)
	}
	_, came, said := strings.Cut(conversation.String(), told)
	ran := strings.HasPrefix(came, "exit 0")
	switch n := strings.Count(string(fetched), "fetched\n"); {
	case !said:
		w.t.Errorf("the agent is not told of the command:\n%s", &conversation)
	case n > 1, ran && n == 0, !ran && kills == 0:
		w.t.Errorf("it ran %d times; the agent is told: %.100q", n, came)
	}
}

// toldOnce checks that the answer has reached the script by its file or by a prompt, not by both; by a prompt once, or
// once more for each process that was killed. A script that was killed after it had moved its answer, and before its
// question, has the one and asks the other: it may be told again.
func (w *world) toldOnce(kills int) {
	w.t.Helper()
	byFile, byPrompt := w.found("taken/*.txt"), w.found("told.*")
	between := kills > 0 && len(byFile) > len(w.found("taken/*.json"))
	for _, told := range []map[string]string{byFile, byPrompt} {
		for path, text := range told {
			if text != "oauth\n" {
				w.t.Errorf("%s holds %q", path, text)
			}
		}
	}
	if !between && len(byFile) > 0 == (len(byPrompt) > 0) || len(byPrompt) > 1+kills {
		w.t.Errorf("after %d kills the answer is told by file: %v, by prompt: %v", kills, byFile, byPrompt)
	}
	if left := w.found(filepath.Join(w.Home, ".claude/answers/*")); len(left) > 0 {
		w.t.Errorf("left: %v", left)
	}
}

// toldFromCheckpoint checks the same of a script that has escalated, and its checkpoint.
func (w *world) toldFromCheckpoint(kills int) {
	w.t.Helper()
	w.toldOnce(kills)
	for path, prompt := range w.lastPrompt() {
		resumes := strings.Contains(prompt, "Resume workflow from checkpoint: ")
		checkpoint, err := os.ReadFile(filepath.Join(w.Cwd, "checkpoint.json"))
		if resumes && (err != nil || !bytes.Contains(checkpoint, []byte(`"user_answer": "oauth"`))) ||
			!resumes && kills == 0 {
			w.t.Errorf("%s says: %s\nits checkpoint: %s", path, prompt, checkpoint)
		}
	}
}

// toldWithState checks the same of a script that has paused with a state file.
func (w *world) toldWithState(kills int) {
	w.t.Helper()
	w.toldOnce(kills)
	for path, prompt := range w.lastPrompt() {
		for _, part := range []string{"USER_INPUT_RESPONSE", `{"auth": "oauth"}`, "Continue from state file: state.json"} {
			if !strings.Contains(prompt, part) {
				w.t.Errorf("%s says: %s", path, prompt)
			}
		}
	}
	kept := w.found(filepath.Join(w.Home, ".local/state/claude-supervise/runs/*/*.kept"))
	for path, want := range map[string]string{"state.json": "designed", "state.json.answer.json": "oauth"} {
		if text, err := os.ReadFile(filepath.Join(w.Cwd, path)); err != nil || !strings.Contains(string(text), want) {
			w.t.Errorf("%s holds %q (%v)", path, text, err)
		}
	}
	if len(kept) != 1 || !strings.Contains(fmt.Sprint(kept), "designed") {
		w.t.Errorf("kept: %v", kept)
	}
}

// tookItself checks that a script which took its answer while nobody supervised it is not told it again.
func (w *world) tookItself(kills int) {
	w.t.Helper()
	w.toldOnce(kills)
	if len(w.found("taken/*.txt")) == 0 {
		w.t.Error("it did not take it")
	}
}

// lastPrompt returns what the last process was told: one that was killed may not have come to read it.
func (w *world) lastPrompt() map[string]string {
	w.t.Helper()
	all := w.found("prompt.*")
	last := ""
	for path := range all {
		last = max(last, path)
	}
	return map[string]string{last: all[last]}
}

// found returns what the files hold that a pattern names, from the run's folder.
func (w *world) found(pattern string) map[string]string {
	w.t.Helper()
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(w.Cwd, pattern)
	}
	paths, err := filepath.Glob(pattern)
	noError(w.t, err)
	found := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		noError(w.t, err)
		found[path] = string(text)
	}
	return found
}

// A command does not outlive its supervisor, and is not run again: nobody knows what it has done.
func TestACommandThatRunsWhenItsSupervisorDiesIsEndedAndTheAgentIsToldSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent = []string{"--demo", absolute(t, "testdata/kill/command.yaml")}
	run := w.start(w.runArgs(examples.Scenario{}, "--hold", "forever", "--on-question", "ask")...)
	w.must("answer", run.until("question").Question.ID, "run: echo begun >> begun.txt; exec sleep 1000")
	w.decides(run.until("question").Question.ID, "run it")
	waitForText(t, filepath.Join(w.Cwd, "begun.txt"))
	run.kill9()
	id := w.ps().ID
	w.must("resume", id)
	if left := machine.Marked(id); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	w.written("begun.txt", "begun\n")
	w.deliveredOnce("run: it was cut off when its supervisor ended")
}

// What lies there is taken before a run is left that waits for it, though its line has no end; what is no answer keeps
// nobody.
func TestARunThatWaitsIsNotLeftBesideItsAnswerFile(t *testing.T) {
	t.Parallel()
	for text, status := range map[string]string{"JWT\n": "succeeded", "JWT": "succeeded", "\n": "parked"} {
		t.Run(strconv.Quote(text), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			run, question := w.park()
			noError(t, os.WriteFile(filepath.Join(w.Home, ".claude/answers", question+".txt"), []byte(text), 0o600))
			_, _, stderr := w.run("resume", run)
			if r := w.ps(); r.Status != status {
				t.Errorf("it is %s: %s\n%s", r.Status, r.Reason, stderr)
			}
		})
	}
}
