package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/e2e/sample"
	"claude-supervise/procs"
	cli "claude-supervise/procs/claude"
)

// compacted is a scenario whose agent asks, has its conversation compacted by the CLI in the middle of the turn, and
// asks again.
const compacted = `name: compacted
about: asks before and after a compaction
prompt: Paint it.
expect: {status: succeeded}
turns:
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: AskUserQuestion, input: {questions: [{question: "Which ground?", header: Ground, multiSelect: false,
          options: [{label: White, description: plain}, {label: Black, description: dark}]}]}}]
      - tools: [{name: Bash, input: {command: "echo before >> effects", description: note}}]
        usage: {input: 985000, output: 42}
  - when: "Your conversation was compacted."
    replies: &rest
      - tools: [{name: mcp__supervise__ask_user, input: {questions: [{id: A1, text: "Which accent?"}]}}]
      - tools: [{name: Bash, input: {command: "echo after >> effects", description: note}}]
      - tools: [{name: mcp__supervise__report_completion, input: {status: success, summary: painted}}]
      - text: done
  - when: "Q1: Which ground?"
    replies: *rest
`

// A compaction takes no answer away: a question from before it is answered differently in the conversation as it was
// then, one from after it in what it has left. Where a person compacts the conversation of a run that is parked, the
// answer is restated.
func TestACompactionTakesNoAnswerAway(t *testing.T) {
	t.Parallel()
	placing(t)
	for name, plays := range map[string]func(*testing.T, *world){
		"answered differently": compactedBetween, "parked": compactedMeanwhile,
	} {
		if sample.Has("compacted "+name, 4) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				plays(t, newWorld(t))
			})
		}
	}
}

func compactedBetween(t *testing.T, w *world) {
	var requests bodies
	s := load(t, w.scenario(compacted))
	w.real(s, requests.take)
	w.inGit()
	started := w.start(w.runArgs(s, "--hold", "forever", "--on-question", "ask", "--allow", "Bash")...)
	var asked []string
	for _, answer := range []string{"Black", "Red"} {
		q := started.until("question").Question
		asked = append(asked, q.ID)
		w.must("answer", q.ID, answer)
	}
	started.exits(0)
	run := w.ps().ID
	before := w.left(run)
	const summary = "This session is being continued from a previous conversation"
	for i, c := range []struct{ answer, has, lacks string }{
		{"White", `\"Which ground?\"=\"White\"`, summary},
		{"Green", summary, `=\"Black`},
	} {
		begun := len(requests.all)
		fork := w.again(asked[i], c.answer)
		if i == 0 { // it is compacted once more, and asks again
			w.must("answer", w.asksAgain(fork), "Green")
		}
		w.exits(0, "wait", fork, "--timeout", "60s")
		if first := requests.plain(t, w, begun); !strings.Contains(first, c.has) || strings.Contains(first, c.lacks) ||
			!strings.Contains(first, c.answer) {
			t.Errorf("the fork began with:\n%s", first)
		}
		effects, err := os.ReadFile(filepath.Join(w.forkOf(fork).Agents[0].Cwd, "effects"))
		if noError(t, err); string(effects) != "before\nafter\n" {
			t.Errorf("answered %s: the effects are %q", c.answer, effects)
		}
		if shown := w.must("show", fork, "--json"); !strings.Contains(shown, "told as the result of its call") {
			t.Errorf("the answer was not told in place:\n%s", shown)
		}
	}
	w.untouched(run, before)
}

func compactedMeanwhile(t *testing.T, w *world) {
	s := load(t, w.scenario(compacted))
	w.real(s, func(messagesapi.Request) {})
	w.exits(75, w.runArgs(s, "--hold", "0", "--on-question", "park", "--allow", "Bash")...)
	asked, run := w.questions()[0].ID, w.ps()
	ended := make(chan struct{})
	p, err := procs.Start(cli.Agent{}, procs.Spec{Path: claude.Program(t), Dir: w.Cwd, Env: slices.Clone(w.Env), Resume: true,
		SessionID: run.Agents[0].SessionID, Marker: procs.Marker{Run: "r-other", Agent: "a-7Qm2xK9fWb4T", Launch: 1}},
		func(m procs.Message) {
			if _, is := m.(procs.Exit); is {
				close(ended)
			}
		})
	noError(t, err)
	noError(t, p.Send("9f9619ff-8b86-4011-b42d-00c04fc964f1", "/compact"))
	waitUntil(t, "it is compacted", func() bool {
		return slices.ContainsFunc(w.conversation(), func(line string) bool { return strings.Contains(line, `"compact_boundary"`) })
	})
	noError(t, p.CloseInput())
	<-ended
	w.must("answer", asked, "Black")
	w.exits(75, "resume", run.ID, "--on-question", "park")
	lacksNone(t, "show", w.must("show", asked),
		"State: delivered (restated by a prompt: the conversation was compacted since the question)")
	w.deliveredOnce(byPrompt...)
	if next := w.questions(); len(next) != 1 || next[0].Question != "Which accent?" {
		t.Errorf("then it asks %+v", next)
	}
}
