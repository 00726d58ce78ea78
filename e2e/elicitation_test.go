package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
)

// A shop is an MCP server of the person's own, with one tool, which asks the person for what is to be ordered. It
// writes down what it is told.
type shop struct {
	Revision string // of the protocol: 2026-07-28, else an older one
	Forms    int    // that it asks to be filled in at once
	Length   int    // of its message, in bytes
	Folder   string // where it writes told, and order.txt

	call json.RawMessage // that waits, in an older revision
	told int
}

// shopVariable makes a shop of the test binary.
const shopVariable = "CLAUDE_SUPERVISE_TEST_SHOP"

type rpcMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Responses map[string]json.RawMessage `json:"inputResponses"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
}

// hears takes a message, and gives what the shop says to it.
func (s *shop) hears(m rpcMessage) (said []object) {
	result := func(id json.RawMessage, result object) {
		result["resultType"], result["ttlMs"], result["cacheScope"] = "complete", 0, "private"
		said = append(said, object{"id": id, "result": result})
	}
	info := object{"name": "shop", "version": "1"}
	modern := s.Revision == "2026-07-28"
	form := object{"mode": "form", "message": "Which shirt?" + strings.Repeat("x", s.Length), "requestedSchema": object{
		"type": "object", "required": []string{"size"}, "properties": object{
			"size": object{"type": "string", "title": "Size", "enum": []string{"S", "M"}}}}}
	switch {
	case m.Method == "server/discover" && modern:
		result(m.ID, object{"supportedVersions": []string{s.Revision}, "capabilities": object{"tools": object{}},
			"serverInfo": info})
	case m.Method == "initialize":
		result(m.ID, object{"protocolVersion": s.Revision, "capabilities": object{"tools": object{}}, "serverInfo": info})
	case m.Method == "tools/list":
		result(m.ID, object{"tools": []object{{"name": "order", "description": "orders a shirt",
			"inputSchema": object{"type": "object", "properties": object{}}, "_meta": object{"anthropic/alwaysLoad": true}}}})
	case m.Method == "tools/call" && m.Params.Responses == nil:
		asks := object{}
		for i := range s.Forms {
			asks[fmt.Sprint("form-", i)] = object{"method": "elicitation/create", "params": form}
			if !modern {
				said = append(said, object{"id": fmt.Sprint("form-", i), "method": "elicitation/create", "params": form})
			}
		}
		if s.call = m.ID; modern {
			said = append(said, object{"id": m.ID, "result": object{"resultType": "input_required", "inputRequests": asks,
				"requestState": "asked"}})
		}
	case m.Method == "tools/call":
		for _, r := range m.Params.Responses {
			s.isTold(r)
		}
		result(m.ID, object{"content": []object{{"type": "text", "text": "done"}}})
	case m.Method == "" && len(m.Result) > 0:
		if s.isTold(m.Result); s.told == s.Forms {
			result(s.call, object{"content": []object{{"type": "text", "text": "done"}}})
		}
	case len(m.ID) > 0:
		said = append(said, object{"id": m.ID, "error": object{"code": -32601, "message": "no such method"}})
	}
	return said
}

func (s *shop) isTold(answer json.RawMessage) {
	s.told++
	err := os.WriteFile(filepath.Join(s.Folder, "order.txt"), nil, 0o600)
	told, open := os.OpenFile(filepath.Join(s.Folder, "told"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err = errors.Join(err, open); err != nil {
		panic(err)
	}
	fmt.Fprintf(told, "%s\n", answer)
	told.Close()
}

// serve speaks over standard streams.
func (s *shop) serve(in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var m rpcMessage
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			panic(err)
		}
		for _, said := range s.hears(m) {
			said["jsonrpc"] = "2.0"
			if err := json.NewEncoder(out).Encode(said); err != nil {
				return
			}
		}
	}
}

// ServeHTTP speaks over HTTP, without sessions and streams.
func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m rpcMessage
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusMethodNotAllowed)
		return
	}
	said := s.hears(m)
	if len(said) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	said[0]["jsonrpc"] = "2.0"
	_ = json.NewEncoder(w).Encode(said[0])
}

// orders has an agent, the real CLI, order in a shop, over HTTP or the shop's own streams.
func orders(t *testing.T, s shop, overHTTP bool) (*world, examples.Scenario) {
	t.Helper()
	scenario := load(t, "elicitation")
	w := newWorldWith(t, plainProgram).real(scenario, nil)
	s.Folder = w.Cwd
	doc, err := json.Marshal(s)
	noError(t, err)
	server := object{"command": os.Args[0], "env": object{shopVariable: string(doc)}}
	if overHTTP {
		at := httptest.NewServer(&s)
		t.Cleanup(at.Close)
		server = object{"type": "http", "url": at.URL}
	}
	doc, err = json.Marshal(object{"mcpServers": object{"shop": server}})
	noError(t, err)
	scenario.ClaudeFlags = []string{"--allowedTools=mcp__shop", "--mcp-config=" + string(doc)}
	return w, scenario
}

// told is what the shop of a world has been told.
func (w *world) told() string {
	w.t.Helper()
	told, err := os.ReadFile(filepath.Join(w.Cwd, "told"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(told)
}

const sizeM = `{"action":"accept","content":{"size":"M"}}` + "\n"

// A server of 2026-07-28 has the CLI make its call again with the answers.
func TestAnMCPServerOfTheNewestRevisionAsks(t *testing.T) {
	t.Parallel()
	for _, by := range sample.Pick(t.Name(), []string{"http", "stdio"}) {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			w, s := orders(t, shop{Revision: "2026-07-28", Forms: 1}, by == "http")
			run := w.start(w.runArgs(s, "--hold", "1ms", "--on-question", "ask", "--check", "off")...)
			w.must("answer", run.until("question").Question.ID, "M")
			w.ends(run, 0)
			if got := w.told(); got != sizeM || run.count("parked") > 0 {
				t.Errorf("the server is told %s; events %s", got, run.types())
			}
		})
	}
}

// However a run is left while a server waits for a person, the server is told nothing in their name, the person is told
// that it is gone, and what they answer then reaches it when it asks again.
func TestAServerIsToldNothingWhenARunIsLeft(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for how, leave := range map[string]func(w *world, run *supervised){
			"park":      nil,
			"interrupt": func(_ *world, run *supervised) { run.interrupt(); run.wait() },
			"kill":      func(_ *world, run *supervised) { run.kill9() },
			"stop":      func(w *world, run *supervised) { w.must("stop", w.ps().ID); run.wait() },
		} {
			if !sample.Has("left "+revision+" "+how, 4) {
				continue
			}
			t.Run(revision+" "+how, func(t *testing.T) {
				t.Parallel()
				w, s := orders(t, shop{Revision: revision, Forms: 1}, false)
				flags := []string{"--hold", "forever", "--on-question", "ask", "--check", "off"}
				if leave == nil {
					flags = []string{"--hold", "0", "--on-question", "park", "--check", "off"}
				}
				run := w.start(w.runArgs(s, flags...)...)
				question := run.until("question").Question.ID
				if leave == nil {
					w.ends(run, 75)
				} else {
					leave(w, run)
				}
				if how == "stop" {
					if got := w.told(); got != "" {
						t.Errorf("the server is told %s", got)
					}
					return
				}
				said := run.said("what the MCP server shop had begun is lost")
				run = w.start("resume", w.ps().ID, "--on-question", "ask")
				if how == "kill" {
					run.waitsFor("what the MCP server shop had begun is lost")
				} else if !said {
					t.Error("it is not said that the server is gone")
				}
				lacksNone(t, "the question", w.must("show", question), "The process of this call is gone")
				// Killed, we cannot keep claude from telling it cancel at the end of its input, if that comes before the hang-up.
				told := w.told()
				if told != "" && !(how == "kill" && told == `{"action":"cancel"}`+"\n") {
					t.Errorf("the server is told %s", told)
				}
				w.must("answer", question, "M")
				w.ends(run, 0)
				if got := strings.TrimPrefix(w.told(), told); got != sizeM {
					t.Errorf("the server is told %s", got)
				}
			})
		}
	}
}

// What is too long or too much for a person waits for their word; the CLI makes a cancel of every reply of ours that is
// none.
func TestAServerThatAsksTooMuchIsToldWhatThePersonSays(t *testing.T) {
	t.Parallel()
	if sample.Has("asks at length", 2) {
		t.Run("long", func(t *testing.T) {
			t.Parallel()
			w, s := orders(t, shop{Revision: "2025-11-25", Forms: 1, Length: 70_000}, false)
			run := w.start(w.runArgs(s, "--hold", "forever", "--on-question", "ask", "--check", "off")...)
			question := run.until("question").Question.ID
			lacksNone(t, "the question", w.must("show", question), "shirt?xxx", "bytes, of at most 65536", "stop the run")
			if got := w.told(); got != "" {
				t.Errorf("before anybody has answered the server is told %s", got)
			}
			w.must("answer", question, "Cancel")
			run.wait()
			if got := w.told(); got != `{"action":"cancel"}`+"\n" {
				t.Errorf("the server is told %s", got)
			}
		})
	}
	t.Run("many", func(t *testing.T) {
		t.Parallel()
		const forms = 40
		w, s := orders(t, shop{Revision: "2026-07-28", Forms: forms}, false)
		run := w.start(w.runArgs(s, "--hold", "forever", "--on-question", "ask", "--check", "off")...)
		var asked []string
		for range 33 { // all of them before the first is answered: what comes after that is beyond nothing
			asked = append(asked, run.until("question").Question.ID)
		}
		for _, id := range asked[:32] {
			w.must("answer", id, "M")
		}
		rest := asked[32]
		lacksNone(t, "the question", w.must("show", rest), "It is all that the server asks beyond 32 things at once.")
		w.must("answer", rest, "Decline")
		run.wait()
		want := strings.Repeat(sizeM, 32) + strings.Repeat(`{"action":"decline"}`+"\n", forms-32)
		if got := strings.SplitAfter(w.told(), "\n"); !slices.Equal(slices.Sorted(slices.Values(got)),
			slices.Sorted(slices.Values(strings.SplitAfter(want, "\n")))) {
			t.Errorf("the server is told %q", got)
		}
	})
}
