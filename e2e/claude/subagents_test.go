package claude

import (
	"strings"
	"syscall"
	"testing"
)

// The scenarios of the cases below.
const (
	callsTools = `
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: mcp__supervise__report_progress, input: {step: "1"}}]
      - tools: [{name: mcp__supervise__report_progress, input: {step: "2"}}]
      - tools: [{name: mcp__supervise__report_progress, input: {step: "3"}}]
      - tools: [{name: mcp__supervise__report_progress, input: {}}]
      - tools: [{name: mcp__supervise__nonsense, input: {x: 1}}]
      - tools: [{name: mcp__supervise__report_progress, input: {step: "6"}}]
  - when: "## NEXT"
    replies: [{text: next}]
`
	twoSubagents = `
  - when: "## YOUR TASK"
    replies:
      - text: I delegate.
        tools:
          - {name: Agent, input: {description: one, prompt: "## ONE", subagent_type: general-purpose, run_in_background: false}}
          - {name: Agent, input: {description: two, prompt: "## TWO", subagent_type: general-purpose, run_in_background: false}}
      - text: both are back
  - when: "## ONE"
    replies:
      - tools: [{name: mcp__supervise__ask_user, input: {questions: [{text: "Which one?"}]}}]
      - text: "one has {{A1}}\nand no more"
  - when: "## TWO"
    replies:
      - tools: [{name: mcp__supervise__ask_user, input: {questions: [{text: "Which two?"}]}}]
      - text: "two has {{A1}}"
  - when: "The tool call was interrupted before a result was received."
    replies: [{text: no answer came}]
`
	nested = `
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Agent, input: {description: outer, prompt: "## OUTER", subagent_type: general-purpose, run_in_background: false}}]
      - text: done
  - when: "## OUTER"
    replies:
      - text: I ask.
        tools:
          - name: AskUserQuestion
            input: {questions: [{question: Which?, header: H, multiSelect: false, options: [{label: A, description: a}, {label: B, description: b}]}]}
      - tools: [{name: Write, input: {file_path: "{{cwd}}/x", content: x}}]
      - tools: [{name: Agent, input: {description: inner, prompt: "## INNER", subagent_type: general-purpose, run_in_background: false}}]
      - text: outer has it
  - when: "## INNER"
    replies:
      - tools: [{name: mcp__supervise__ask_user, input: {questions: [{text: "Which?"}]}}]
      - text: "inner has {{A1}}"
`
	revived = `
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Agent, input: {description: one, prompt: "## ONE", subagent_type: general-purpose, run_in_background: false}}]
      - text: it is back
  - when: "## ONE"
    replies:
      - tools: [{name: Bash, input: {command: "echo worked", description: work}}]
      - tools: [{name: mcp__supervise__ask_user, input: {questions: [{text: "Which one?"}]}}]
      - text: "one has {{A1}}"
  - when: "Your subagent "
    replies:
      - tools: [{name: SendMessage, input: {to: "{{subagent1}}", message: "## ANSWER\nA1: {{A1}}"}}]
      - tools: [{name: SendMessage, input: {to: a0123456789abcdef, message: hello}}]
      - text: I wait.
  - when: "## ANSWER"
    replies:
      - text: one goes on
        tools: [{name: mcp__supervise__ask_user, input: {questions: [{text: "And then?"}]}}]
      - text: "one has all: {{A1}}"
  - when: "<task-notification>"
    replies: [{text: noted}]
`
)

// inBackground is a scenario whose subagents nobody waits for.
func inBackground(scenario string) string {
	return strings.ReplaceAll(scenario, "run_in_background: false", "run_in_background: true")
}

func TestTheSupervisorsTools(t *testing.T) {
	t.Parallel()
	onBoth(t, "served-tools", callsTools, func(t *testing.T, s *session) {
		s.asksForTools = true
		p := s.begin()
		l := p.until("control_request/can_use_tool")
		p.respond(l, map[string]any{
			"behavior": "allow", "updatedInput": l.at("request", "input"),
			"updatedPermissions": []any{map[string]any{
				"type": "addRules", "behavior": "allow", "destination": "session",
				"rules": []any{map[string]any{"toolName": "mcp__supervise__report_progress"}},
			}},
		})
		p.answer(p.call(), "noted")
		call := p.call()
		p.respond(call, map[string]any{"mcp_response": map[string]any{
			"jsonrpc": "2.0", "id": call.at("request", "message", "id"),
			"error": map[string]any{"code": -32602, "message": "no such progress"},
		}})
		p.send(map[string]any{"type": "control_response", "response": map[string]any{
			"subtype": "error", "request_id": p.call().text("request_id"), "error": "the stream is broken",
		}})
		p.result(p.call(), map[string]any{"isError": true,
			"content": []any{map[string]any{"type": "text", "text": "it failed"}}})
		call = p.call()
		p.control("interrupt", nil)
		p.finish("task")
		p.answer(call, "too late")
		p.goesOn()
		p.leave()
	})
}

func TestSubagents(t *testing.T) {
	t.Parallel()
	onBoth(t, "two-subagents-answered-in-the-other-order", twoSubagents, func(t *testing.T, s *session) {
		p := s.begin()
		one, two := p.call(), p.call()
		if strings.Contains(s.json(one.at("request", "message", "params", "arguments")), "two") {
			one, two = two, one
		}
		p.answer(two, "A1: B")
		p.until("system/task_notification")
		p.answer(one, "A1: A")
		p.finish("task")
		p.leave()
	})
	onBoth(t, "subagents-two-deep", nested, func(t *testing.T, s *session) {
		p := s.begin()
		p.respond(p.until("control_request/can_use_tool"),
			map[string]any{"behavior": "deny", "message": "Not this.", "interrupt": false})
		p.answer(p.call(), "A1: A")
		p.finish("task")
		p.leave()
	})
	onBoth(t, "interrupt-while-subagents-wait", twoSubagents, func(t *testing.T, s *session) {
		p := s.begin()
		p.call()
		p.call()
		p.control("interrupt", nil)
		p.finish("task")
		p.leave()
	})
	onBoth(t, "end-of-input-while-subagents-wait", twoSubagents, func(t *testing.T, s *session) {
		p := s.begin()
		p.call()
		p.call()
		p.leave()
	})
	for name, scenario := range map[string]string{
		"term-while-a-subagent-waits":                   revived,
		"term-while-a-subagent-in-the-background-waits": inBackground(revived),
	} {
		onBoth(t, name, scenario, func(t *testing.T, s *session) {
			s.scenario.ClaudeFlags = bashIsAllowed
			p := s.begin()
			if strings.Contains(name, "background") {
				p.finishAndCall("task")
			} else {
				p.call()
			}
			s.settled(1)
			s.signal(syscall.SIGTERM)
			p.end()
			p = s.resume()
			p.say("answer 1", "Your subagent "+s.subagent()+" (one) had asked the person:\nA1: A")
			p.answer(p.finishAndCall("answer 1"), "A1: B")
			p.respond(p.until("control_request/hook_callback"), map[string]any{})
			p.until("result")
			p.leave()
		})
	}
}

// subagent is the id of the session's only one.
func (s *session) subagent() string {
	for id := range s.logs.tasks {
		return id
	}
	s.t.Fatal("no subagent was started")
	return ""
}

func TestPermissionsThatLast(t *testing.T) {
	t.Parallel()
	onBoth(t, "updated-permissions", `
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Bash, input: {command: "sh -c true", description: make a}}]
      - tools: [{name: Bash, input: {command: "sh -c true", description: make a}}]
      - tools: [{name: Write, input: {file_path: "{{cwd}}/x", content: x}}]
      - tools: [{name: Write, input: {file_path: "{{cwd}}/y", content: y}}]
      - text: done
`, func(t *testing.T, s *session) {
		p := s.begin()
		for {
			l := p.until("control_request/can_use_tool", "control_request/hook_callback")
			if l.kind() == "control_request/hook_callback" {
				p.respond(l, map[string]any{})
				break
			}
			p.respond(l, map[string]any{
				"behavior": "allow", "updatedInput": l.at("request", "input"),
				"updatedPermissions": l.at("request", "permission_suggestions"),
			})
		}
		p.finish("task")
		p.leave()
	})
}
