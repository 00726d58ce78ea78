package claude

import (
	"encoding/json"
	"strings"
	"testing"

	"claude-supervise/e2e/sample"
)

const (
	asksTwiceAtOnce = `
  - when: "## YOUR TASK"
    replies:
      - tools:
          - name: AskUserQuestion
            input: {questions: [{question: "Which?", header: H, options: [{label: A, description: a}, {label: B, description: b}]}]}
          - name: AskUserQuestion
            input: {questions: [{question: "What?", header: H, options: [{label: C, description: c}, {label: D, description: d}]}]}
      - text: I have asked.
  - when: "## NEXT"
    replies: [{text: next}]
`
	asksInSubagent = `
  - when: "## YOUR TASK"
    replies:
      - tools:
          - name: Agent
            input: {description: d, prompt: "## PART", subagent_type: general-purpose, run_in_background: false}
      - text: It has asked.
  - when: "## PART"
    replies:
      - tools: [{name: mcp__supervise__ask_user, input: {question: "Which?"}}]
      - text: I have asked.
  - when: "## NEXT"
    replies: [{text: next}]
`
)

// The releases topic says why runs do without these: each loses a question. The day one of them asks it after all this
// test fails, and it may be used.
func TestWhatRunsDoWithoutLosesAQuestion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scenario, flag, deferred string // deferred: the tool whose calls a hook defers
		prints                   string // what tells in the lines of the first process
	}{
		"--permission-prompts none": {asks, "--permission-prompts=none", "", "AskUserQuestion is disabled"},
		"defer of two at once":      {asksTwiceAtOnce, "", "AskUserQuestion", `"stop_reason":"tool_deferred"`},
		"defer in a subagent":       {asksInSubagent, "", "mcp__supervise__ask_user", `"stop_reason":"end_turn"`},
	} {
		if !sample.Has("unused "+name, 6) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t, realCLI, c.scenario)
			if c.flag != "" {
				s.scenario.ClaudeFlags = []string{c.flag}
			}
			asked, printed := s.start("--session-id", s.id).deferring(c.deferred, "task", s.task())
			if !strings.Contains(printed, c.prints) || strings.Contains(asked, "Which?") == (c.deferred == "") {
				t.Errorf("it asks %q, and prints no %s:\n%s", asked, c.prints, printed)
			}
			if asked, _ = s.start("--resume", s.id).deferring("", "next", "## NEXT"); strings.Contains(asked, "Which?") {
				t.Errorf("after --resume the question is not lost any more: %q", asked)
			}
		})
	}
}

// deferring plays a turn in which a hook defers the calls of a tool, and ends the process. It returns what was asked of
// the hook or of a person, and all lines.
func (p *process) deferring(tool, name, text string) (asked, printed string) {
	p.s.t.Helper()
	p.control("initialize", map[string]any{"sdkMcpServers": []string{"supervise"}, "hooks": map[string]any{
		"PreToolUse": []any{map[string]any{"matcher": "AskUserQuestion|mcp__supervise__ask_user",
			"hookCallbackIds": []string{"pre"}}},
	}})
	p.say(name, text)
	var all, questions strings.Builder
	for {
		l, ok := p.next()
		if !ok {
			p.s.t.Fatalf("the stream ended before the turn; stderr: %s", p.stderr.String())
		}
		data, err := json.Marshal(l)
		noError(p.s.t, err)
		all.Write(append(data, '\n'))
		switch {
		case l.kind() == "control_request/hook_callback" && l.text("request", "input", "tool_name") == tool:
			questions.Write(data)
			p.respond(l, map[string]any{"hookSpecificOutput": map[string]any{
				"hookEventName": "PreToolUse", "permissionDecision": "defer"}})
		case l.kind() == "control_request/hook_callback", l.kind() == "control_request/can_use_tool":
			questions.Write(data)
			p.respond(l, map[string]any{"behavior": "deny", "message": "Not now."})
		case l.text("command_uuid") == p.s.uuid(name) && l.text("state") == "completed":
			p.leave()
			return questions.String(), all.String()
		}
	}
}
