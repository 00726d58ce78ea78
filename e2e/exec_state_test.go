package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"claude-supervise/examples"
)

// The two forms in which an agent of the documents leaves its state, and the signal that names it at $STATE.
const (
	skillState  = `{"agent": "domain", "progress": "2 of 3 patterns read", "files": ["auth.go"], "decision": "which rule"}`
	hybridState = `{"workflow_id": "w", "current_step": "auth", "completed_steps": ["analyze"], "pending_steps": ` +
		`["implement"], "context": "auth", "next_action": "implement", "user_answer": null}`
	pausesAt    = `printf 'PAUSED_FOR_INPUT: %s\nQuestion: Which rule?\nA) strict\nB) lenient\n' "$STATE"`
	escalatesAt = `mkdir -p "$HOME/.claude/questions/pending"
printf '{"question": "Which rule?", "options": ["strict", "lenient"], "workflow_id": "w", "checkpoint": "%s"}' "$STATE" > "$HOME/.claude/questions/pending/w_q1.json"
echo QUESTION_ESCALATED:w_q1`
)

// kept returns the one copy of a checkpoint that a run keeps, "" if there is none.
func (w *world) kept() string {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.Home, ".local/state/claude-supervise/runs/*/*.kept"))
	if err != nil || len(found) > 1 {
		w.t.Fatalf("%v: copies are kept in %q", err, found)
	}
	return strings.Join(found, "")
}

// askedBy waits for a question, until no script polls for its answer any more: its file is seen before it escalates.
func (w *world) askedBy(run *supervised) *questionView {
	w.t.Helper()
	q := run.until("question").Question
	for polls := true; polls; { // each look is a process of its own: no need to rest between them
		polls = parse[[]openQuestion](w.t, w.must("questions", "--json"))[0].Kind == "file"
	}
	return q
}

// context returns what the one open question tells beside itself.
func (w *world) context() string {
	w.t.Helper()
	return parse[[]openQuestion](w.t, w.must("questions", "--json"))[0].Context
}

// What an agent names as its state is read only if it is safe to. Else the person is told why, and asked all the same;
// the agent goes on without it.
func TestAStateThatCannotBeUsedIsToldOfAndTheQuestionIsAskedAllTheSame(t *testing.T) {
	t.Parallel()
	outside, err := os.MkdirTemp("/var/tmp", "claude-supervise-e2e")
	noError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(outside) })
	elsewhere := filepath.Join(outside, "state.json")
	noError(t, os.WriteFile(elsewhere, []byte(skillState), 0o600))
	t.Cleanup(func() { // after all of the cases
		if text, err := os.ReadFile(elsewhere); err != nil || string(text) != skillState {
			t.Errorf("what lies outside is changed: %s (%v)", text, err)
		}
		if left, err := os.ReadDir(outside); err != nil || len(left) != 1 {
			t.Errorf("outside there are %v (%v)", left, err)
		}
	})
	for name, c := range map[string]struct{ make, state, why string }{
		"corrupt":             {`echo '{"agent": "domain", ' > state.json`, "state.json", "not a checkpoint"},
		"empty":               {`: > state.json`, "state.json", "not a checkpoint"},
		"missing":             {``, "state.json", "no such file"},
		"outside the folders": {``, elsewhere, "outside"},
		"outside by a folder": {`ln -s ` + outside + ` there`, "there/state.json", "outside"},
		"outside by dots":     {``, strings.Repeat("../", 20) + elsewhere[1:], "outside"},
		"a symlink": {`echo '` + skillState + `' > real.json; ln -s real.json state.json`,
			"state.json", "a symbolic link"},
		"a folder":               {`mkdir state.json`, "state.json", "regular"},
		"a pipe":                 {`mkfifo state.json`, "state.json", "regular"},
		"too large":              {`truncate -s 17M state.json`, "state.json", "large"},
		"with a name for a tty":  {``, `$(printf '\033[2Jstate.json')`, "no such file"},
		"a system's own file":    {``, "/proc/self/environ", "outside"},
		"of a file in its place": {`: > there`, "there/state.json", "file does not exist"},
	} {
		for form, ask := range map[string]string{"paused": pausesAt, "escalated": escalatesAt} {
			if form == "escalated" && name != "missing" && name != "corrupt" && name != "a symlink" {
				continue // they are read in the same way
			}
			t.Run(form+", "+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t).script(asksIn(c.make + "\nSTATE=" + c.state + "\n" + ask))
				run := w.starts()
				q := w.askedBy(run)
				told := w.context()
				lacksNone(t, "the question", told, "Its checkpoint cannot be used:", c.why)
				if strings.ContainsRune(told, '\x1b') {
					t.Errorf("what is told of it holds an escape: %q", told)
				}
				if kept := w.kept(); kept != "" {
					t.Errorf("a copy is kept: %s", kept)
				}
				w.must("answer", q.ID, "strict")
				w.ends(run, 0)
				lacksNone(t, "the prompt", w.got("prompt.2"), "Answer: strict\n")
			})
		}
	}
}

// The state of the moment in which the agent asked is kept for it, whatever becomes of its own.
func TestTheStateOfTheMomentOfAskingIsKeptAndHandedBackShouldItBeGone(t *testing.T) {
	t.Parallel()
	const user = `"user_answer"\s*:\s*"strict"`
	for name, c := range map[string]struct {
		ask, state, then string // what happens to state.json before the answer
		copied           bool   // the agent is handed the copy
		holds            string // a pattern: what it is handed
	}{
		"paused, as it was": {pausesAt, skillState, "", false, "2 of 3"},
		"paused, gone":      {pausesAt, skillState, "gone", true, "2 of 3"},
		"paused, a newer one": {pausesAt, skillState, strings.Replace(skillState, "2 of 3", "3 of 3", 1),
			false, "3 of 3"},
		"paused, spoilt":        {pausesAt, skillState, "{", true, "2 of 3"},
		"paused, a symlink now": {pausesAt, skillState, "symlink", true, "2 of 3"},
		"escalated, as it was":  {escalatesAt, hybridState, "", false, user},
		"escalated, gone":       {escalatesAt, hybridState, "gone", true, user},
		"escalated, spoilt":     {escalatesAt, hybridState, "{", true, user},
		"escalated, a newer one": {escalatesAt,
			hybridState, strings.Replace(hybridState, `"current_step": "auth"`, `"current_step": "tests"`, 1),
			false, `"tests"(.|\n)*` + user},
		"escalated, of another shape": {escalatesAt, skillState, "", false, "2 of 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).script(asksIn("printf %s '"+c.state+"' > state.json\nSTATE=$PWD/state.json\n"+c.ask) +
				"if [ $n = 2 ]; then cat \"$CLAUDE_SUPERVISE_CHECKPOINT\" > handed; fi\n")
			run := w.starts()
			q := w.askedBy(run)
			kept := w.kept()
			info, err := os.Lstat(kept)
			if err != nil || info.Mode() != 0o600 || w.got(kept) != c.state {
				t.Fatalf("the copy is %v (%v)", info, err)
			}
			own := filepath.Join(w.Cwd, "state.json")
			switch c.then {
			case "":
			case "gone", "symlink":
				noError(t, os.Remove(own))
				if c.then == "symlink" {
					noError(t, os.Symlink(kept, own))
				}
			default:
				w.put(own, c.then)
			}
			w.must("answer", q.ID, "strict")
			w.ends(run, 0)
			want := own
			if c.copied {
				want = kept
				lacksNone(t, "what the person is told", run.stderr.String(),
					"the answer is not stored with the agent's own state: checkpoint "+own)
			}
			if got := w.got("checkpoint.2"); got != want {
				t.Errorf("it is handed %s, want %s", got, want)
			}
			prompt := w.got("prompt.2")
			if got := w.got("handed"); !regexp.MustCompile(c.holds).MatchString(got) {
				t.Errorf("what it is handed lacks %q:\n%s", c.holds, got)
			}
			lacksNone(t, "the prompt", prompt, want, "Answer: strict\n", "The checkpoint that you left in "+own)
			if c.then == "{" && w.got(own) != "{" {
				t.Errorf("what is no checkpoint was written to: %s", w.got(own))
			}
		})
	}
}

// Where a file of another kind has the name that the answers would be stored under, that is left as it is, and the
// person is told.
func TestAnAnswerIsNotStoredOverAnotherFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t).script(asksIn("printf %s '" + skillState +
		"' > state.json; echo mine > state.json.answer.json\nSTATE=state.json\n" + pausesAt))
	run := w.starts()
	w.answers(run, "strict")
	w.written("state.json.answer.json", "mine\n")
	lacksNone(t, "what the person is told", run.stderr.String(),
		"the answer is not stored with the agent's own state: checkpoint state.json: its answers cannot be stored in "+
			"state.json.answer.json")
	kept := w.kept()
	lacksNone(t, "the prompt", w.got("prompt.2"), "Answer: strict\n", "Continue from state file: "+kept+"\n")
	lacksNone(t, "what is beside the copy", w.got(kept+".answer.json"), `"strict"`)
}

// An agent that leaves no checkpoint is given one of what it said, did and changed.
func TestAnAgentWithoutACheckpointIsGivenOneInItsNextProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t).script("echo one > a.txt\nif [ $n = 1 ]; then echo I have written a.txt, the rest is to come; fi\n" +
		asksIn(asksTheColour) +
		"if [ $n = 2 ]; then cp -p \"$CLAUDE_SUPERVISE_CHECKPOINT\" handed; fi\n")
	git(t, w.Cwd, "init", "--quiet")
	w.answers(w.starts(), "red")
	path := filepath.Join(w.Cwd, "handed")
	var c struct {
		WorkflowID string `json:"workflow_id"`
		Context    string
		NextAction string `json:"next_action"`
	}
	if err := json.Unmarshal([]byte(w.got(path)), &c); err != nil || c.WorkflowID == "" || c.NextAction == "" {
		t.Errorf("%s: %v: %+v", path, err, c)
	}
	for what, text := range map[string]string{"the checkpoint": c.Context, "the prompt": w.got("prompt.2")} {
		lacksNone(t, what, text, "I have written a.txt, the rest is to come", "a.txt")
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("its mode is %v (%v)", info.Mode(), err)
	}
}

// worksAndAsks does work that a new conversation must not do again.
const worksAndAsks = `
name: works-and-asks
about: work, then a question
prompt: Write a and b.
claude_flags: [--allowedTools, "Bash,Write"]
turns:
  - when: "## YOUR TASK"
    replies:
      - tools:
          - {name: Write, input: {file_path: "{{cwd}}/a.txt", content: "a\n"}}
          - {name: Bash, input: {command: "echo counted >> count.txt", description: count}}
      - text: |-
          a.txt is written and counted.

          [CLARIFICATION_NEEDED]
          agent_id: {{agent}}
          timestamp: 2026-01-11T08:45:00Z
          questions:
            - question_id: Q1
              text: Which colour has b?
              context: Both fit.
          current_state: a is done, b is not
          [/CLARIFICATION_NEEDED]
  - when: "## CLARIFICATION RESPONSE"
    replies:
      - text: |-
          [COMPLETION_REPORT]
          agent_id: {{agent}}
          timestamp: 2026-01-11T12:00:00Z
          status: success
          summary: b is {{A1}}
          [/COMPLETION_REPORT]
expect: {status: succeeded, exit_code: 0, summary: b is red, files: {a.txt: "a\n", count.txt: "counted\n"}}
`

func TestAFreshConversationIsToldOfTheWorkOfTheOldOne(t *testing.T) {
	t.Parallel()
	agentsOn(t, worksAndAsks, func(t *testing.T, w *world, s examples.Scenario) {
		run := w.start(w.runArgs(s, "--relaunch", "fresh", "--hold", "0", "--on-question", "ask")...)
		q := run.until("question").Question
		run.until("parked") // else it goes into the same conversation
		w.must("answer", q.ID, "red")
		finishes(t, w, s, run)
		if conversations := len(w.transcripts()); conversations != 2 {
			t.Fatalf("there are %d conversations", conversations)
		}
		found, err := filepath.Glob(filepath.Join(w.Home, ".local/state/claude-supervise/runs/*/*.checkpoint.json"))
		if err != nil || len(found) != 1 {
			t.Fatalf("checkpoints: %q (%v)", found, err)
		}
		lacksNone(t, "the checkpoint", w.got(found[0]), "a is done, b is not", "a.txt", "echo counted")
		w.deliveredOnce("Files you wrote, as they are on disk now:")
	})
}
