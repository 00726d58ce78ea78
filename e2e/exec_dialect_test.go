package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// Each dialect is asked in by a command, and answered in its own form: in the prompt of the next launch, and in its
// environment.
func TestACommandIsAnsweredInTheFormInWhichItAsked(t *testing.T) {
	t.Parallel()
	const state = `{"agent": "domain", "progress": "2 of 3 patterns read", "files": ["auth.go"], "decision": "which rule"}`
	for name, c := range map[string]struct {
		ask                string
		typed              []string
		prompt             []string
		answer, answers    string
		checkpoint, stored string // of the run's folder: what is handed back, and what must hold the answers
	}{
		"awaiting": {
			ask: "echo '" + state + "' > state.json\n" + `cat <<'E'
AWAITING_USER_INPUT
{
  "context": "Three mutants survive",
  "stateFile": "state.json",
  "questions": [
    {"id": "order", "question": "Which module first?", "header": "Order", "options": [{"label": "auth", "description": "login"}, {"label": "billing", "description": "money"}], "multiSelect": false},
    {"id": "tasks", "question": "Which tasks?", "header": "Tasks", "options": [{"label": "tests", "description": "more"}, {"label": "fixes", "description": "now"}], "multiSelect": true}
  ]
}
E`,
			typed: []string{"b", "2,1"},
			prompt: []string{
				"USER_INPUT_RESPONSE\n{\"order\": \"billing\", \"tasks\": [\"fixes\",\"tests\"]}\n",
				"Continue from state file: state.json\n",
				"order: Which module first?\nAnswer: billing\n",
			},
			answer: `{"order": "billing", "tasks": ["fixes","tests"]}`, answers: `{"order": "billing", "tasks": ["fixes","tests"]}`,
			checkpoint: "state.json", stored: "state.json.answer.json",
		},
		"paused with a state file": {
			ask: "echo '" + state + "' > state.json\n" + `cat <<'E'
PAUSED_FOR_INPUT: state.json

Question: Found two email validation approaches. Which should be standard?
A) Strict RFC 5322 (more secure)
B) Lenient (more permissive)
C) Keep both (context-dependent)
E`,
			typed: []string{"lenient"},
			prompt: []string{
				"USER_INPUT_RESPONSE\n", "Answer: Lenient (more permissive)\nLetter: B\n", "Continue from state file: state.json\n",
			},
			answer: "Lenient (more permissive)", answers: `{"Q1": "Lenient (more permissive)"}`,
			checkpoint: "state.json", stored: "state.json.answer.json",
		},
		"paused without one": {
			ask: `cat <<'E'
PAUSED_FOR_INPUT
Question: "Found 3 surviving mutants. Create individual fix tasks?"
Options: ["Yes - create tasks", "No - just report"]
E`,
			typed:  []string{"2"},
			prompt: []string{"USER_INPUT_RESPONSE\n", "Answer: No - just report\nLetter: B\n"},
			answer: "No - just report", answers: `{"Q1": "No - just report"}`,
		},
		"escalated": {
			ask: `mkdir -p "$HOME/.claude/questions/pending"
cat > w_checkpoint.json <<'E'
{"workflow_id": "w", "current_step": "auth", "completed_steps": ["analyze"], "pending_steps": ["implement"], "context": "auth", "next_action": "implement", "user_answer": null}
E
cat > "$HOME/.claude/questions/pending/w_q1.json" <<E
{"question": "Which auth method: OAuth or JWT?", "options": ["oauth", "jwt"], "workflow_id": "w", "checkpoint": "$PWD/w_checkpoint.json", "asked_at": "2026-10-19T14:32:00Z"}
E
echo QUESTION_ESCALATED:w_q1`,
			typed: []string{"oauth"},
			prompt: []string{"Resume workflow from checkpoint: $CWD/w_checkpoint.json. User selected: oauth. Continue " +
				"implementation."},
			answer: "oauth", answers: `{"w_q1": "oauth"}`,
			checkpoint: "$CWD/w_checkpoint.json", stored: "w_checkpoint.json",
		},
		"task metadata": {
			ask: `cat <<'E'
await TaskUpdate({
  taskId: currentTaskId,
  metadata: {
    ...existingMetadata,
    needs_input: true,
    question: "Found two validation approaches. Which should be standard?",
    question_context: { pattern_a: "Strict (auth module)", files_analyzed: ["src/auth/mod.rs"] },
    question_options: ["Strict RFC 5322 (Recommended for security)", "Lenient validation"]
  }
});
E`,
			typed: []string{"1"},
			prompt: []string{`User chose: "Strict RFC 5322 (Recommended for security)". Continue from where you left off.`,
				`{"needs_input": false, "user_answer": "Strict RFC 5322 (Recommended for security)", "answered_at": "`},
			answer:  "Strict RFC 5322 (Recommended for security)",
			answers: `{"Q1": "Strict RFC 5322 (Recommended for security)"}`,
		},
		"block": {
			ask: `cat <<E
[CLARIFICATION_NEEDED]
agent_id: $me
timestamp: 2026-01-11T08:45:00Z
blocked_at: step 2, the login
questions:
  - question_id: Q1
    text: Which login?
    context: Both are used.
    options:
      - Sessions: kept by the server
      - JWT: kept by the client
  - question_id: Q2
    text: What is the service called?
    context: It has no name yet.
current_state: the models are written
[/CLARIFICATION_NEEDED]
E`,
			typed: []string{"jwt", `it's "the ledger" of $HOME`},
			prompt: []string{
				"## CLARIFICATION RESPONSE\n", "Q1: Which login?\nA1: JWT\n",
				"Q2: What is the service called?\nA2: it's \"the ledger\" of $HOME\n",
				"Continue from: step 2, the login\nCurrent state: the models are written\n",
			},
			answer:  `{"Q1": "JWT", "Q2": "it's \"the ledger\" of $HOME"}`,
			answers: `{"Q1": "JWT", "Q2": "it's \"the ledger\" of $HOME"}`,
		},
		"json": {
			ask: `cat <<E
{"signal_type": "CLARIFICATION_NEEDED", "agent_id": "$me", "timestamp": "2026-01-11T08:45:00Z", "payload": {"blocked_at": "the port", "questions": [{"question_id": "port", "text": "Which port?", "context": "any", "validate": "integer"}]}}
E`,
			typed:  []string{"8080"},
			prompt: []string{"## CLARIFICATION RESPONSE\n", "Q1: Which port?\nA1: 8080\n", "Continue from: the port\n"},
			answer: "8080", answers: `{"port": "8080"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).script(asksIn(c.ask))
			w.answers(w.starts(), c.typed...)
			here := func(text string) string { return strings.ReplaceAll(text, "$CWD", w.Cwd) }
			prompt := w.got("prompt.2")
			for _, part := range append(c.prompt, "## YOUR TASK\n\nDo the task.") {
				lacksNone(t, "the prompt", prompt, here(part))
			}
			if first := w.got("prompt.1") + w.got("answer.1") + w.got("answers.1") +
				w.got("checkpoint.1"); !strings.Contains(first, "Do the task.") ||
				strings.HasSuffix(first, c.answer) {
				t.Errorf("the first launch was given\n%s", first)
			}
			if got := w.got("answer.2"); got != c.answer {
				t.Errorf("the answer is %q, want %q", got, c.answer)
			}
			if got := w.got("answers.2"); got != c.answers {
				t.Errorf("the answers are %s, want %s", got, c.answers)
			}
			checkpoint := w.got("checkpoint.2")
			if want := here(c.checkpoint); want != "" && checkpoint != want {
				t.Errorf("the checkpoint is %s, want %s", checkpoint, want)
			} else if _, err := os.Stat(checkpoint); want == "" && err != nil {
				t.Errorf("the checkpoint that is built: %v", err)
			}
			if c.stored != "" {
				for _, answer := range values(t, c.answers) {
					lacksNone(t, c.stored, w.got(c.stored), answer)
				}
			}
		})
	}
}

// values returns what an object holds, as JSON.
func values(t *testing.T, object string) []string {
	t.Helper()
	var all []string
	for _, v := range parse[map[string]json.RawMessage](t, object) {
		all = append(all, string(v))
	}
	return all
}
