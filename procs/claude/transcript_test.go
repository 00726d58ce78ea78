package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/procs"
)

func TestATranscriptIsFoundByItsSession(t *testing.T) {
	const session = "00000000-0000-4000-8000-000000000100"
	home, config := t.TempDir(), filepath.Join(t.TempDir(), "odd [name]*")
	write := func(dir, project string, age time.Duration) string {
		path := filepath.Join(dir, "projects", project, session+".jsonl")
		noError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		noError(t, os.WriteFile(path, nil, 0o600))
		when := time.Now().Add(-age)
		noError(t, os.Chtimes(path, when, when))
		return path
	}
	env := []string{"HOME=" + home}
	if _, err := Transcript(env, session); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before there is one: %v", err)
	}
	write(filepath.Join(home, ".claude"), "-old", time.Hour)
	newest := write(filepath.Join(home, ".claude"), "-new", 0)
	write(filepath.Join(home, ".claude"), "-older", 2*time.Hour)
	if got, err := Transcript(env, session); got != newest || err != nil {
		t.Errorf("in the home: %s, %v", got, err)
	}
	elsewhere := write(config, "-w", 0)
	if got, err := Transcript(append(env, "CLAUDE_CONFIG_DIR="+config), session); got != elsewhere || err != nil {
		t.Errorf("with a folder of its own: %s, %v", got, err)
	}
	for _, bad := range []string{"", "*", "../../secret", session + "/x"} {
		if got, err := Transcript(env, bad); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("session %q: %s, %v", bad, got, err)
		}
	}
}

func transcriptOf(name string) string { return filepath.Join("testdata/transcripts", name+".jsonl") }

func TestAMessageIsHeardIfItIsInTheConversation(t *testing.T) {
	const first, second, third = "00000000-0000-4000-8000-000000000001",
		"00000000-0000-4000-8000-000000000002", "00000000-0000-4000-8000-000000000003"
	for _, c := range []struct {
		name, transcript, uuid string
		want                   bool
	}{
		{"a prompt", "answered", first, true},
		{"one taken into a running turn", "taken_in", second, true},
		{"the same in 2.1.100", "taken_in_2.1.100", second, true},
		{"one only queued when the process was ended", "ended_waiting", second, false},
		{"one after the relaunch", "ended_waiting_resumed", third, true},
		{"one never sent", "answered", second, false},
		{"a uuid that is not a message's", "answered", "00000000-0000-4000-8000-000000000103", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := ReceivedIn(transcriptOf(c.transcript), c.uuid); got != c.want || err != nil {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestACallIsAnsweredIfItsResultCameOfAPerson(t *testing.T) {
	for _, c := range []struct {
		name, transcript, call string
		text                   string
		found                  bool
	}{
		{"an answer", "answered", "toolu_1",
			"Your questions have been answered: \"Which?\"=\"B\". You can now continue with these answers in mind.", true},
		{"a refusal with a reason", "denied", "toolu_1", "No, keep out", true},
		{"a refusal in a subagent", "subagent", "toolu_2", "No, keep out", true},
		{"a subagent's call of a tool of ours, its process ended", "subagent_waiting_2.1.7", "toolu_2", "", false},
		{"an interrupt", "interrupted", "toolu_1", "", false},
		{"a process ended while it waited", "ended_waiting", "toolu_1", "", false},
		{"the same after a relaunch, with the CLI's own words for it", "ended_waiting_resumed", "toolu_1", "", false},
		{"no such call", "answered", "toolu_9", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, found, err := AnsweredIn(transcriptOf(c.transcript), c.call)
			if text != c.text || found != c.found || err != nil {
				t.Errorf("got %q, %v, %v", text, found, err)
			}
		})
	}
}

func TestATranscriptCutByACrashIsReadAsFarAsItGoes(t *testing.T) {
	data, err := os.ReadFile(transcriptOf("answered"))
	noError(t, err)
	whole := string(data)
	end := strings.LastIndex(whole, `"tool_result"`) + 20 // in the middle of the answer's line
	path := filepath.Join(t.TempDir(), "cut.jsonl")
	noError(t, os.WriteFile(path, []byte("garbage\n\n"+whole[:end]), 0o600))
	if _, found, err := AnsweredIn(path, "toolu_1"); found || err != nil {
		t.Errorf("the half line counts: %v, %v", found, err)
	}
	if received, err := ReceivedIn(path, "00000000-0000-4000-8000-000000000001"); !received || err != nil {
		t.Errorf("the lines before it do not: %v, %v", received, err)
	}
	if _, err := ReceivedIn(filepath.Join(t.TempDir(), "missing.jsonl"), "u"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no transcript: %v", err)
	}
}

func TestWhatWasSaidAfterAPromptIsReadFromTheTranscript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	lines := []string{
		`{"type":"user","uuid":"u-1","message":{"role":"user","content":"first"}}`,
		`{"type":"assistant","uuid":"x","message":{"id":"m1","content":[{"type":"text","text":"before"}]}}`,
		`{"type":"user","uuid":"u-2","message":{"role":"user","content":"second"}}`,
		`{"type":"assistant","isSidechain":true,"uuid":"x","message":{"id":"m2","content":[{"type":"text","text":"a ` +
			`subagent's"}]}}`,
		`{"type":"assistant","uuid":"x","message":{"id":"m3","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}`,
		`{"type":"user","uuid":"y","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]}}`,
		`{"type":"attachment","uuid":"z","attachment":{"type":"queued_command","prompt":"third","source_uuid":"u-3"}}`,
		`{"type":"assistant","uuid":"x","message":{"id":"m4","content":[{"type":"text","text":"after"}]}}`,
		`{"type":"assistant","uuid":"x","mess`,
	}
	noError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	for uuid, want := range map[string][]procs.Message{
		"u-2": {
			procs.ToolUse{MessageID: "m3", ID: "t1", Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`)},
			procs.ToolResult{ToolUse: "t1", Text: "a.txt"},
			procs.Text{ID: "m4", Text: "after"},
		},
		"u-3": {procs.Text{ID: "m4", Text: "after"}},
		"u-4": nil,
	} {
		var got []procs.Message
		noError(t, SaidAfter(path, uuid, func(m procs.Message) { got = append(got, m) }))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after %s: -want +got\n%s", uuid, diff)
		}
	}
}

// A subagent that was at work before has said what lies after the prompt; one that has come to its end has a result of
// its call, also where the conversation lacks that.
func TestWhatSubagentsSaidAfterAPromptIsReadFromTheirTranscripts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	text := func(second int, id, text, stop string) string {
		return fmt.Sprintf(`{"type":"assistant","timestamp":"2026-11-21T10:00:%02d.000Z","message":{"id":%q,"content":`+
			`[{"type":"text","text":%q}],"stop_reason":%q}}`, second, id, text, stop)
	}
	agent := func(second int, call string) string {
		return fmt.Sprintf(`{"type":"assistant","timestamp":"2026-11-21T10:00:%02d.000Z","message":{"id":"m","content":`+
			`[{"type":"tool_use","id":%q,"name":"Agent","input":{}}],"stop_reason":"tool_use"}}`, second, call)
	}
	result := func(second int, call string) string {
		return fmt.Sprintf(`{"type":"user","timestamp":"2026-11-21T10:00:%02d.000Z","message":{"content":`+
			`[{"type":"tool_result","tool_use_id":%q,"content":"done"}]}}`, second, call)
	}
	files := map[string][]string{
		"s.jsonl": {
			agent(1, "t1"),
			`{"type":"user","uuid":"u-1","timestamp":"2026-11-21T10:00:05.000Z","message":{"content":"prompt"}}`,
			agent(6, "t2"), agent(7, "t3"), result(10, "t3"),
		},
		"s/subagents/agent-old.jsonl":  {text(2, "o1", "before", "end_turn"), text(8, "o2", "revived", "end_turn")},
		"s/subagents/agent-cut.jsonl":  {text(7, "c1", "begun", "tool_use"), agent(8, "t4")},
		"s/subagents/agent-back.jsonl": {text(8, "b1", "returned", "end_turn")},
		"s/subagents/agent-deep.jsonl": {text(9, "d1", "below", "end_turn"), `{"type":"assistant","mess`},
	}
	for id, call := range map[string]string{"old": "t1", "cut": "t2", "back": "t3", "deep": "t4"} {
		depth := 1 + strings.Count(id, "deep")
		files["s/subagents/agent-"+id+".meta.json"] = []string{
			fmt.Sprintf(`{"toolUseId":%q,"agentType":"general-purpose","spawnDepth":%d}`, call, depth)}
	}
	for name, lines := range files {
		putFile(t, filepath.Join(filepath.Dir(path), name), strings.Join(lines, "\n"))
	}
	started := func(parent, agent, call string) procs.Message {
		return procs.ToolUse{MessageID: "m", Parent: parent, Agent: agent, ID: call, Name: "Agent", Input: json.RawMessage(`{}`)}
	}
	want := []procs.Message{
		started("", "", "t2"), started("", "", "t3"),
		procs.Text{ID: "b1", Parent: "t3", Agent: "back", Text: "returned"}, procs.ToolResult{ToolUse: "t3"},
		procs.ToolResult{ToolUse: "t3", Text: "done"},
		procs.Text{ID: "o2", Parent: "t1", Agent: "old", Text: "revived"}, procs.ToolResult{ToolUse: "t1"},
		procs.Text{ID: "c1", Parent: "t2", Agent: "cut", Text: "begun"}, started("t2", "cut", "t4"),
		procs.Text{ID: "d1", Parent: "t4", Agent: "deep", Text: "below"}, procs.ToolResult{ToolUse: "t4"},
	}
	var got []procs.Message
	noError(t, SaidAfter(path, "u-1", func(m procs.Message) { got = append(got, m) }))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestWhatASubagentSaidIsReadByACallOfIts(t *testing.T) {
	for _, c := range []struct {
		transcript, call, id string
		said                 []procs.Message
	}{
		{"subagent", "toolu_2", "ae210355410a466d4", []procs.Message{
			procs.ToolUse{MessageID: "msg_89ac2828d80e46f695fc", ID: "toolu_2",
				Name: "Write", Input: json.RawMessage(`{"file_path":"/etc/xx","content":"x"}`)},
			procs.ToolResult{ToolUse: "toolu_2", Text: "No, keep out", IsError: true},
			procs.Text{ID: "msg_27bbae1cdb0d4ad2a082", Text: "SUBEND"},
		}},
		{"subagent_waiting_2.1.7", "toolu_2", "af01d76", []procs.Message{
			procs.ToolUse{MessageID: "msg_040b1aa7898a4cb0996f", ID: "toolu_2", Name: "mcp__supervise__ask_user",
				Input: json.RawMessage(`{"question":"pick?"}`)},
		}},
		{"subagent", "toolu_1", "", nil}, // the main conversation's
		{"answered", "toolu_1", "", nil}, // that of a conversation without subagents
	} {
		var said []procs.Message
		sub, err := SubagentSaid(transcriptOf(c.transcript), c.call, func(m procs.Message) { said = append(said, m) })
		if err != nil || sub.ID != c.id {
			t.Errorf("%s in %s: %q, %v", c.call, c.transcript, sub.ID, err)
		}
		if diff := cmp.Diff(c.said, said); diff != "" {
			t.Errorf("%s in %s: -want +got\n%s", c.call, c.transcript, diff)
		}
	}
}

func TestWhatTheCLIWritesInThePlaceOfAResultIsNoAnswer(t *testing.T) {
	for text, own := range map[string]bool{
		// A call of a tool of ours: at the end of its process, found at --resume (2.1.329); at the end of input (2.1.329,
		// the others); at an interrupt (2.1.200 and 2.1.329, the older ones).
		"[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is unknown.": true,
		"The tool call was interrupted before a result was received. It may or may not have completed on the server — " +
			"verify": true,
		"Tool permission stream closed before response received":                                                         true,
		"The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the": true,
		"MCP error -32001: AbortError: This operation was aborted":                                                       true,
		// The call that a subagent was started by.
		"[Request interrupted by user for tool use]": true,
		// A person's.
		"No, keep out":         false,
		"The user answered: y": false,
	} {
		if inPlaceOfAnswer(text) != own {
			t.Errorf("%s: %v", text, !own)
		}
	}
}

func TestWhatAHookHasDecidedIsReadInTheTranscript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.jsonl")
	line := func(id, source string) string {
		return `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"The user answered: …",` +
			`"tool_use_id":"` + id + `"}]},"toolUseResult":{"questions":[{"question":"Which?"}],"answers":{"Which?":"B"}},` +
			`"permissionDecision":{"decision":"accept","source":"` + source + `","reasonType":"hook"}}` + "\n"
	}
	noError(t, os.WriteFile(path, []byte(line("toolu_1", "hook")+line("toolu_2", "user_temporary")), 0o600))
	for id, want := range map[string]*procs.HookDecision{
		"toolu_1": {Accepted: true, Answers: map[string]string{"Which?": "B"}}, "toolu_2": nil, "toolu_3": nil,
	} {
		got, err := HookDecidedIn(path, id)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", id, err, diff)
		}
	}
}
