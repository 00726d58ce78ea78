package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claude-supervise/examples"
)

// answeringHooks are a person's own: what asks them waits for the file go-NAME of the folder, and takes decision-NAME
// for its answer. NAME is the question's header, or what a command touches.
const answeringHooks = `{"hooks":{"PermissionRequest":[{"matcher":"AskUserQuestion|Bash","hooks":[{"type":"command",` +
	`"command":"n=$(grep -o 'hook[0-9][0-9]*' | head -1); until [ -e go-$n ]; do sleep 0.01; done; cat decision-$n"}]}]}}`

// asksWhatHooksAnswer is a scenario of some questions, a command and one question that no hook answers.
func (w *world) asksWhatHooksAnswer(questions int) examples.Scenario {
	w.t.Helper()
	decides := func(n int, decision string) {
		w.writes(fmt.Sprintf("decision-hook%d", n), `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":`+
			decision+`}}`)
	}
	doc := "name: hooked\nabout: asks\nprompt: Ask.\nexpect: {status: succeeded}\nturns:\n  - when: \"## YOUR TASK\"\n" +
		"    replies:\n"
	for n := range questions {
		asked := fmt.Sprintf(`[{"question":"Which number %d?","header":"hook%d","multiSelect":false,"options":[`+
			`{"label":"White","description":"plain"},{"label":"Black","description":"dark"}]}]`, n, n)
		doc += "      - tools: [{name: AskUserQuestion, input: {questions: " + asked + "}}]\n"
		decides(n, fmt.Sprintf(`{"behavior":"allow","updatedInput":{"questions":%s,"answers":{"Which number %d?":"White"}}}`,
			asked, n))
	}
	doc += fmt.Sprintf("      - tools: [{name: Bash, input: {command: touch hook%d, description: touch}}]\n", questions) +
		"      - tools: [{name: mcp__supervise__ask_user, input: {questions: [{id: A1, text: Which accent?}]}}]\n" +
		"      - tools: [{name: mcp__supervise__report_completion, input: {status: success, summary: chosen}}]\n" +
		"      - text: done\n"
	decides(questions, `{"behavior":"deny","message":"not on a Friday"}`)
	w.personSettings(answeringHooks)
	path := filepath.Join(w.t.TempDir(), "hooked.yaml")
	noError(w.t, os.WriteFile(path, []byte(doc), 0o600))
	return load(w.t, path)
}

// A hook in the person's own settings is asked together with the person, and claude takes the first answer. Which one
// that was is recorded, whatever the order in which both come; the agent has that one alone.
func TestAHookOfThePersonAndThePersonAnswerAtOnce(t *testing.T) {
	t.Parallel()
	const races = 6
	w := newWorld(t)
	s := w.asksWhatHooksAnswer(races + 1)
	w.real(s, nil)
	run := w.start(w.runArgs(s, "--hold", "forever", "--check", "off")...)
	ids := make([]string, races)
	for n := range races {
		ids[n] = run.until("question").Question.ID
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			_, _, _ = w.run("answer", ids[n], "Black") // which may come too late
		}()
		time.Sleep(time.Duration(n) * 20 * time.Millisecond) // about what the command takes to begin
		w.writes(fmt.Sprintf("go-hook%d", n), "")
		<-answered
	}
	alone := run.until("question").Question
	for i, id := range ids {
		said := func(answer string) bool { return w.API.Received(fmt.Sprintf(`"Which number %d?"="%s"`, i, answer)) }
		q, byHook := parse[questionView](t, w.must("show", id, "--json")), said("White")
		if byHook == said("Black") {
			t.Errorf("question %d: the model has read both answers, or none", i)
		}
		if (q.AnsweredBy == "a hook of yours") != byHook || q.Answer == nil || (*q.Answer == "White") != byHook {
			t.Errorf("question %d: the hook's answer was used: %v; recorded is %+v", i, byHook, q)
		}
	}
	w.writes(fmt.Sprintf("go-hook%d", races), "")
	for last := ""; last != "a hook of yours"; {
		last = run.until("answered").Question.AnsweredBy
	}
	code, stdout, stderr := w.run("answer", alone.ID, "Black")
	if code == 0 || !strings.Contains(stdout+stderr, "a hook of yours") {
		t.Errorf("who answers after it has exit %d and is told:\n%s%s", code, stdout, stderr)
	}
	if code, _, stderr := w.run("answer", alone.ID, "Black", "--change"); code == 0 {
		t.Errorf("its answer is changed: %s", stderr)
	}
	call := run.until("question").Question
	w.writes(fmt.Sprintf("go-hook%d", races+1), "")
	w.must("answer", run.until("question").Question.ID, "Red")
	run.exits(0)
	if w.API.Received("## CLARIFICATION RESPONSE") {
		t.Error("an answer was said by a prompt as well")
	}
	log, _ := os.ReadFile(filepath.Join(w.Home, ".claude", "audit", "questions.log"))
	for id, answer := range map[string]string{alone.ID: "White", call.ID: "deny not on a Friday"} {
		shown := w.must("show", id)
		if !strings.Contains(shown, "Answer: "+answer) || !strings.Contains(shown, "by a hook of yours") {
			t.Errorf("show says:\n%s", shown)
		}
		if !slices.ContainsFunc(strings.Split(string(log), "\n"), func(line string) bool {
			return strings.Contains(line, id) && strings.Contains(line, "a hook of yours")
		}) {
			t.Errorf("%s is not in the audit log:\n%s", id, log)
		}
	}
	if _, err := os.Stat(filepath.Join(w.Cwd, fmt.Sprintf("hook%d", races+1))); err == nil {
		t.Error("the command ran")
	}
}

// A supervisor that is killed before it reads that a hook has answered asks nobody again: the next one finds it.
func TestAHooksAnswerIsFoundByTheNextSupervisor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.asksWhatHooksAnswer(1)
	w.real(s, nil)
	run := w.start(w.runArgs(s, "--hold", "forever", "--check", "off")...)
	asked := run.until("question").Question
	run.standsStill()
	w.writes("go-hook0", "")
	waitUntil(t, "the model reads the hook's answer", func() bool {
		return w.API.Received(`"Which number 0?"="White"`)
	})
	time.Sleep(500 * time.Millisecond) // claude writes its transcript up to 100 ms late
	run.kill9()
	if q := w.questions(); len(q) != 1 || q[0].ID != asked.ID {
		t.Fatalf("open is %+v", q)
	}
	again := w.start("resume", asked.Run)
	answered := again.until("answered").Question
	if answered.ID != asked.ID || answered.AnsweredBy != "a hook of yours" || answered.Answer == nil ||
		*answered.Answer != "White" {
		t.Errorf("the question is %+v", answered)
	}
	w.writes("go-hook1", "")
	for {
		q := again.until("question").Question
		if q.ID == asked.ID || strings.Contains(q.Question, "number 0") {
			t.Error("it is asked again")
		}
		if q.Kind == "clarification" {
			w.must("answer", q.ID, "Red")
			break
		}
	}
	again.exits(0)
}
