package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"claude-supervise/procs"
)

func TestAnInputThatDoesNotFitIsTheToolsErrorAndNothingElse(t *testing.T) {
	for _, c := range []struct{ name, arguments, want string }{
		{"a member missing", `{}`, `required: missing properties: [\"question\"]`},
		{"no input", `null`, `required: missing properties: [\"question\"]`},
		{"a member too many", `{"question":"q","answer":"a"}`, `unexpected additional properties [\"answer\"]`},
		{"the name in another case", `{"Question":"q"}`, `unexpected additional properties [\"Question\"]`},
		{"another type", `{"question":5}`, `question: type: 5 has type \"integer\", want \"string\"`},
		{"null in the place of a text", `{"question":null}`, `question: type: `},
		{"a text too long", `{"question":"` + strings.Repeat("x", 21) + `"}`, `question: maxLength: `},
		{"a text far too long", `{"question":"` + strings.Repeat("x", 900_000) + `"}`,
			`xx\" contains 900000 Unicode code points, more than 20"`},
		{"no such value", `{"question":"q","kind":"odd"}`, `kind: enum: odd does not equal any of: [open closed]`},
		{"deep inside", `{"question":"q","options":[{"label":"a"},{"text":"b"}]}`, `options/items: `},
		{"no object", `[1]`, `it has to be an object`},
		{"a text", `"question"`, `it has to be an object`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire(t, askUser)
			w.begin()
			w.send("r", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ask_user","arguments":`+
				c.arguments+`}}`)
			got := w.read()
			if !strings.Contains(got, `"id":7,"result":{"content":[{"type":"text","text":"the input does not fit: `) ||
				!strings.Contains(got, c.want) || !strings.Contains(got, `"isError":true`) {
				t.Errorf("got %s", got)
			}
			w.quiet()
		})
	}
}

func TestWhatNoClientSendsIsAnsweredWithAnError(t *testing.T) {
	rpc := func(message string) string {
		return `{"subtype":"mcp_message","server_name":"supervise","message":` + message + `}`
	}
	for _, c := range []struct {
		name    string
		fresh   bool // before the beginning
		request string
		want    string
	}{
		{"another server", false, `{"subtype":"mcp_message","server_name":"other","message":` + toList + `}`,
			`there is no MCP server \"other\"`},
		{"no server", false, `{"subtype":"mcp_message","message":` + toList + `}`, `there is no MCP server`},
		{"no message", false, `{"subtype":"mcp_message","server_name":"supervise"}`, `not a JSON-RPC message`},
		{"a number", false, rpc(`5`), `not a JSON-RPC message`},
		{"an older JSON-RPC", false, rpc(`{"jsonrpc":"1.0","id":1,"method":"ping"}`), `not a JSON-RPC message`},
		{"an id of another type", false, rpc(`{"jsonrpc":"2.0","id":[1],"method":"ping"}`), `not a JSON-RPC message`},
		{"a response", false, rpc(`{"jsonrpc":"2.0","id":1,"result":{}}`), `nothing was asked`},
		{"neither", false, rpc(`{"jsonrpc":"2.0"}`), `"error":`},
		{"a call before the beginning", true, rpc(fmt.Sprintf(openRequest, 4)), `"id":4,"error":`},
		{"a list before the beginning", true, rpc(toList), `"id":1,"error":`},
		{"a beginning without parameters", true, rpc(`{"jsonrpc":"2.0","id":0,"method":"initialize"}`), `"id":0,"error":`},
		{"a notification as a request", false, rpc(`{"jsonrpc":"2.0","id":5,"method":"notifications/initialized"}`),
			`"id":5,"error":`},
		{"an unknown method", false, rpc(`{"jsonrpc":"2.0","id":5,"method":"tomorrow"}`), `"id":5,"error":`},
		{"a method of other servers", false, rpc(`{"jsonrpc":"2.0","id":5,"method":"resources/list"}`), `method not found`},
		{"a stream", false, rpc(`{"jsonrpc":"2.0","id":5,"method":"subscriptions/listen","params":{}}`), `"id":5,"error":`},
		{"an unknown tool", false, rpc(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"rm"}}`),
			`unknown tool \"rm\"`},
		{"a call without parameters", false, rpc(`{"jsonrpc":"2.0","id":5,"method":"tools/call"}`), `"id":5,"error":`},
		{"a call of a number", false, rpc(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":7}`), `"id":5,"error":`},
		{"a question of a megabyte", false,
			rpc(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ask_user","arguments":{"question":"` +
				strings.Repeat("x", maxCall) + `"}}}`), `put what is long into a file`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire(t, askUser)
			if !c.fresh {
				w.begin()
			}
			w.print(`{"type":"control_request","request_id":"r","request":` + c.request + `}`)
			if got := w.read(); !strings.Contains(got, c.want) || !strings.Contains(got, `"request_id":"r"`) {
				t.Errorf("got %s", got)
			}
			w.quiet()
			if c.fresh {
				w.begin()
			}
			w.call("after", 9)
		})
	}
}

func TestAProcessWithoutToolsRefusesTheirClient(t *testing.T) {
	w := newWire(t)
	w.send("r", toList)
	if got := w.read(); !strings.Contains(got, `"subtype":"error"`) {
		t.Errorf("got %s", got)
	}
	if err := w.Return("r", "", false); !errors.Is(err, procs.ErrNotWaiting) {
		t.Errorf("a result without a call: %v", err)
	}
}

func TestAWithdrawalOfNothingIsNothing(t *testing.T) {
	w := newWire(t, askUser)
	w.begin()
	w.call("r1", 2)
	for i, params := range []string{`{"requestId":3}`, `{"requestId":"2"}`, `{"requestId":null}`,
		`{"requestId":[2]}`, `{}`, `[]`} {
		w.send(fmt.Sprint("n", i), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":`+params+`}`)
		w.read()
	}
	w.quiet()
	if err := w.Return("r1", "still", false); err != nil {
		t.Error(err)
	}
}

func TestARequestIsAnsweredOnce(t *testing.T) {
	w := newWire(t, askUser)
	w.begin()
	w.call("call", 2)
	w.print(
		`{"type":"control_request","request_id":"ask","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"toolu_2"}}`)
	w.print(
		`{"type":"control_request","request_id":"gate","request":{"subtype":"hook_callback","callback_id":"stop","input":{}}}`)
	w.next()
	w.next()
	answers := map[string]func(string) error{
		"call": func(id string) error { return w.Return(id, "", false) },
		"ask":  func(id string) error { return w.Deny(id, "no", false) },
		"gate": func(id string) error { return w.Gate(id, "") },
	}
	for right, answer := range answers {
		for _, id := range []string{"call", "ask", "gate", "unknown", ""} {
			if err := answer(id); id != right && !errors.Is(err, procs.ErrNotWaiting) {
				t.Errorf("%s answered as %s: %v", id, right, err)
			} else if id == right && err != nil {
				t.Error(err)
			}
		}
		w.read()
		if err := answer(right); !errors.Is(err, procs.ErrNotWaiting) {
			t.Errorf("%s answered again: %v", right, err)
		}
	}
	w.quiet()
}

func TestAFloodIsRefusedAndToldOnce(t *testing.T) {
	w := newWire(t, askUser)
	w.begin()
	ask := func(i int) {
		w.print(
			fmt.Sprintf(
				`{"type":"control_request","request_id":"ask-%d","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t"}}`, i))
	}
	for i := range maxWaiting / 2 {
		w.call(fmt.Sprint("call-", i), 10+i)
		ask(i)
		w.next()
	}
	w.send("beyond-1", fmt.Sprintf(openRequest, 5))
	if _, ok := w.next().(procs.Activity); !ok {
		t.Error("it is not told")
	}
	if got := w.read(); !strings.Contains(got, `"id":5`) || !strings.Contains(got, `too many`) ||
		!strings.Contains(got, `"isError":true`) {
		t.Errorf("a call: %s", got)
	}
	ask(1000)
	if got := w.read(); !strings.Contains(got, `"behavior":"deny"`) || !strings.Contains(got, `too many`) {
		t.Errorf("a permission: %s", got)
	}
	w.print(
		`{"type":"control_request","request_id":"gate","request":{"subtype":"hook_callback","callback_id":"stop","input":{}}}`)
	if got := w.read(); !strings.Contains(got, `"decision":"block"`) || !strings.Contains(got, `too many`) {
		t.Errorf("the gate, at which an error would end the turn: %s", got)
	}
	w.quiet()
	noError(t, w.Return("call-0", "", false))
	w.read()
	w.call("room", 6)
}

func TestAnIDThatWaitsCannotBeTakenByAnother(t *testing.T) {
	w := newWire(t, askUser)
	w.begin()
	w.call("r", 2)
	w.send("r", fmt.Sprintf(openRequest, 3))
	if m, ok := w.next().(procs.Activity); !ok || !strings.Contains(m.Text, "again") {
		t.Errorf("got %+v", m)
	}
	w.print(
		`{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t"}}`)
	if m, ok := w.next().(procs.Activity); !ok {
		t.Errorf("got %+v", m)
	}
	w.quiet()
	noError(t, w.Return("r", "the first", false))
	if got := w.read(); !strings.Contains(got, `"id":2`) {
		t.Errorf("got %s", got)
	}
}

func TestAToolWithoutASchemaCannotBeServed(t *testing.T) {
	for _, schema := range []string{``, `{`, `[]`, `{}`, `{"type":"string"}`} {
		s := spec(t, "facts")
		s.Tools = []procs.Tool{{Name: "broken", Schema: json.RawMessage(schema)}}
		p, err := procs.Start(Agent{}, s, func(procs.Message) {})
		if start := new(procs.StartError); !errors.As(err, &start) || !strings.Contains(err.Error(), "broken") {
			t.Errorf("%s: %v", schema, err)
		}
		if p != nil {
			t.Errorf("%s: it runs", schema)
		}
	}
}

// A schema is looked at when its tool is first called. What is wrong with it then the caller learns, and nobody waits.
func TestACallOfAToolWhoseSchemaIsBrokenIsAnsweredWithTheReason(t *testing.T) {
	for schema, why := range map[string]string{
		`{"type":"object","properties":{"a":{"$ref":"#/nowhere"}}}`: "nowhere",
		`{"type":"object","properties":{"a":{"pattern":"("}}}`:      "missing closing",
	} {
		w := newWire(t, procs.Tool{Name: "ask_user", Schema: json.RawMessage(schema)}, procs.Tool{Name: "whole", Schema: askUser.Schema})
		w.begin()
		for i := range 2 {
			w.send("broken", fmt.Sprintf(openRequest, i))
			got := w.read()
			if !strings.Contains(got, `"error":`) || !strings.Contains(got, "ask_user") || !strings.Contains(got, why) {
				t.Errorf("%s: got %s", schema, got)
			}
		}
		w.quiet()
	}
}

// FuzzTools: whatever the client sends, it is answered once, or is a call that waits and is then.
func FuzzTools(f *testing.F) {
	for _, m := range []string{hello, begun, toList, fmt.Sprintf(openRequest, 2),
		`{"jsonrpc":"2.0","id":"a","method":"ping"}`, `null`,
		`{"jsonrpc":"2.0","id":1e300,"method":"tools/call","params":{"name":"ask_user","arguments":{"question":"q","options":[{"label":"l","weight":1e999}]}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`,
		`{"jsonrpc":"2.0","id":3,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
	} {
		f.Add([]byte(m), true)
		f.Add([]byte(m), false)
	}
	f.Fuzz(func(t *testing.T, message []byte, begun bool) {
		if !json.Valid(message) {
			return // the line would be none
		}
		w := newWire(t, askUser)
		if begun {
			w.begin()
		}
		w.send("fuzz", string(message))
		w.print(`{"type":"system","subtype":"status","status":"read"}`)
		if c, ok := w.next().(procs.Call); ok {
			if c.Name != askUser.Name || !json.Valid(c.Input) || c.Input[0] != '{' {
				t.Errorf("handed over: %+v", c)
			}
			if err := w.Return(c.Request, "ok", false); err != nil {
				t.Error(err)
			}
			w.next()
		}
		if got := w.read(); !strings.Contains(got, `"request_id":"fuzz"`) {
			t.Errorf("%s is answered by %s", message, got)
		}
		w.quiet()
	})
}
