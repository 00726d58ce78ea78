package claude

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"claude-supervise/e2e/messagesapi"
	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
	cli "claude-supervise/procs/claude"
)

// A hook of ours may take longer than the CLI waits for one by default (600 seconds), which is shortened here: then the
// turn ends as a success, whatever is answered. With the timeout that ours have, the answer counts.
func TestHooksAreWaitedForPastTheDefaultOfTheCLI(t *testing.T) {
	t.Parallel()
	programs := map[string]func(testing.TB) string{"pinned": Program, "oldest": Oldest}
	for _, name := range sample.Pick(t.Name(), []string{"pinned", "oldest"}) {
		path := programs[name](t)
		ours := cli.Hooks()
		for event, block := range map[string]map[string]any{
			"Stop": {"decision": "block", "reason": "the late answer"},
			"PreToolUse": {"hookSpecificOutput": map[string]any{"hookEventName": "PreToolUse",
				"permissionDecision": "deny", "permissionDecisionReason": "the late answer"}},
		} {
			for _, shortened := range []bool{true, false} {
				t.Run(name+"/"+event+map[bool]string{true: ", shortened"}[shortened], func(t *testing.T) {
					t.Parallel()
					hook := maps.Clone(ours[event].([]any)[0].(map[string]any))
					if shortened {
						hook["timeout"] = 1
					}
					counted := answeredLate(t, path, event, hook, block)
					if counted == shortened {
						t.Errorf("an answer after 3 seconds counts: %v", counted)
					}
				})
			}
		}
	}
}

// answeredLate has a turn with one call of Bash, which is allowed, answers its hook after 3 seconds, and reports
// whether the answer is in what the model reads next.
func answeredLate(t *testing.T, path, event string, hook, answer map[string]any) bool {
	t.Helper()
	s := &session{t: t, agent: realCLI, program: path, logs: newLogs(),
		id: uuid.NewString(), home: t.TempDir(), cwd: t.TempDir()}
	s.scenario.Turns = append(s.scenario.Turns, turn("## YOUR TASK",
		calls("Bash", map[string]any{"command": "true", "description": "work"}), says("done")),
		turn("Stop hook feedback:", says("still")))
	api := messagesapi.Serve(s.scenario, nil)
	t.Cleanup(api.Close)
	s.api = api.URL
	p := s.start("--allowedTools=Bash")
	p.control("initialize", map[string]any{"hooks": map[string]any{event: []any{hook}}})
	p.send(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": "## YOUR TASK"}})
	asked := p.until("control_request/hook_callback")
	time.Sleep(3 * time.Second) // the CLI's own clock runs out meanwhile
	p.respond(asked, answer)
	for {
		l := p.until("control_request/hook_callback", "result")
		if l.kind() == "result" {
			break
		}
		p.respond(l, map[string]any{})
	}
	return slices.ContainsFunc(api.Requests(), func(r messagesapi.Request) bool {
		return slices.ContainsFunc(r.Conversation, func(m examples.Message) bool {
			return strings.Contains(strings.Join(m.Texts, "\n"), "the late answer")
		})
	})
}
