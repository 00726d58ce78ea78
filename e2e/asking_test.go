package e2e

import (
	"strings"
	"testing"

	"claude-supervise/e2e/messagesapi"
)

// What the CLI lets through of AskUserQuestion and nobody could answer, and what a person will not answer, the model
// reads as the result of its call, in the same turn; and what was answered under each of its questions, whatever that
// was.
func TestTheModelReadsWhatBecameOfItsCallsOfAskUserQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := load(t, w.scenario(`name: asking
about: calls of AskUserQuestion, one of which nobody can answer
prompt: "Ask.\nGoal: answers."
turns:
  - when: "## YOUR TASK"
    replies:
      - tools:
          - name: AskUserQuestion
            input: {questions: [{question: " ", header: Blank, multiSelect: false, options: [{label: A, description: a}, {label: B, description: b}]}]}
      - tools:
          - name: AskUserQuestion
            input:
              questions:
                - {question: "Which <b>\u2028\"layout\"?", header: Layout, multiSelect: false, options: [{label: Rows, description: r, preview: "a\nb"}, {label: Columns, description: c}]}
                - {question: Which accents?, header: Accents, multiSelect: true, options: [{label: Red, description: r}, {label: Blue, description: b}]}
                - {question: Which key?, header: Key, multiSelect: false, options: [{label: Old, description: o}, {label: New, description: n}]}
      - tools:
          - name: AskUserQuestion
            input: {questions: [{question: Which password?, header: Password, multiSelect: false, options: [{label: A, description: a}, {label: B, description: b}]}]}
      - text: |-
          [COMPLETION_REPORT]
          agent_id: {{agent}}
          timestamp: 2026-01-11T12:00:00Z
          status: success
          summary: asked
          [/COMPLETION_REPORT]
expect: {status: succeeded}
`))
	w.real(s, func(messagesapi.Request) {})
	run := w.start(w.runArgs(s, "--hold", "forever")...)
	gives := map[string][]string{
		"layout": {"neither:\n\"mine\""}, "accents": {"2,1"}, "key": {"--decline", "not mine to say"},
		"password": {"--decline", "no."},
	}
	for e := range run.events {
		run.seen = append(run.seen, e)
		for part, answer := range gives {
			if e.Type == "question" && strings.Contains(e.Question.Question, part) {
				w.must(append([]string{"answer", e.Question.ID}, answer...)...)
			}
		}
	}
	if code := run.wait(); code != 0 || run.count("question") != len(gives) {
		t.Fatalf("exit %d after %d questions: %s", code, run.count("question"), run.stderr)
	}
	for _, want := range []string{
		"Nobody was asked: question 1 has no text. Correct the call, or continue without it.",
		"\"Which <b>\u2028\"layout\"?\"=\"neither:\n\"mine\"\"", `"Which accents?"="Blue, Red"`,
		`"Which key?"="The person declines to answer: not mine to say. Continue without it, or end with a report."`,
		"The person declines to answer: no. Continue without it, or end with a report.",
	} {
		if !w.API.Received(want) {
			t.Errorf("the model has not read %q", want)
		}
	}
	if t.Failed() {
		for _, r := range w.API.Requests() {
			t.Logf("%q", r.Conversation[len(r.Conversation)-1].Texts)
		}
	}
}
