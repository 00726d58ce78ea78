package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/sample"
)

// A command that prints the stream protocol is read as such: what its tools print is no signal.
func TestAnOlderClaudeThatPrintsItsStreamIsReadAsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t).script(`cat <<E
{"type":"system","subtype":"init","session_id":"s","tools":[]}
{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"notes.md"}}]},"parent_tool_use_id":null}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"WORKFLOW_COMPLETE"}]},"parent_tool_use_id":null}
{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"[COMPLETION_REPORT]\nagent_id: $me\nstatus: partial_success\nsummary: read\n[/COMPLETION_REPORT]"}]},"parent_tool_use_id":null}
{"type":"result","subtype":"success","is_error":false,"result":"read","num_turns":2,"total_cost_usd":0.5,"usage":{"input_tokens":1,"output_tokens":1}}
E`)
	w.ends(w.starts(), 3)
	if p := w.ps(); p.Agents[0].CostUSD != 0.5 {
		t.Errorf("it has cost %v", p.Agents[0].CostUSD)
	}
}

// Its TaskUpdate call, which later releases have disabled, asks as the document has it, with an id that is nobody's.
func TestAnOlderClaudeAsksByTheMetadataOfItsTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t).script(`if [ $n = 1 ]; then cat <<'E'
{"type":"system","subtype":"init","session_id":"s","tools":[]}
{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"TaskUpdate","input":{"taskId":"7","metadata":{"agent_id":"agent-abc123","needs_input":true,"question":"Which should be standard?","question_context":{"pattern_a":"strict (auth)"},"question_options":["Strict","Lenient"]}}}]},"parent_tool_use_id":null}
{"type":"result","subtype":"success","is_error":false,"result":"","num_turns":1}
E
else report "$CLAUDE_SUPERVISE_ANSWER"; fi
`)
	w.answers(w.starts(), "lenient")
	lacksNone(t, "the prompt", w.got("prompt.2"), `User chose: "Lenient". Continue from where you left off.`,
		`{"needs_input": false, "user_answer": "Lenient", "answered_at": "`)
	lacksNone(t, "show", w.must("show", w.ps().ID), "Lenient")
}

// The CLI prints nothing but its last text in this mode: it asks by a block at the end of it, and is started anew with
// the answer.
func TestClaudeInTextModeAsksAtItsEndAndIsRelaunchedWithTheAnswer(t *testing.T) {
	t.Parallel()
	given := map[string]string{
		"prompt as the argument":   "claude --allowedTools Bash,Write -p -- {}",
		"prompt on standard input": "claude -p --allowedTools Bash,Write",
	}
	for _, name := range sample.Pick(t.Name(), slices.Sorted(maps.Keys(given))) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := load(t, "ask")
			w := newWorld(t).real(s, nil)
			bin := t.TempDir()
			noError(t, os.Symlink(claude.Program(t), filepath.Join(bin, "claude")))
			w.Env = append(w.Env, "PATH="+bin+":/usr/local/bin:/usr/bin:/bin")
			w.agent = []string{"--exec", given[name], s.Prompt}
			w.answers(w.starts("--hold", "0"), "JWT")
			w.written("auth.txt", "login by JWT\n")
			if a := w.ps().Agents[0]; a.Launches != 2 || !w.API.Received("A1: JWT") {
				t.Errorf("after %d launches the model has not received the answer", a.Launches)
			}
		})
	}
}
