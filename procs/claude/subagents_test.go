package claude

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/procs"
)

// Lines as releases print them, with what matters here.

func agent(id, parent, task string) string {
	return fmt.Sprintf(
		`{"type":"assistant","parent_tool_use_id":%s,"message":{"content":[{"type":"tool_use","id":%q,"name":"Agent",`+
			`"input":{"description":%q,"prompt":"do it","subagent_type":"general-purpose"}}]}}`, quoted(parent), id, task)
}

func taskStarted(id, toolUse, more string) string {
	return fmt.Sprintf(
		`{"type":"system","subtype":"task_started","task_type":"local_agent","task_id":%q,"tool_use_id":%q%s}`,
		id, toolUse, more)
}

func taskEnded(id string) string {
	return fmt.Sprintf(`{"type":"system","subtype":"task_notification","task_id":%q}`, id)
}

func taskCalls(id, tool string) string {
	return fmt.Sprintf(`{"type":"system","subtype":"task_progress","task_id":%q,"last_tool_name":%q}`, id, tool)
}

func calls(id, parent, more string) string {
	return fmt.Sprintf(
		`{"type":"assistant","parent_tool_use_id":%s,"message":{"content":[{"type":"tool_use","id":%q,"name":"mcp__supervise__ask_user","input":{}}]}%s}`,
		quoted(parent), id, more)
}

func gives(toolUse string) string {
	return fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":"x"}]}}`,
		toolUse)
}

func quoted(parent string) string {
	if parent == "" {
		return "null"
	}
	return fmt.Sprintf("%q", parent)
}

// callOf is the request that a call of our tool leads to, permissionOf that of one which asks for permission.
func callOf(toolUse string) string {
	return fmt.Sprintf(
		`{"type":"control_request","request_id":"r","request":{"subtype":"mcp_message","server_name":"supervise","message":`+
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask_user","arguments":{},"_meta":{"claudecode/toolUseId":%q}}}}}`, toolUse)
}

func permissionOf(toolUse, agent string) string {
	return fmt.Sprintf(
		`{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":%q%s}}`,
		toolUse, agent)
}

// callers returns who makes each call and asks for each permission in the lines.
func callers(d *decoder, lines ...string) (all []procs.Subagent) {
	for _, line := range lines {
		messages, _ := d.decode([]byte(line))
		for _, m := range messages {
			switch m := m.(type) {
			case mcpMessage:
				all = append(all, m.From)
			case procs.Ask:
				all = append(all, m.From)
			}
		}
	}
	return all
}

func TestACallNamesTheSubagentThatMakesIt(t *testing.T) {
	known := procs.Subagent{ToolUse: "t1", Type: "general-purpose", Task: "look", Prompt: "do it", Depth: 1}
	with := func(a procs.Subagent, change func(*procs.Subagent)) procs.Subagent { change(&a); return a }
	withID := with(known, func(a *procs.Subagent) { a.ID = "a1" })
	main := procs.Subagent{}
	for _, c := range []struct {
		name  string
		lines []string
		want  []procs.Subagent
	}{
		{"the main conversation", []string{agent("t1", "", "look"), taskStarted("a1", "t1", ""),
			calls("c", "", ""), callOf("c")}, []procs.Subagent{main}},
		{"2.1.7, which says no id", []string{agent("t1", "", "look"), calls("c", "t1", ""), callOf("c")}, []procs.Subagent{known}},
		{"2.1.100, which says it at the start",
			[]string{agent("t1", "", "look"), taskStarted("a1", "t1", ""), calls("c", "t1", ""), callOf("c")},
			[]procs.Subagent{withID}},
		{"2.1.329, which says it on each line",
			[]string{calls("c", "t1", `,"agent_id":"a1","subagent_type":"Explore","task_description":"look"`), callOf("c")},
			[]procs.Subagent{{ID: "a1", ToolUse: "t1", Type: "Explore", Task: "look", Depth: 1}}},
		{"two at once", []string{agent("t1", "", "look"), agent("t2", "", "search"), calls("c2", "t2", ""),
			calls("c1", "t1", ""), callOf("c1"), callOf("c2")},
			[]procs.Subagent{known, with(known, func(a *procs.Subagent) { a.ToolUse, a.Task = "t2", "search" })}},
		{"one inside another", []string{agent("t1", "", "look"), agent("t2", "t1", "deep"), agent("t3", "t2", "deeper"),
			calls("c", "t3", ""), callOf("c")},
			[]procs.Subagent{with(known, func(a *procs.Subagent) {
				a.ToolUse, a.Task, a.Depth = "t3", "deeper", 3
				a.By = new(with(known, func(a *procs.Subagent) { a.ToolUse, a.Task, a.Depth, a.By = "t2", "deep", 2, &known }))
			})}},
		{"one inside another that has no lines", []string{agent("t1", "", "look"), taskStarted("a1", "t1", ""),
			taskStarted("a2", "t2", `,"spawn_depth":2,"parent_task_id":"a1"`), permissionOf("c", `,"agent_id":"a2"`)},
			[]procs.Subagent{{ID: "a2", Depth: 2, By: &withID}}},
		{"the depth as the CLI says it",
			[]string{taskStarted("a1", "t9", `,"spawn_depth":4`), calls("c", "t9", `,"agent_id":"a1"`), callOf("c")},
			[]procs.Subagent{{ID: "a1", ToolUse: "t9", Depth: 4}}},
		{"one of an earlier process, revived", []string{
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"s1","name":"SendMessage","input":{"to":"a1","message":"go on"}}]}}`,
			taskStarted("a1", "s1", `,"description":"look","prompt":"go on","spawn_depth":1`), gives("s1"),
			calls("c", "t1", `,"agent_id":"a1"`), callOf("c")},
			[]procs.Subagent{{ID: "a1", ToolUse: "t1", Task: "look", Depth: 1}}},
		{"a permission with its id",
			[]string{agent("t1", "", "look"), taskStarted("a1", "t1", ""), permissionOf("c", `,"agent_id":"a1"`)},
			[]procs.Subagent{withID}},
		{"a permission without", []string{agent("t1", "", "look"), calls("c", "t1", ""), permissionOf("c", "")},
			[]procs.Subagent{known}},
		{"an id that nothing was said of", []string{permissionOf("c", `,"agent_id":"a9"`)}, []procs.Subagent{{ID: "a9", Depth: 1}}},
		{"a call before its line (2.1.200)", []string{agent("t1", "", "look"), taskStarted("a1", "t1", ""),
			taskCalls("a1", "mcp__supervise__ask_user"), callOf("c"), calls("c", "t1", ""), calls("m", "", ""), callOf("m")},
			[]procs.Subagent{withID, main}},
		{"a call of the main conversation while a subagent calls the same",
			[]string{agent("t1", "", "look"), taskStarted("a1", "t1", ""),
				calls("m", "", ""), taskCalls("a1", "mcp__supervise__ask_user"), callOf("m"), callOf("c")},
			[]procs.Subagent{main, withID}},
		{"a subagent in the background goes on after its call has a result",
			[]string{agent("t1", "", "look"), taskStarted("a1", "t1", ""), gives("t1"),
				calls("c", "t1", ""), callOf("c")}, []procs.Subagent{withID}},
		{"one in the background without lines (2.1.100)",
			[]string{agent("t1", "", "look"), taskStarted("a1", "t1", ""), gives("t1"),
				callOf("c"), taskCalls("a1", "mcp__supervise__ask_user"), permissionOf("p", "")}, []procs.Subagent{withID, withID}},
		{"one of two without lines", []string{agent("t1", "", "look"), agent("t2", "", "search"), taskStarted("a1", "t1", ""),
			taskStarted("a2", "t2", ""),
			callOf("c1"), taskCalls("a1", "mcp__supervise__ask_user"), callOf("c2"), calls("m", "", ""), callOf("m")},
			[]procs.Subagent{{Depth: 1}, {Depth: 1}, main}},
		{"the last of two without lines",
			[]string{agent("t1", "", "look"), agent("t2", "", "search"), taskStarted("a1", "t1", ""),
				taskStarted("a2", "t2", ""),
				taskEnded("a2"), callOf("c")}, []procs.Subagent{withID}},
		{"the main conversation when none lives",
			[]string{agent("t1", "", "look"), taskStarted("a1", "t1", ""), taskEnded("a1"), callOf("c")}, []procs.Subagent{main}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d decoder
			if diff := cmp.Diff(c.want, callers(&d, c.lines...)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// The answer that such a call had would else be taken for undelivered for ever (2.1.100).
func TestTheEndOfASubagentWithoutLinesTellsThatItsCallsHadTheirResults(t *testing.T) {
	ask := "mcp__supervise__ask_user"
	both := []string{agent("t1", "", "look"), agent("t2", "", "search"), taskStarted("a1", "t1", ""),
		taskStarted("a2", "t2", "")}
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"its own": {append(both, callOf("c1"), taskCalls("a1", ask), callOf("c2"),
			taskCalls("a2", ask), taskEnded("a2")), []string{"c2"}},
		"each at its end": {append(both, callOf("c1"), taskCalls("a1", ask), callOf("c2"),
			taskCalls("a2", ask), taskEnded("a2"), taskEnded("a1")), []string{"c2", "c1"}},
		"all of the last one": {append(both, callOf("c1"), callOf("c2"), taskEnded("a2"), taskEnded("a1")),
			[]string{"c1", "c2"}},
		"none that has its own line": {append(both, taskCalls("a1", ask), callOf("c1"), calls("c1", "t1", ""),
			taskEnded("a2"), taskEnded("a1")), nil},
		"its result once": {append(both, callOf("c1"), gives("c1"), taskEnded("a2"), taskEnded("a1")),
			[]string{"c1"}},
		"none of a subagent that is unknown": {append(both, callOf("c1"), taskEnded("a9")), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var d decoder
			var got []string
			for _, line := range c.lines {
				messages, _ := d.decode([]byte(line))
				for _, m := range messages {
					if m, ok := m.(procs.ToolResult); ok {
						got = append(got, m.ToolUse)
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if len(d.subagents.known) == 0 && len(d.subagents.unshown) > 0 {
				t.Errorf("left: %v", d.subagents.unshown)
			}
		})
	}
}

func TestASubagentThatHasEndedIsForgotten(t *testing.T) {
	for name, lines := range map[string][]string{
		"as 2.1.7 tells it": {agent("t1", "", "look"), calls("c", "t1", ""), gives("t1")},
		"as 2.1.100 tells it": {agent("t1", "", "look"), taskStarted("a1", "t1", ""), calls("c", "t1", ""),
			taskEnded("a1"), gives("t1")},
	} {
		t.Run(name, func(t *testing.T) {
			var d decoder
			callers(&d, lines...)
			if len(d.subagents.known)+len(d.subagents.calls) != 0 {
				t.Errorf("left: %v, %v", d.subagents.known, d.subagents.calls)
			}
		})
	}
}

func TestAChildCannotFillTheMemoryWithSubagents(t *testing.T) {
	var d decoder
	long := strings.Repeat("x", maxPrompt+maxID)
	for i := range maxCalls + 2 {
		callers(&d, agent(fmt.Sprint("t", i), "", "look"), calls(fmt.Sprint("c", i), fmt.Sprint("t", i), ""),
			taskStarted("a", fmt.Sprint("t", i), ""), callOf(fmt.Sprint("unshown", i)))
	}
	callers(&d, agent(long, "", "x"), calls(long, "", ""), calls("c", "", `,"agent_id":"`+long+`"`),
		agent("last", "", long),
		taskStarted(long, "t", ""), taskStarted("", "t", ""))
	if known, open, unshown := len(d.subagents.known), len(d.subagents.calls),
		len(d.subagents.unshown); known != maxSubagents || open > maxCalls || unshown != maxCalls {
		t.Errorf("%d subagents, %d calls and %d unshown ones are kept", known, open, unshown)
	}
	if last := d.subagents.known[maxSubagents-1]; len(last.Task) > procs.MaxShown+100 {
		t.Errorf("a task of %d bytes is kept", len(last.Task))
	}
}
