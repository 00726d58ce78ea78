package claude

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"claude-supervise/procs"
	"claude-supervise/procs/stream"
)

// askUser is a tool as strict as ours are.
var askUser = procs.Tool{Name: "ask_user", Description: "Ask the user.", Schema: json.RawMessage(
	`{"type":"object","properties":{"question":{"type":"string","maxLength":20},"options":{"type":"array","items":` +
		`{"type":"object","properties":{"label":{"type":"string"},"weight":{"type":"number"}},"required":["label"],"additionalProperties":false}},` +
		`"kind":{"enum":["open","closed"]}},"required":["question"],"additionalProperties":false}`)}

// A wire is a process without a child: the test speaks for it.
type wire struct {
	*dialogue
	t      testing.TB
	stdout *io.PipeWriter
	stdin  *stream.Lines
	said   chan procs.Message
	end    func()
}

func newWire(t testing.TB, tools ...procs.Tool) *wire {
	t.Helper()
	stdin, ours, err := os.Pipe()
	noError(t, err)
	theirs, stdout := io.Pipe()
	w := &wire{t: t, stdout: stdout, stdin: stream.NewLines(stdin, stream.MaxLine), said: make(chan procs.Message, 1000)}
	p, over := procs.Unstarted(procs.Spec{Tools: tools}, func(m procs.Message) { w.said <- m })
	w.dialogue = newDialogue(p)
	w.dialogue.stdin = newWriter(ours)
	noError(t, w.serveTools())
	done := make(chan struct{})
	go func() {
		defer close(done)
		readLines(w.Process, stream.NewLines(theirs, stream.MaxLine), w.take)
	}()
	ended := false
	w.end = func() {
		if ended {
			return
		}
		ended = true
		stdout.Close()
		over()
		w.Close()
		<-done
		stdin.Close()
	}
	t.Cleanup(w.end)
	return w
}

// print prints a line of the child.
func (w *wire) print(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.stdout, line+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

// send sends a JSON-RPC message in a control request.
func (w *wire) send(request, message string) {
	w.t.Helper()
	line, err := json.Marshal(mcpRequest(request, message))
	noError(w.t, err)
	w.print(string(line))
}

// mcpRequest is a control request with a JSON-RPC message.
func mcpRequest(request, message string) any {
	return map[string]any{"type": "control_request", "request_id": request, "request": map[string]any{
		"subtype": "mcp_message", "server_name": serverName, "message": json.RawMessage(message)}}
}

// read returns the next line on stdin, without what all have.
func (w *wire) read() string {
	w.t.Helper()
	line, _, err := w.stdin.Next()
	noError(w.t, err)
	text := string(line)
	text = strings.TrimPrefix(text, `{"response":`)
	return strings.TrimSuffix(text, `,"type":"control_response"}`)
}

// next returns the next message.
func (w *wire) next() procs.Message {
	w.t.Helper()
	select {
	case m := <-w.said:
		return m
	case <-time.After(hangs):
		w.t.Fatal("it said nothing")
		return nil
	}
}

// quiet fails if anything was said or written that the test has not looked at.
func (w *wire) quiet() {
	w.t.Helper()
	w.print(`{"type":"control_request","request_id":"quiet","request":{"subtype":"tomorrow"}}`)
	if got := w.read(); !strings.Contains(got, `"quiet"`) {
		w.t.Errorf("it wrote %s", got)
	}
	select {
	case m := <-w.said:
		w.t.Errorf("it said %T %+v", m, m)
	default:
	}
}

const (
	hello       = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.7"}}}`
	begun       = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	toList      = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	openRequest = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask_user","arguments":{"question":"pick?"},"_meta":{"claudecode/toolUseId":"toolu_1","progressToken":2}}}`
)

// begin is the beginning of a client.
func (w *wire) begin() {
	w.t.Helper()
	for i, m := range []string{hello, begun, toList} {
		w.send(fmt.Sprint("begin-", i), m)
		w.read()
	}
}

// call makes a call and gives it as it is handed over.
func (w *wire) call(request string, id int) procs.Call {
	w.t.Helper()
	w.send(request, fmt.Sprintf(openRequest, id))
	m := w.next()
	c, ok := m.(procs.Call)
	if !ok {
		w.t.Fatalf("no call: %T %+v", m, m)
	}
	return c
}
