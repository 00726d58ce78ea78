package standin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/examples"
)

func TestAConversationIsReadAsItWasKept(t *testing.T) {
	// The lines are those of the real CLI, shortened; the fifth is torn, as after a crash, and the last is cut.
	p := read(t, strings.Join([]string{
		`{"type":"queue-operation","operation":"enqueue","content":"## YOUR TASK"}`,
		`{"type":"user","message":{"role":"user","content":"## YOUR TASK"},"uuid":"task"}`,
		`{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"I ask"}]}}`,
		`{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"asked","name":"AskUserQuestion","input":{}}]}}`,
		`{"type":"assistant","message":{"id":"m1","role":"assi`,
		`{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"begun","name":"Bash","input":{}}]}}`,
		`{"type":"user","message":{"role":"user","content":[{"tool_use_id":"begun","type":"tool_result","content":"Command ` +
			`running"}]},"uuid":"r","toolUseResult":{"backgroundTaskId":"b12345678"}}`,
		`{"type":"user","message":{"role":"user","content":[{"tool_use_id":"other","type":"tool_result","content":"Exit ` +
			`code 1"}]},"toolUseResult":"Error: Exit code 1"}`,
		`{"type":"attachment","attachment":{"type":"date","date":"2026-11-21"}}`,
		`{"type":"attachment","attachment":{"type":"queued_command","prompt":"meanwhile","source_uuid":"absorbed"}}`,
		`{"type":"assistant","isApiErrorMessage":true,"error":"server_error","timestamp":"2026-11-21T08:00:00.000Z","message":{"id":"e","content":[{"type":"text","text":"API Error: 529"}]}}`,
		`{"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","timestamp":"2026-11-21T09:00:00.000Z","message":{"id":"f","content":[{"type":"text","text":"API Error: Request rejected (429)"}]}}`,
		`{"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","timestamp":"2026-11-21T10:00:00.000Z","message":{"id":"g","content":[{"type":"text","text":"API Error: Request rejected (429)"}]}}`,
		`{"type":"cost-state","totalCostUSD":9,"modelUsage":{"old":{"inputTokens":1,"outputTokens":1,"costUSD":9}}}`,
		`{"type":"cost-state","totalCostUSD":0.00264,"modelUsage":{"a":{"inputTokens":140,"outputTokens":84,"cacheReadInputTokens":7,"costUSD":0.0025},"b":{"inputTokens":100,"cacheCreationInputTokens":5,"costUSD":0.00014}}}`,
		`{"type":"user","message":{"role":"user","content":"unanswered"},"uuid":"next"}`,
		`{"type":"assistant","message":{"id":"m2","con`,
	}, "\n"))
	want := []examples.Message{
		{Role: examples.User, Texts: []string{"## YOUR TASK"}},
		{Role: examples.Assistant, Texts: []string{"I ask"}},
		{Role: examples.User, Texts: []string{"Command running"}},
		{Role: examples.User, Texts: []string{"Exit code 1"}},
		{Role: examples.System, Texts: []string{"meanwhile"}},
		{Role: examples.User, Texts: []string{"unanswered"}},
	}
	if diff := cmp.Diff(want, p.messages); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"asked"}, p.open); diff != "" {
		t.Errorf("the calls without a result: %s", diff)
	}
	if diff := cmp.Diff([]orphan{{id: "b12345678", call: "begun"}}, p.tasks, cmp.AllowUnexported(orphan{})); diff != "" {
		t.Errorf("the tasks without an end: %s", diff)
	}
	if !p.answered["task"] || p.answered["next"] || p.answered["absorbed"] {
		t.Errorf("what had a reply: %v", p.answered)
	}
	if want := (spent{Input: 240, Output: 84, CacheRead: 7, CacheWrite: 5}); p.spent != want {
		t.Errorf("what was spent is %+v, not %+v", p.spent, want)
	}
	if want := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC); !p.limited.Equal(want) {
		t.Errorf("the limit was met at %v, not %v", p.limited, want)
	}
}

func TestATaskWhoseEndWasToldIsOver(t *testing.T) {
	begun := `{"type":"user","message":{"content":[{"tool_use_id":"c","type":"tool_result","content":"x"}]},"toolUseResult":{"backgroundTaskId":"b12345678"}}` + "\n"
	for name, told := range map[string]string{
		"together with another":   `{"type":"user","message":{"content":"<task-notification>\n<task-id>b87654321</task-id>\n<task-id>b12345678</task-id>\n<status>stopped</status>"}}`,
		"in a turn of its own":    `{"type":"user","message":{"content":"<task-notification>\n<task-id>b12345678</task-id>"}}`,
		"in the middle of a turn": `{"type":"attachment","attachment":{"type":"queued_command","prompt":"<task-notification>\n<task-id>b12345678</task-id>"}}`,
	} {
		if p := read(t, begun+told+"\n"); len(p.tasks) != 0 {
			t.Errorf("%s: %v is left", name, p.tasks)
		}
	}
}

func TestALineAfterATornOneStandsByItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	noError(t, os.WriteFile(path, []byte(`{"type":"us`), 0o600))
	tr := transcript{path: path}
	for _, text := range []string{"one", "two"} {
		noError(t, tr.add(doc{"type": "user", "uuid": text, "message": doc{"content": text}}))
	}
	p, err := readTranscript(path)
	noError(t, err)
	if len(p.messages) != 2 || p.messages[0].Texts[0] != "one" {
		t.Errorf("the conversation is %v", p.messages)
	}
}

func TestASessionIsFoundFromAnyFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, munged("/home/dev/my work_1.2"), session+".jsonl")
	if filepath.Base(filepath.Dir(path)) != "-home-dev-my-work-1-2" {
		t.Errorf("the folder is kept as %s", filepath.Base(filepath.Dir(path)))
	}
	if got := findTranscript(dir, session); got != "" {
		t.Errorf("found %s, where there is none", got)
	}
	tr := transcript{path: path}
	noError(t, tr.add(doc{}))
	if got := findTranscript(dir, session); got != path {
		t.Errorf("found %q", got)
	}
	if got := findTranscript(dir, "*"); got != "" {
		t.Errorf("a pattern is no session, but finds %s", got)
	}
}

func read(t testing.TB, text string) *past {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.jsonl")
	noError(t, os.WriteFile(path, []byte(text), 0o600))
	p, err := readTranscript(path)
	noError(t, err)
	return p
}

func FuzzReadTranscript(f *testing.F) {
	f.Add(`{"type":"user","uuid":"a","message":{"content":"x"}}` +
		"\n" + `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"c"}]}}`)
	f.Add(`{"type":"assistant","message":{"content":[{"type":"tool_use"},{"type":"text"}]}}`)
	f.Add(`{"type":"user","message":{"content":[{"type":"tool_result"}]},"toolUseResult":{"backgroundTaskId":"b"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		p := read(t, text)
		if len(p.messages) > strings.Count(text, "\n")+1 {
			t.Errorf("%d messages in %q", len(p.messages), text)
		}
	})
}
