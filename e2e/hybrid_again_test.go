package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claude-supervise/e2e/sample"
)

// startsOver asks under another name in each process. The first waits to be let ask, and takes no answer; it escalates
// if it is to give up.
const startsOver = `
id=w_$$
[ -e asked ] && again=1
echo > begun
until [ -e let ]; do sleep 0.05; done
echo > asked
echo '{"question": "Which auth method?", "options": ["oauth", "jwt"]}' > ~/.claude/questions/pending/$id.json
until [ $again ] && [ -e ~/.claude/answers/$id.txt ]; do
	[ ! $again ] && [ -e give-up ] && echo "QUESTION_ESCALATED:$id" && exit
	sleep 0.05
done
cat ~/.claude/answers/$id.txt >> got
rm ~/.claude/answers/$id.txt ~/.claude/questions/pending/$id.json
echo WORKFLOW_COMPLETE
`

// overScenario runs the script, and runs it again whatever it is told then.
const overScenario = `
name: over
about: a script starts over with its agent
prompt: Set up the login.
claude_flags: [--allowedTools, "Bash"]
answers: [{question: Which auth method, answer: oauth}]
turns:
  - when: "## YOUR TASK"
    replies: &work
      - tools: [{name: Bash, input: {command: bash ask.sh, description: ask}}]
      - text: |-
          [COMPLETION_REPORT]
          agent_id: {{agent}}
          timestamp: 2026-01-11T12:00:00Z
          status: success
          summary: the login is set up
          [/COMPLETION_REPORT]
  - {when: "User selected: oauth.", replies: *work}
  - {when: "## GO ON", replies: *work}
expect: {status: succeeded, exit_code: 0, summary: the login is set up}
`

// lostScripts are the ways in which a script that waits is lost with its supervisor, and its question answered.
var lostScripts = map[string]func(w *world, run *supervised, ask func()){
	"answered before it is lost": func(w *world, run *supervised, ask func()) {
		ask()
		w.must("answer", run.until("question").Question.ID, "oauth")
		waitForText(w.t, w.answerFile(strings.TrimSuffix(w.filed("questions/pending")[0], ".json")))
		run.kill9()
	},
	"answered when it is lost": func(w *world, run *supervised, ask func()) {
		ask()
		q := run.until("question").Question
		run.kill9()
		w.must("answer", q.ID, "oauth")
	},
	"when it had escalated": func(w *world, run *supervised, ask func()) {
		ask()
		q := run.until("question").Question
		noError(w.t, os.WriteFile(filepath.Join(w.Cwd, "give-up"), nil, 0o600))
		waitUntil(w.t, "it escalates", func() bool { return w.questions()[0].Kind == "clarification" })
		run.kill9()
		w.must("answer", q.ID, "oauth")
	},
	"before anybody knows whose it is": func(w *world, run *supervised, ask func()) {
		run.standsStill()
		ask()
		for len(w.filed("questions/pending")) == 0 {
			waitFor(w.t, filepath.Join(w.Cwd, "asked"))
		}
		w.must("answer", strings.TrimSuffix(w.filed("questions/pending")[0], ".json"), "oauth")
		run.kill9()
	},
}

// A script that dies in its quick window starts over with its agent, and asks the same by another file. It is given what
// was answered to the first, nobody is asked again, and nothing is left in the folders.
func TestAScriptThatStartsOverIsGivenTheAnswerToTheFirst(t *testing.T) {
	t.Parallel()
	ways := map[string]func(w *world) []string{
		"--exec": func(*world) []string {
			return []string{"run", "--check", "off", "--exec", "bash ask.sh", "Set up the login."}
		},
		"stand-in": func(w *world) []string { return []string{"run", "--demo", w.scenario(overScenario)} },
		"real CLI": func(w *world) []string {
			s := load(w.t, w.scenario(overScenario))
			return w.real(s, nil).runArgs(s)
		},
	}
	eachAgent(t, ways, func(t *testing.T, args func(*world) []string) {
		for _, name := range sample.Part("starts over", slices.Sorted(maps.Keys(lostScripts)), 2) {
			lost := lostScripts[name]
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				puts := func(name, text string) {
					noError(t, os.WriteFile(filepath.Join(w.Cwd, name), []byte(text), 0o600))
				}
				puts("ask.sh", startsOver)
				run := w.start(slices.Insert(args(w), 1, "--on-question", "ask")...)
				waitFor(t, filepath.Join(w.Cwd, "begun"))
				lost(w, run, func() { puts("let", "") })
				w.exits(0, "resume", w.ps().ID)
				w.written("got", "oauth\n")
				if left := append(w.filed("questions/pending"), w.filed("answers")...); len(left) > 0 {
					t.Errorf("%q are left", left)
				}
				if n := len(w.filed("questions/answered")); n != 2 {
					t.Errorf("%d questions are kept as answered", n)
				}
			})
		}
	})
}
