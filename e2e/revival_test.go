package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"claude-supervise/e2e/machine"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
)

// A subagent whose process has gone goes on with the work that it had done, once it has its answer: nothing is begun
// anew, and what the person said is said once. These are the ways in which its process may go, with the real CLI.
func TestASubagentWhoseProcessIsGoneGoesOnWithItsWork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scenario string
		flags    []string
		// and what the person does then
		goes func(t *testing.T, w *world, s examples.Scenario, run *supervised) *supervised
		// at its work, when it has its answer
		dies bool
		rare bool // told with every kill only
	}{
		"two wait when their hold ends":   {scenario: "two-subagents-ask", flags: []string{"--hold", "3s"}, goes: parks},
		"the supervisor dies":             {scenario: "subagent-asks", goes: supervisorDies},
		"its process dies":                {scenario: "subagent-asks", goes: childDies, rare: true},
		"its process dies after it asked": {scenario: "subagent-asks", goes: answersAtOnce, dies: true},
		"in the background": {scenario: "background-subagent-asks", flags: []string{"--hold", "1s"},
			goes: parks, rare: true},
		"subagents of subagents wait when their hold ends": {scenario: "nested-subagents-ask",
			flags: []string{"--hold", "3s"}, goes: parks},
		"subagents of subagents wait when all die": {scenario: "nested-subagents-ask", goes: supervisorDies, rare: true},
		"two wait when all die":                    {scenario: "two-subagents-ask", goes: supervisorDies, rare: true},
	} {
		if c.rare && !everyKill || !sample.Has("revival "+name, 4) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := load(t, c.scenario)
			w := newWorld(t)
			var died atomic.Bool
			w.real(s, func(r messagesapi.Request) {
				if c.dies && makes(r.Reply, "Write") && died.CompareAndSwap(false, true) {
					w.killsAgent()
				}
			})
			flags := c.flags
			if flags == nil {
				flags = []string{"--hold", "forever"}
			}
			run := w.start(w.runArgs(s, append(flags, "--on-question", "ask")...)...)
			for range s.Answers {
				run.until("question")
			}
			finishes(t, w, s, c.goes(t, w, s, run))
			w.revived(s)
		})
	}
}

func parks(_ *testing.T, w *world, s examples.Scenario, run *supervised) *supervised {
	run.until("parked")
	if left := machine.Marked(w.ps().ID); len(left) > 0 {
		w.t.Errorf("processes %v are left", left)
	}
	w.answersAll(s)
	return run
}

func supervisorDies(_ *testing.T, w *world, s examples.Scenario, run *supervised) *supervised {
	run.kill9()
	w.answersAll(s)
	return w.start("resume", w.ps().ID)
}

func childDies(_ *testing.T, w *world, s examples.Scenario, run *supervised) *supervised {
	w.killsAgent()
	return parks(nil, w, s, run)
}

func answersAtOnce(_ *testing.T, w *world, s examples.Scenario, run *supervised) *supervised {
	w.answersAll(s)
	return run
}

// killsAgent kills the agent's own process.
func (w *world) killsAgent() {
	w.t.Helper()
	if err := syscall.Kill(w.ps().Agents[0].PID, syscall.SIGKILL); err != nil {
		w.t.Error(err)
	}
}

// startedIn returns how many subagents a scenario starts where none has to be begun anew.
func startedIn(s examples.Scenario) int {
	n := 0
	for _, turn := range s.Turns {
		for _, r := range turn.Replies {
			for _, call := range r.Tools {
				if call.Name == "Agent" && !strings.Contains(turn.When, "Start a subagent") {
					n++
				}
			}
		}
	}
	return n
}

// makes reports whether a reply of the model makes a call of a tool.
func makes(r examples.Reply, tool string) bool {
	return slices.ContainsFunc(r.Tools, func(c examples.ToolCall) bool { return c.Name == tool })
}

// revived checks in the transcripts that each subagent was started once, did nothing twice, heard the person once, and
// came to its end.
func (w *world) revived(s examples.Scenario) {
	w.t.Helper()
	subagents, err := filepath.Glob(filepath.Join(w.Home, ".claude/projects/*/*/subagents/*.jsonl"))
	if started := startedIn(s); err != nil || len(subagents) != started {
		w.t.Errorf("%d subagents, not %d (%v)", len(subagents), started, err)
	}
	if !w.API.Received("## EXECUTION CONTEXT: SUBAGENT") {
		w.t.Error("no subagent was told who it is")
	}
	made := map[string]int{} // by name and input
	var wrote, said int
	for _, line := range w.conversation() {
		var l struct {
			Type    string
			Message struct{ Content json.RawMessage }
		}
		noError(w.t, json.Unmarshal([]byte(line), &l))
		if l.Type == "user" && (strings.Contains(line, "A1: ") && strings.Contains(line, "had asked the person") ||
			strings.Contains(line, `"text":"JWT"`)) {
			said += strings.Count(line, "had asked the person") + strings.Count(line, `"text":"JWT"`)
		}
		var blocks []struct {
			Type, Name string
			Input      json.RawMessage
		}
		if l.Type != "assistant" || json.Unmarshal(l.Message.Content, &blocks) != nil {
			continue // a text, or a record of what was sent
		}
		for _, b := range blocks {
			if b.Type == "tool_use" {
				made[b.Name+" "+string(b.Input)]++
				if b.Name == "Write" {
					wrote++
				}
			}
		}
	}
	for call, n := range made {
		// cut off, it is asked again
		if n > 1 && !strings.HasPrefix(call, "SendMessage ") && !strings.HasPrefix(call, "mcp__") {
			w.t.Errorf("%d times: %s", n, call)
		}
	}
	if wrote < len(s.Answers) {
		w.t.Errorf("%d files were written", wrote)
	}
	if said != len(s.Answers) {
		w.t.Errorf("what the person said is %d times in the conversations", said)
	}
}
