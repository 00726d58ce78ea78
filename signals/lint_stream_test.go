package signals

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The lines of a conversation, as the CLI prints them.

func jsonText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func cliText(id, text string) string {
	return `{"message":{"id":"` + id + `","content":[{"type":"text","text":` + jsonText(text) +
		`}]},"type":"assistant","parent_tool_use_id":null}`
}

func cliCall(id, tool, input string) string {
	return `{"type":"assistant","message":{"id":"m-` + id + `","content":[{"type":"tool_use","id":"` +
		id + `","name":"` + tool + `","input":` + input + `}]},"parent_tool_use_id":null}`
}

func cliResult(id, text string) string {
	return `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"` + id +
		`","content":` + jsonText(text) + `}]},"parent_tool_use_id":null}`
}

func cliUser(text string) string {
	return `{"type":"user","isReplay":true,"message":{"role":"user","content":` + jsonText(text) +
		`},"parent_tool_use_id":null}`
}

func cliEnd(text string) string {
	return `{"type":"result","subtype":"success","is_error":false,"result":` + jsonText(text) + `}`
}

func cliSub(line string) string {
	return strings.Replace(line, `"parent_tool_use_id":null`, `"parent_tool_use_id":"toolu_1"`, 1)
}

func logLine(launch int, line string) string {
	return `{"launch":` + strconv.Itoa(launch) + `,"time":"2026-01-11T08:45:00Z","line":` + line + `}`
}

const cliInit = `{"type":"system","subtype":"init","tools":["Bash"]}`

// Two subagents whose messages come in pieces, by turns.
func TestLintTellsInterleavedSubagentsApart(t *testing.T) {
	by := func(subagent, text string) string {
		return strings.Replace(cliText("m-"+subagent, text), `"parent_tool_use_id":null`,
			`"parent_tool_use_id":"toolu_`+subagent+`","agent_id":"`+subagent+`"`, 1)
	}
	opens := "[STOP_WORK]\nagent_id: " + me + "\nstop_reason: error\nblocker_type: error\ndetails: of "
	found, err := Lint(strings.NewReader(strings.Join([]string{
		cliInit, by("one", opens+"one"), by("two", opens+"two"), by("one", "[/STOP_WORK]"), by("two", "[/STOP_WORK]"),
		cliEnd("done"),
	}, "\n")), LintConfig{Agent: me})
	noError(t, err)
	var details []string
	for _, sig := range found.Signals {
		details = append(details, sig.Fields["details"])
	}
	same(t, details, []string{"of one", "of two"})
	same(t, len(found.Problems), 0)
}

func TestLintOfAConversation(t *testing.T) {
	ask := `{"questions":[{"question":"Which?","header":"H","multiSelect":false,"options":[{"label":"A"},{"label":"B"}]}]}`
	asked := func(line int) string { return fmt.Sprintf("%d-%d clarification_needed tool", line, line) }
	stopped := func(line int) string { return fmt.Sprintf("%d-%d stop_work block", line, line) }
	echo := func(text string) string { return `{"command":` + jsonText("printf '%s' '"+text+"'") + `}` }
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"a message", []string{cliInit, cliText("1", "I stop.\n\n"+stop(me)), cliEnd(stop(me))}, []string{stopped(2)}},
		{"blocks of one message", []string{cliInit, cliText("1", "one"), cliText("1", stop(me)), cliEnd("")},
			[]string{stopped(3)}},
		{"the result alone", []string{cliInit, cliEnd(stop(me))}, []string{stopped(2)}},
		{"over two messages", []string{cliInit, cliText("1", "[STOP_WORK]\nagent_id: "+me+"\n"),
			cliText("2", "stop_reason: lazy\nblocker_type: error\ndetails: x\n[/STOP_WORK]"), cliEnd("")},
			[]string{"2-3 stop_work block", "2 bad_value"}},
		{"not closed", []string{cliInit, cliText("1", "text\n"+strings.TrimSuffix(stop(me), "[/STOP_WORK]\n")), cliEnd("")},
			[]string{stopped(2), "2 unclosed"}},
		{"not opened", []string{cliInit, cliText("1", "text"), cliText("2", "[/STOP_WORK]"), cliEnd("")},
			[]string{"3 unopened"}},
		{"not JSON between", []string{cliInit, "warning: [STOP_WORK]", cliText("1", stop(me)), cliEnd("")},
			[]string{stopped(3)}},
		{"with escape sequences", []string{cliInit, cliText("1", stop(me)), cliEnd(""), "\x1b[?25h"}, []string{stopped(2)}},
		{"a line type that is unknown", []string{cliInit, `{"type":"news","message":7}`, cliText("1", stop(me)), cliEnd("")},
			[]string{stopped(3)}},

		{"without an id, at the end", []string{cliInit, cliText("1", stop("-")), cliEnd("")},
			[]string{stopped(2), "2 missing_field"}},
		{"without an id, before a call",
			[]string{cliInit, cliText("1", stop("-")), cliCall("c", "Read", "{}"), cliResult("c", ""),
				cliText("2", "done"), cliEnd("")}, []string{}},
		{"of a subagent", []string{cliInit, cliSub(cliText("1", stop(me))), cliEnd("")}, []string{stopped(2)}},
		{"of a subagent, without an id", []string{cliInit, cliSub(cliText("1", stop("-"))), cliEnd("")}, []string{}},
		{"another agent's", []string{cliInit, cliText("1", stop("a-other")), cliEnd("")}, []string{"2 foreign"}},
		{"thinking", []string{cliInit, `{"type":"assistant","message":{"content":[{"type":"thinking","thinking":` +
			jsonText(stop(me)) + `}]}}`, cliEnd("")}, []string{}},
		{"an API error", []string{cliInit,
			strings.Replace(cliText("1", stop(me)), `"type":"assistant"`, `"type":"assistant","is_api_error_message":true`, 1),
			cliEnd("x")}, []string{}},
		{"a user message", []string{cliInit, cliUser(stop(me)), cliEnd("")}, []string{}},

		{"a result of Bash that its command prints",
			[]string{cliInit, cliCall("c", "Bash", echo(stop(me))), cliResult("c", stop(me)), cliEnd("")}, []string{stopped(3)}},
		{"without an id in a result of Bash",
			[]string{cliInit, cliCall("c", "Bash", echo(stop("-"))), cliResult("c", stop("-")), cliEnd("")},
			[]string{stopped(3), "3 missing_field"}},
		{"a result of Bash that prints a file",
			[]string{cliInit, cliCall("c", "Bash", `{"command":"cat notes.md"}`), cliResult("c", stop(me)), cliEnd("")},
			[]string{}},
		{"a result of another tool",
			[]string{cliInit, cliCall("c", "Read", echo(stop(me))), cliResult("c", stop(me)), cliEnd("")}, []string{}},
		{"a subagent's Bash", []string{cliInit, cliSub(cliCall("c", "Bash", echo(stop(me)))),
			cliSub(cliResult("c", stop(me))), cliEnd("")}, []string{}},
		{"an escalation that the command prints",
			[]string{cliInit, cliCall("c", "Bash", `{"command":"echo \"QUESTION_ESCALATED:q-1\""}`),
				cliResult("c", "QUESTION_ESCALATED:q-1\n"), cliEnd("")},
			[]string{"3-3 clarification_needed escalated"}},
		{"an escalation that a script prints",
			[]string{cliInit, cliCall("c", "Bash", `{"command":"./ask.sh"}`), cliResult("c", "QUESTION_ESCALATED:q-1\n"),
				cliEnd("")}, []string{}},

		{"AskUserQuestion", []string{cliInit, cliCall("c", "AskUserQuestion", ask), cliEnd("")}, []string{asked(2)}},
		{"AskUserQuestion of a subagent", []string{cliInit, cliSub(cliCall("c", "AskUserQuestion", ask)), cliEnd("")},
			[]string{}},
		{"the request for it", []string{cliInit,
			`{"type":"control_request","request":{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":` + ask + `}}`,
			cliEnd("")}, []string{}},
		{"a permission prompt", []string{cliInit,
			`{"type":"control_request","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"}}}`,
			cliEnd("")}, []string{}},
		{"a tool of ours", []string{cliInit, cliCall("c", "mcp__supervise__ask_user", ask), cliEnd("")}, []string{asked(2)}},
		{"a tool of ours in a subagent", []string{cliInit, cliSub(cliCall("c", "mcp__supervise__ask_user", ask)), cliEnd("")},
			[]string{asked(2)}},
		{"a tool of ours without what it needs",
			[]string{cliInit, cliCall("c", "mcp__supervise__stop_work", `{"details":"x","stop_reason":"blocker"}`), cliEnd("")},
			[]string{"2-2 stop_work tool", "2 missing_field"}},
		{"a stop by a tool without its reason",
			[]string{cliInit, cliCall("c", "mcp__supervise__stop_work", `{"details":"x","blocker_type":"error"}`), cliEnd("")},
			[]string{"2-2 stop_work tool"}},
		{"a report of progress in a subagent",
			[]string{cliInit, cliSub(cliCall("c", "mcp__supervise__report_progress", `{"step":"tests"}`)), cliEnd("")},
			[]string{"2-2 progress tool"}},
		{"a message of a subagent",
			[]string{cliInit, cliSub(cliCall("c", "mcp__supervise__send_message", `{"to":"user","text":"x"}`)), cliEnd("")},
			[]string{"2-2 message tool"}},
		{"two subagents ask at once",
			[]string{cliInit, cliSub(cliCall("c", "mcp__supervise__ask_user", ask)),
				cliSub(cliCall("d", "mcp__supervise__ask_user", `{"questions":[{"text":"When?"}]}`)), cliEnd("")},
			[]string{asked(2), asked(3)}},
		{"a subagent asks again after its answer",
			[]string{cliInit, cliSub(cliCall("c", "mcp__supervise__ask_user", ask)), cliSub(cliResult("c", "A")),
				cliSub(cliCall("d", "mcp__supervise__ask_user", ask)), cliEnd("")},
			[]string{asked(2), asked(4)}},
		{"a tool of ours with another id",
			[]string{cliInit, cliCall("c", "mcp__supervise__report_progress", `{"agent_id":"a-other","percent":4}`), cliEnd("")},
			[]string{"2 foreign"}},
		{"a tool of ours without input", []string{cliInit, cliCall("c", "mcp__supervise__ask_user", `{}`), cliEnd("")},
			[]string{"2 bad_json"}},
		{"check_work", []string{cliInit, cliCall("c", "mcp__supervise__check_work", `{"text":"x"}`), cliEnd("")}, []string{}},
		{"check_work in a subagent",
			[]string{cliInit, cliSub(cliCall("c", "mcp__supervise__check_work", `{"agent_id":"a-2"}`)), cliEnd("")}, []string{}},
		{"another server's tool", []string{cliInit, cliCall("c", "mcp__other__ask_user", ask), cliEnd("")}, []string{}},
		{"TaskUpdate", []string{cliInit,
			cliCall("c", "TaskUpdate",
				`{"taskId":"1","metadata":{"needs_input":true,"question":"Which?","question_options":["A","B"]}}`), cliEnd("")},
			[]string{"2-2 clarification_needed task_metadata"}},
		{"TaskUpdate without a question",
			[]string{cliInit, cliCall("c", "TaskUpdate", `{"taskId":"1","status":"completed"}`), cliEnd("")}, []string{}},

		{"the same in one turn", []string{cliInit, cliText("1", stop(me)), cliText("2", stop(me)), cliEnd(stop(me))},
			[]string{stopped(2)}},
		{"the same in the next turn",
			[]string{cliInit, cliText("1", stop(me)), cliEnd(""), cliInit, cliText("2", stop(me)), cliEnd("")},
			[]string{stopped(2)}},
		{"the same after an answer",
			[]string{cliInit, cliText("1", stop(me)), cliEnd(""), cliUser("go on"), cliText("2", stop(me)), cliEnd(stop(me))},
			[]string{stopped(2), stopped(5)}},
		{"the same after an answer within the turn",
			[]string{cliInit, cliText("1", stop(me)), cliUser("go on"), cliText("2", stop(me)), cliEnd(stop(me))},
			[]string{stopped(2), stopped(4)}},
		{"an answer just before the result", []string{cliInit, cliText("1", stop(me)), cliUser("go on"), cliEnd(stop(me))},
			[]string{stopped(2)}},
		{"the same after a hook's feedback",
			[]string{cliInit, cliText("1", stop(me)),
				strings.Replace(cliUser("Stop hook feedback:\nno"), `"isReplay"`, `"isSynthetic"`, 1),
				cliText("2", stop(me)), cliEnd("")}, []string{stopped(2)}},
		{"the same after a task has ended",
			[]string{cliInit, cliText("1", stop(me)),
				cliEnd(""), strings.Replace(cliUser("<task-notification>"),
					`"isReplay":true`, `"origin":{"kind":"task-notification"}`, 1), cliText("2", stop(me)), cliEnd("")},
			[]string{stopped(2)}},
		{"the same question by tool while it is open",
			[]string{cliInit, cliCall("c", "AskUserQuestion", ask), cliCall("d", "AskUserQuestion", ask), cliEnd("")},
			[]string{asked(2)}},
		{"the same question by tool after its answer",
			[]string{cliInit, cliCall("c", "AskUserQuestion", ask), cliResult("c", "A"), cliCall("d", "AskUserQuestion", ask),
				cliEnd("")}, []string{asked(2), asked(4)}},

		{"our log", []string{logLine(1, cliInit), logLine(1, cliText("1", stop(me))),
			`{"launch":1,"time":"","stderr":"[STOP_WORK]"}`, logLine(1, cliEnd(stop(me)))}, []string{stopped(2)}},
		{"our log of a launch that died",
			[]string{logLine(1, cliInit), logLine(1, cliText("1", stop("-"))), logLine(2, cliInit),
				logLine(2, cliText("2", "done")), logLine(2, cliEnd(""))},
			[]string{stopped(2), "2 missing_field"}},
		{"our log of a line that is no protocol",
			[]string{logLine(1, cliInit), logLine(1, jsonText(stop(me))), logLine(1, cliEnd(""))}, []string{}},
		{"our log of another command",
			[]string{logLine(1, `{"type":"raw","text":"hello\n[STOP_WORK]\nagent_id: `+me+`\nstop_reason: er"}`),
				logLine(1, `{"type":"raw","text":"ror\nblocker_type: error\ndetails: x\n"}`),
				logLine(1, `{"type":"raw","text":"[/STOP_WORK]\n"}`)},
			[]string{"1-3 stop_work block"}},
		{"a transcript", []string{`{"type":"summary","summary":"x"}`, `{"type":"user","message":{"content":"go"}}`,
			cliText("1", stop("-")), `{"type":"user","message":{"content":"next"}}`,
			strings.Replace(cliText("2", stop(me)), `"type":"assistant"`, `"type":"assistant","isSidechain":true`, 1),
			cliText("3", "done")},
			[]string{stopped(3), stopped(5), "3 missing_field"}},
		{"a message queued in a transcript",
			[]string{cliText("1", stop(me)), `{"type":"attachment","attachment":{"type":"queued_command"}}`,
				cliText("2", stop(me))}, []string{stopped(1), stopped(3)}},
	} {
		t.Run(c.name, func(t *testing.T) { same(t, linted(t, strings.Join(c.lines, "\n")+"\n", me), c.want) })
	}
}

func TestLintReadsTheToolsAsTheirBlocks(t *testing.T) {
	lines := strings.Join([]string{
		cliCall("1", "mcp__supervise__ask_user",
			`{"question":"Which database?","options":["A: Postgres","SQLite"],"context":"both `+
				`fit","multi_select":true,"blocked_at":"db.go"}`),
		cliCall("2", "mcp__supervise__delegate_work", `{"new_task_description":"do it","priority":"P1"}`),
		cliCall("3", "mcp__supervise__report_completion",
			`{"status":"success","summary":"done","deliverables":["a.md","b.md"]}`),
		cliCall("4", "mcp__supervise__send_message", `{"to":"a-2","text":"hello"}`),
	}, "\n")
	found, err := Lint(strings.NewReader(lines), LintConfig{Agent: me})
	noError(t, err)
	same(t, found, Findings{
		Problems: []Problem{},
		Signals: []Found{
			{
				Kind: Clarification, Dialect: Tool, Line: 1, EndLine: 1,
				Fields: map[string]string{"blocked_at": "db.go", "context": "both fit"},
				Questions: []Question{{ID: "Q1", Text: "Which database?",
					MultiSelect: true, Options: []Option{{Label: "A: Postgres"}, {Label: "SQLite"}}}},
			},
			{Kind: Delegate, Dialect: Tool, Line: 2,
				EndLine: 2, Fields: map[string]string{"new_task_description": "do it", "priority": "P1"}, Questions: []Question{}},
			{Kind: Completion, Dialect: Tool, Line: 3,
				EndLine: 3, Fields: map[string]string{"status": "success", "summary": "done", "deliverables": "- a.md\n- b.md"},
				Questions: []Question{}},
			{Kind: Message, Dialect: Tool, Line: 4, EndLine: 4, Fields: map[string]string{"to": "a-2", "text": "hello"},
				Questions: []Question{}},
		},
	})
}

// What the releases of the CLI print for one question, by AskUserQuestion and by a tool of the supervisor's.
func TestLintOfWhatTheCLIPrints(t *testing.T) {
	paths, err := filepath.Glob("../procs/claude/testdata/captures/*_ask_perm.ndjson")
	noError(t, err)
	mcp, err := filepath.Glob("../procs/claude/testdata/captures/*_interrupt_mcp.ndjson")
	if paths = append(paths, mcp...); err != nil || len(paths) != 8 {
		t.Fatalf("%d captures, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			file, err := os.Open(path)
			noError(t, err)
			defer file.Close()
			found, err := Lint(file, LintConfig{Agent: me})
			noError(t, err)
			if len(found.Problems) > 0 || len(found.Signals) != 1 || found.Signals[0].Dialect != Tool ||
				len(found.Signals[0].Questions) != 1 {
				t.Errorf("found %v", named(found))
			}
		})
	}
}

func TestTheEndOfAnOpenBlockIsToldByTheFilesLine(t *testing.T) {
	file := cliInit + "\n" + cliText("1", "text\n"+strings.TrimSuffix(stop(me), "[/STOP_WORK]\n")) + "\n" + cliEnd("")
	found, err := Lint(strings.NewReader(file), LintConfig{})
	noError(t, err)
	same(t, found.Problems,
		[]Problem{{Line: 2, Code: "unclosed", Message: "[STOP_WORK] is not closed: its end is taken to be line 2"}})
}

func TestLastMessage(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"none", []string{cliInit}, ""},
		{"one", []string{cliInit, cliText("1", "hello")}, "hello"},
		{"the last", []string{cliText("1", "hello"), cliText("2", "world")}, "world"},
		{"of several blocks", []string{cliText("1", "hello"), cliCall("c", "Bash", "{}"), cliText("1", "world")},
			"hello\nworld"},
		{"a call after it", []string{cliText("1", "hello"), cliCall("c", "Bash", "{}"), cliResult("c", "x")}, "hello"},
		{"a subagent after it", []string{cliText("1", "hello"), cliSub(cliText("2", "world"))}, "hello"},
		{"a person after it", []string{cliText("1", "hello"), cliUser("next")}, ""},
		{"half a line after it", []string{cliText("1", "hello"), `{"type":"assis`}, "hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := LastMessage(strings.NewReader(strings.Join(c.lines, "\n")))
			same(t, err, nil)
			same(t, got, c.want)
		})
	}
}
