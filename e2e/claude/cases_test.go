package claude

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The scenarios of the cases below. works begins a command that tells when it runs, and waits for its release.
const (
	talks = `
  - when: "## YOUR TASK"
    replies: [{text: hi}]
  - when: "## NEXT"
    replies: [{text: next}]
  - when: "Stop hook feedback:"
    replies: [{text: still}]
`
	asks = `
  - when: "## YOUR TASK"
    replies:
      - text: I ask.
        tools:
          - name: AskUserQuestion
            input: {questions: [{question: Which?, header: H, multiSelect: false, options: [{label: A, description: a}, {label: B, description: b}]}]}
      - text: I have asked.
  - when: "## NEXT"
    replies: [{text: next}]
`
	writes = `
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Write, input: {file_path: "{{cwd}}/x", content: x}}]
      - text: written
`
	works = `
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Bash, input: {command: "echo begun; echo > begun; read line < go; echo done", description: work}}]
      - text: worked
  - when: "## NEXT"
    replies: [{text: next}]
`
	worksInBackground = `
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Bash, input: {command: "read line < go; exit 3", description: work, run_in_background: true}}]
      - text: begun
  - when: "## NEXT"
    replies: [{text: next}]
  - when: "<task-notification>"
    replies: [{text: ended}]
`
	hangs = `
  - when: "## YOUR TASK"
    replies: [{hang: true}]
  - when: "## NEXT"
    replies: [{text: next}]
`
)

// pipes makes the named pipes by which a case and a command of the agent wait for each other.
func (s *session) pipes() {
	for _, name := range []string{"begun", "go"} {
		noError(s.t, syscall.Mkfifo(filepath.Join(s.cwd, name), 0o600))
	}
}

// begun blocks until the command runs.
func (s *session) begun() {
	if _, err := os.ReadFile(filepath.Join(s.cwd, "begun")); err != nil {
		s.t.Fatal(err)
	}
}

// release lets the command end.
func (s *session) release() {
	noError(s.t, os.WriteFile(filepath.Join(s.cwd, "go"), []byte("\n"), 0o600))
}

var bashIsAllowed = []string{"--allowedTools", "Bash"}

func TestMessagesArriveOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, "again-in-the-same-process", talks, func(t *testing.T, s *session) {
		p := s.begin()
		p.finish("task")
		p.say("task", s.task())
		p.goesOn()
		p.leave()
	})
	onBoth(t, "again-after-resume", talks, func(t *testing.T, s *session) {
		p := s.begin()
		p.finish("task")
		p.leave()
		p = s.resume()
		p.say("task", s.task())
		p.finish("task")
		p.goesOn()
		p.leave()
	})
	onBoth(t, "again-after-a-turn-without-reply", hangs, func(t *testing.T, s *session) {
		// Only what has had a reply counts as being in the conversation.
		p := s.begin()
		p.until("system/init")
		p.control("interrupt", nil)
		p.finish("task")
		p.leave()
		p = s.resume()
		p.goesOn()
		p.leave()
	})
	onBoth(t, "without-uuid", talks, func(t *testing.T, s *session) {
		p := s.start("--session-id", s.id)
		p.initialize()
		p.send(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": "## NEXT"}})
		p.respond(p.until("control_request/hook_callback"), map[string]any{})
		p.until("result")
		p.leave()
	})
	onBoth(t, "in-the-middle-of-a-turn", works, func(t *testing.T, s *session) {
		s.pipes()
		s.scenario.ClaudeFlags = bashIsAllowed
		p := s.begin()
		p.until("assistant")
		s.begun()
		p.say("next", "## NEXT")
		p.say("next", "## NEXT")
		p.until("command_lifecycle")
		s.release()
		p.finish("task")
		p.leave()
		// A message that was taken into a running turn is run again: the CLI does not look for it there.
		p = s.resume()
		p.goesOn()
		p.leave()
	})
}

func TestAQuestionOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	onBoth(t, "term-while-asking", asks, func(t *testing.T, s *session) {
		p := s.begin()
		p.until("control_request/can_use_tool")
		s.settled(0)
		s.signal(syscall.SIGTERM)
		p.end()
		p = s.resume()
		p.say("task", s.task())
		p.finish("task")
		p.goesOn()
		p.leave()
	})
	onBoth(t, "interrupt-while-asking", asks, func(t *testing.T, s *session) {
		p := s.begin()
		p.until("control_request/can_use_tool")
		p.control("interrupt", nil)
		p.finish("task")
		p.leave()
	})
	onBoth(t, "end-of-input-while-asking", asks, func(t *testing.T, s *session) {
		p := s.begin()
		p.until("control_request/can_use_tool")
		p.leave()
	})
	onBoth(t, "end-of-input-while-asking-for-permission", writes, func(t *testing.T, s *session) {
		p := s.begin()
		p.until("control_request/can_use_tool")
		p.leave()
	})
	onBoth(t, "refused-question", asks, func(t *testing.T, s *session) {
		p := s.begin()
		p.respond(p.until("control_request/can_use_tool"),
			map[string]any{"behavior": "deny", "message": "Not now.", "interrupt": false})
		p.finish("task")
		p.leave()
	})
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	const all = `
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Bash, input: {command: "sh -c true", description: make x}}]
      - tools: [{name: Write, input: {file_path: "{{cwd}}-beside", content: y}}]
      - tools: [{name: Write, input: {file_path: "{{cwd}}/z", content: z}}]
      - tools: [{name: Read, input: {file_path: "{{cwd}}/z"}}]
      - text: done
`
	for _, mode := range []string{"manual", "acceptEdits", "bypassPermissions"} {
		onBoth(t, "permissions-"+mode, all, func(t *testing.T, s *session) {
			s.scenario.ClaudeFlags = []string{"--permission-mode", mode}
			p := s.begin()
			for {
				l := p.until("control_request/can_use_tool", "control_request/hook_callback")
				if l.kind() == "control_request/hook_callback" {
					p.respond(l, map[string]any{})
					break
				}
				p.respond(l, map[string]any{"behavior": "allow", "updatedInput": l.at("request", "input")})
			}
			p.finish("task")
			p.leave()
		})
	}
	onBoth(t, "refusal-that-ends-the-turn", writes, func(t *testing.T, s *session) {
		p := s.begin()
		p.respond(p.until("control_request/can_use_tool"),
			map[string]any{"behavior": "deny", "message": "Stop.", "interrupt": true})
		p.finish("task")
		p.leave()
	})
	onBoth(t, "changed-input", writes, func(t *testing.T, s *session) {
		p := s.begin()
		p.respond(p.until("control_request/can_use_tool"), map[string]any{
			"behavior": "allow", "updatedInput": map[string]any{"file_path": filepath.Join(s.cwd, "elsewhere"),
				"content": "other"},
		})
		p.finish("task")
		p.leave()
		if _, err := os.Stat(filepath.Join(s.cwd, "elsewhere")); err != nil {
			t.Error(err)
		}
	})
}

// A plan is read from the file that the model has written; refused, plan mode goes on, and allowed, it ends.
func TestPlans(t *testing.T) {
	t.Parallel()
	onBoth(t, "plan", `
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Write, input: {file_path: "{{plan_file}}", content: "# A plan\n"}}]
      - tools: [{name: ExitPlanMode, input: {}}]
      - tools: [{name: ExitPlanMode, input: {}}]
      - tools: [{name: ExitPlanMode, input: {}}]
      - text: done
`, func(t *testing.T, s *session) {
		s.scenario.ClaudeFlags = []string{"--permission-mode", "plan"}
		p := s.begin()
		p.respond(p.until("control_request/can_use_tool"),
			map[string]any{"behavior": "deny", "message": "Shorter.", "interrupt": false})
		l := p.until("control_request/can_use_tool")
		p.respond(l, map[string]any{"behavior": "allow", "updatedInput": l.at("request", "input")})
		p.finish("task")
		p.leave()
	})
}

func TestTools(t *testing.T) {
	t.Parallel()
	onBoth(t, "tools", `
  - when: "## YOUR TASK"
    replies:
      - text: two at once
        tools:
          - {name: Bash, input: {command: "echo out; echo err >&2; exit 3", description: fail}}
          - {name: Bash, input: {command: "printf 'a\nb\n' > f; echo yes", description: work}}
      - tools: [{name: Read, input: {file_path: "{{cwd}}/f"}}]
      - tools: [{name: Edit, input: {file_path: "{{cwd}}/f", old_string: a, new_string: A}}]
      - tools: [{name: Edit, input: {file_path: "{{cwd}}/f", old_string: zzz, new_string: A}}]
      - tools: [{name: Read, input: {file_path: "{{cwd}}/absent"}}]
      - tools: [{name: Write, input: {file_path: "{{cwd}}/f", content: "new\n"}}]
      - tools: [{name: Nonsense, input: {x: 1}}]
      - text: end
`, func(t *testing.T, s *session) {
		s.scenario.ClaudeFlags = []string{"--allowedTools", "Bash,Read,Edit,Write"}
		p := s.begin()
		p.finish("task")
		p.leave()
	})
}

func TestTheGate(t *testing.T) {
	t.Parallel()
	onBoth(t, "gate-refuses-without-end", talks, func(t *testing.T, s *session) {
		p := s.begin()
		for {
			l := p.until("control_request/hook_callback", "result")
			if l.kind() == "result" {
				break
			}
			p.respond(l, map[string]any{"decision": "block", "reason": "no"})
		}
		p.finish("task")
		p.leave()
	})
}

func TestControlRequests(t *testing.T) {
	t.Parallel()
	onBoth(t, "control-requests", talks, func(t *testing.T, s *session) {
		p := s.begin()
		p.finish("task")
		p.control("interrupt", nil)
		p.until("control_response")
		p.control("nonsense", nil)
		p.until("control_response")
		p.control("set_permission_mode", map[string]any{"mode": "acceptEdits"})
		p.until("system/status")
		p.send(map[string]any{"type": "nonsense"})
		p.goesOn()
		p.leave()
	})
}

func TestWorkIsBrokenOff(t *testing.T) {
	t.Parallel()
	onBoth(t, "interrupt-while-working", works, func(t *testing.T, s *session) {
		s.pipes()
		s.scenario.ClaudeFlags = bashIsAllowed
		p := s.begin()
		p.until("assistant")
		s.begun()
		p.control("interrupt", nil)
		p.finish("task")
		p.goesOn()
		p.leave()
	})
	onBoth(t, "term-while-working", works, func(t *testing.T, s *session) {
		s.pipes()
		s.scenario.ClaudeFlags = bashIsAllowed
		p := s.begin()
		p.until("assistant")
		s.begun()
		s.signal(syscall.SIGTERM)
		p.end()
		s.cutOff = true
		p = s.resume()
		p.say("go on", "## NEXT")
		p.finish("go on")
		p.leave()
	})
	onBoth(t, "end-of-input-while-working", works, func(t *testing.T, s *session) {
		s.pipes()
		s.scenario.ClaudeFlags = bashIsAllowed
		p := s.begin()
		p.until("assistant")
		s.begun()
		p.close()
		s.release()
		p.end()
	})
	onBoth(t, "hang-up-while-idle", talks, func(t *testing.T, s *session) {
		p := s.begin()
		p.finish("task")
		s.signal(syscall.SIGHUP)
		p.end()
	})
	onBoth(t, "interrupt-while-the-model-is-silent", hangs, func(t *testing.T, s *session) {
		p := s.begin()
		p.until("system/init")
		p.say("next", "## NEXT")
		p.until("command_lifecycle")
		p.control("interrupt", nil)
		p.finish("task")
		p.finish("next")
		p.leave()
	})
}

func TestWorkInTheBackground(t *testing.T) {
	t.Parallel()
	onBoth(t, "background-after-the-end-of-input", worksInBackground, func(t *testing.T, s *session) {
		s.pipes()
		s.scenario.ClaudeFlags = bashIsAllowed
		p := s.begin()
		p.finish("task")
		p.close()
		s.release()
		p.end()
	})
	onBoth(t, "background-ended-by-term", worksInBackground, func(t *testing.T, s *session) {
		s.pipes()
		s.scenario.ClaudeFlags = bashIsAllowed
		p := s.begin()
		p.finish("task")
		s.signal(syscall.SIGTERM)
		p.end()
		p = s.resume()
		p.until("result") // the CLI tells the model by itself that the work is gone, in a turn without a reply
		p.goesOn()
		p.leave()
	})
}

func TestAFailedRequestEndsTheTurn(t *testing.T) {
	t.Parallel()
	onBoth(t, "overloaded-in-the-middle", `
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Bash, input: {command: "echo hi", description: work}}]
      - api_error: {status: 529, message: Overloaded}
  - when: "## NEXT"
    replies: [{text: next}]
`, func(t *testing.T, s *session) {
		s.scenario.ClaudeFlags = bashIsAllowed
		p := s.begin()
		p.finish("task")
		p.goesOn()
		p.leave()
	})
}

func TestWhatEndsAtOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, "unknown-flags", talks, func(t *testing.T, s *session) {
		for _, flags := range [][]string{{"--nonsense"}, {"--nonsense=3"}, {"-y"}, {"--session-id", "bad"}} {
			s.start(flags...).end()
		}
	})
	onBoth(t, "input-that-is-not-json", talks, func(t *testing.T, s *session) {
		p := s.start("--session-id", s.id)
		p.raw("hello {")
		p.end()
	})
	onBoth(t, "no-conversation", talks, func(t *testing.T, s *session) {
		s.start("--resume", s.id).end()
		s.start("--resume", "abc").end()
	})
	onBoth(t, "session-in-use", talks, func(t *testing.T, s *session) {
		p := s.begin()
		p.finish("task")
		p.leave()
		s.start("--session-id", s.id).end()
	})
	onBoth(t, "nothing-said", talks, func(t *testing.T, s *session) {
		p := s.start("--session-id", s.id)
		p.initialize()
		p.leave()
	})
}
