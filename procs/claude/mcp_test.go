package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/procs"
)

func TestACallIsHandedOverAndWhatItReturnsWritten(t *testing.T) {
	w := newWire(t, askUser)
	w.begin()
	want := procs.Call{Request: "r1", ToolUse: "toolu_1", Name: "ask_user", Input: json.RawMessage(`{"question":"pick?"}`)}
	if diff := cmp.Diff(want, w.call("r1", 2)); diff != "" {
		t.Error(diff)
	}
	w.call("r2", 3)
	// In any order, and the one is told from the other.
	for _, c := range []struct {
		request, text string
		isError       bool
		want          string
	}{
		{"r2", "two\nlines", false, `"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"two\nlines"}]}`},
		{"r1", "no", true, `"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"no"}],"isError":true}`},
	} {
		noError(t, w.Return(c.request, c.text, c.isError))
		want := fmt.Sprintf(`{"request_id":%q,"response":{"mcp_response":{%s}},"subtype":"success"}`, c.request, c.want)
		if diff := cmp.Diff(want, w.read()); diff != "" {
			t.Error(diff)
		}
	}
	w.quiet()
	if len(w.waiting.all) != 0 {
		t.Errorf("it remembers %v", w.waiting.all)
	}
}

func TestTwoClientsUnderOneNameAreServed(t *testing.T) {
	w := newWire(t, askUser)
	for i, m := range []string{hello, hello, begun, begun, toList, toList} {
		request := fmt.Sprint("r", i)
		w.send(request, m)
		got := w.read()
		if !strings.Contains(got, fmt.Sprintf("%q", request)) || !strings.Contains(got, `"result":`) ||
			strings.Contains(got, `"error"`) {
			t.Errorf("%s is answered by %s", m, got)
		}
		if m == toList && !strings.Contains(got, `"_meta":{"anthropic/alwaysLoad":true},`) {
			t.Errorf("the tool is not always there: %s", got)
		}
	}
	// Each numbers its own.
	w.call("one", 2)
	w.call("other", 2)
	for _, request := range []string{"other", "one"} {
		noError(t, w.Return(request, request, false))
		if got := w.read(); strings.Count(got, request) != 2 || !strings.Contains(got, `"id":2`) {
			t.Errorf("got %s", got)
		}
	}
}

// What the child was sent in each recorded conversation, we send it.
func TestTheClientOfEveryReleaseIsServed(t *testing.T) {
	paths, err := filepath.Glob("testdata/captures/*_mcp.ndjson")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			noError(t, err)
			w := newWire(t, procs.Tool{Name: "ask_user", Description: "Ask the user",
				Schema: json.RawMessage(`{"properties":{"question":{"type":"string"}},"required":["question"],"type":"object"}`)})
			answers := 0
			for line := range strings.Lines(string(data)) {
				line, ours := strings.CutPrefix(strings.TrimSpace(line), "STDIN> ")
				if !ours {
					w.print(line)
					continue
				}
				var theirs, got answerLine
				noError(t, json.Unmarshal([]byte(line), &theirs))
				if theirs.Response.Response.MCP == nil {
					continue
				}
				if content := theirs.Response.Response.MCP.Result.Content; content != nil {
					for {
						if c, ok := w.next().(procs.Call); ok {
							noError(t, w.Return(c.Request, content[0].Text, false))
							break
						}
					}
				}
				raw, _, err := w.stdin.Next()
				noError(t, err)
				noError(t, json.Unmarshal(raw, &got))
				if diff := cmp.Diff(theirs, got); diff != "" {
					t.Errorf("-then +now\n%s", diff)
				}
				answers++
			}
			if answers < 4 {
				t.Errorf("only %d answers", answers)
			}
		})
	}
}

// An answerLine is what matters to the CLI of an answer to an mcp_message.
type answerLine struct {
	Type     string `json:"type"`
	Response struct {
		Subtype   string `json:"subtype"`
		RequestID string `json:"request_id"`
		Response  struct {
			MCP *struct {
				JSONRPC string `json:"jsonrpc"`
				ID      any    `json:"id"`
				Error   any    `json:"error"`
				Result  struct {
					ProtocolVersion string `json:"protocolVersion"`
					Capabilities    any    `json:"capabilities"`
					Tools           any    `json:"tools"`
					Content         []struct{ Type, Text string }
				} `json:"result"`
			} `json:"mcp_response"`
		} `json:"response"`
	} `json:"response"`
}

func TestAWithdrawnCallIsToldAndNeverAnswered(t *testing.T) {
	for name, withdrawal := range map[string]string{
		"by the client": `{"type":"control_request","request_id":"n","request":{"subtype":"mcp_message","server_name":"supervise","message":` +
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"AbortError"}}}}`,
		"by the CLI": `{"type":"control_cancel_request","request_id":"r1"}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, askUser)
			w.begin()
			w.call("r1", 2)
			w.call("r2", 3)
			w.print(withdrawal)
			if diff := cmp.Diff(procs.AskCancelled{Request: "r1"}, w.next()); diff != "" {
				t.Error(diff)
			}
			if name == "by the client" {
				w.read()
			}
			if err := w.Return("r1", "too late", false); !errors.Is(err, procs.ErrNotWaiting) {
				t.Errorf("an answer after that: %v", err)
			}
			w.quiet()
			if err := w.Return("r2", "in time", false); err != nil {
				t.Error(err)
			}
			if got := w.read(); !strings.Contains(got, `"in time"`) {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestWhatAParkedProcessWithdrawsIsNotTold(t *testing.T) {
	w := newWire(t, askUser)
	w.begin()
	w.call("r1", 2)
	w.parking.Store(true)
	w.send("n", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	w.read()
	w.print(`{"type":"control_cancel_request","request_id":"r1"}`)
	w.quiet()
}

func TestTheEndOfAProcessEndsItsCalls(t *testing.T) {
	w := newWire(t, askUser)
	w.begin()
	w.call("r", 2)
	w.end()
	if err := w.Return("r", "too late", false); !errors.Is(err, errGone) {
		t.Errorf("got %v", err)
	}
}

// A child that prints does not read, and one that is written to may be held up by that: so nothing of ours may be read
// only when something else is written.
func TestAMessageThatTheChildDoesNotReadYetHoldsUpNothingThatItPrints(t *testing.T) {
	w := newWire(t, askUser)
	said := make(chan error, 1)
	go func() { said <- w.Send("u", strings.Repeat("x", 1<<20)) }()
	for len(w.dialogue.stdin.pen) == 0 {
		runtime.Gosched()
	}
	for i, m := range []string{hello, hello, begun, begun, toList, fmt.Sprintf(openRequest, 2),
		`{"jsonrpc":"2.0","id":1,"method":"tomorrow"}`} {
		w.send(fmt.Sprint("r", i), m)
	}
	w.print(`{"type":"control_request","request_id":"r7","request":{"subtype":"tomorrow"}}`)
	if c, ok := w.next().(procs.Call); !ok {
		t.Errorf("no call, but %T", c)
	}
	w.print(`{"type":"system","subtype":"status","status":"still heard"}`)
	if m, ok := w.next().(procs.Activity); !ok {
		t.Errorf("got %+v", m)
	}
	for range 8 { // the message, and an answer to all but the call
		w.read()
	}
	if err := <-said; err != nil {
		t.Error(err)
	}
}

func TestAChildCallsAToolUntilItIsEnded(t *testing.T) {
	s := spec(t, "client")
	s.Tools = []procs.Tool{askUser}
	r := start(t, s)
	for _, text := range []string{"one", "two"} {
		noError(t, r.Return(next[procs.Call](r).Request, text, false))
		if got := next[procs.Text](r).Text; !strings.Contains(got, text) {
			t.Errorf("it got %s", got)
		}
	}
	waits := next[procs.Call](r)
	r.End(context.Background(), procs.Park)
	if err := r.Return(waits.Request, "too late", false); !errors.Is(err, errGone) {
		t.Errorf("after its end: %v", err)
	}
}

func TestOurToolsAreNamedToTheCLIBesideThePersonsOwn(t *testing.T) {
	s := procs.Spec{SessionID: "s", Tools: []procs.Tool{askUser, {Name: "stop_work", Schema: askUser.Schema}},
		Allowed: []string{"Bash(git log:*)", "-odd"},
		Flags:   []string{"--mcp-config", "mine.json", "--allowedTools", "Read", "Edit"}}
	args := launch(s).args()
	ours := args[slices.Index(args, "s")+1:]
	want := []string{
		`--mcp-config={"mcpServers":{"supervise":{"type":"sdk","name":"supervise"}}}`,
		"--allowedTools=mcp__supervise__ask_user", "--allowedTools=mcp__supervise__stop_work",
		"--allowedTools=Bash(git log:*)", "--allowedTools=-odd",
		"--mcp-config", "mine.json", "--allowedTools", "Read", "Edit",
	}
	if diff := cmp.Diff(want, ours); diff != "" {
		t.Error(diff)
	}
	line, err := json.Marshal(launch(s).initialize())
	if err != nil || !strings.Contains(string(line), `"sdkMcpServers":["supervise"]`) {
		t.Errorf("it begins with %s, %v", line, err)
	}
}

func TestAResultThatCannotBeWrittenSaysSo(t *testing.T) {
	w := newWire(t, askUser)
	w.begin()
	w.call("r1", 2)
	w.call("r2", 3)
	noError(t, w.CloseInput())
	for _, r := range []string{"r1", "r2"} {
		if err := w.Return(r, "too late", false); !errors.Is(err, errGone) {
			t.Errorf("got %v", err)
		}
	}
}

// BenchmarkCall is a call of a tool: from the child's line to the handler, and from Return to the line on stdin.
func BenchmarkCall(b *testing.B) {
	w := newWire(b, askUser)
	w.begin()
	b.ReportAllocs()
	i := 2
	for b.Loop() {
		i++
		w.call(fmt.Sprint(i), i)
		noError(b, w.Return(fmt.Sprint(i), "The user answered: y", false))
		w.read()
	}
}
