package claude

import (
	"strings"
	"syscall"
	"testing"

	"claude-supervise/examples"
)

const orders = `
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: mcp__shop__order, input: {}}]
      - text: ended
  - when: "## NEXT"
    replies: [{text: next}]
`

// shop returns the flags that start the MCP server of the scenario "elicitation". It goes on when nobody answers.
func shop(t *testing.T) []string {
	t.Helper()
	s, err := examples.Load("elicitation")
	noError(t, err)
	return replaced(s.ClaudeFlags, ` *'\"cancel\"'*) exit 1;;`, "")
}

func replaced(flags []string, from, to string) []string {
	changed := make([]string, len(flags))
	for i, flag := range flags {
		changed[i] = strings.Replace(flag, from, to, 1)
	}
	return changed
}

func TestAnMCPServerOfThePersonsOwnAsks(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"decline", "cancel"} {
		onBoth(t, "server-is-answered-"+action, orders, func(t *testing.T, s *session) {
			s.scenario.ClaudeFlags = shop(t)
			p := s.begin()
			p.respond(p.until("control_request/elicitation"), map[string]any{"action": action})
			p.finish("task")
			p.leave()
		})
	}
	onBoth(t, "term-while-a-server-asks", orders, func(t *testing.T, s *session) {
		s.scenario.ClaudeFlags = shop(t)
		p := s.begin()
		p.until("control_request/elicitation")
		s.settled(0)
		s.signal(syscall.SIGTERM)
		p.end()
		s.cutOff = true // the call is interrupted, or its connection closed: whichever ends first
		p = s.resume()
		p.say("task", s.task())
		p.finish("task")
		p.goesOn()
		p.leave()
	})
	onBoth(t, "server-goes-on-without-an-answer", orders, func(t *testing.T, s *session) {
		s.scenario.ClaudeFlags = replaced(shop(t), `$ASKS\";;`, `$ASKS\"; say \"\\\"id\\\":$call,$NOT\";;`)
		p := s.begin()
		p.until("control_cancel_request")
		p.finish("task")
		p.leave()
	})
	onBoth(t, "interrupt-while-a-server-asks", orders, func(t *testing.T, s *session) {
		s.scenario.ClaudeFlags = shop(t)
		p := s.begin()
		p.until("control_request/elicitation")
		p.control("interrupt", nil)
		p.finish("task")
		p.leave()
	})
	onBoth(t, "end-of-input-while-a-server-asks", orders, func(t *testing.T, s *session) {
		s.scenario.ClaudeFlags = shop(t)
		p := s.begin()
		p.until("control_request/elicitation")
		p.leave()
	})
	onBoth(t, "kill-while-a-server-asks", orders, func(t *testing.T, s *session) {
		s.scenario.ClaudeFlags = shop(t)
		p := s.begin()
		p.until("control_request/elicitation")
		s.settled(0)
		s.signal(syscall.SIGKILL)
		p.end()
		s.cutOff = false
		p = s.resume()
		p.say("task", s.task())
		p.finish("task")
		p.goesOn()
		p.leave()
	})
}
