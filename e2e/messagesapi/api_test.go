package messagesapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/examples"
)

const scenario = `
name: case
about: a case
prompt: do it
turns:
  - when: "## YOUR TASK"
    replies:
      - text: I write.
        tools:
          - {name: Write, input: {file_path: "{{cwd}}/x", content: "a\nb"}}
          - {name: List}
      - text: done
  - when: "## FAIL"
    replies: [{api_error: {status: 529, message: Overloaded}}]
  - when: "## BILL"
    replies: [{text: dear, usage: {input: 7, output: 5, cache_read: 3, cache_write: 2}}]
  - when: "## LIMIT"
    replies: [{api_error: {status: 429, message: "You've hit your limit · resets {{reset}}", lasts: 90s}}, {text: past it}]
  - when: "## HANG"
    replies: [{hang: true}]
  - when: "## CRASH"
    replies: [{crash: 137}]
expect: {status: succeeded}
`

func serve(t *testing.T, onRequest func(Request)) (*API, *httptest.Server) {
	t.Helper()
	s, err := examples.Parse([]byte(scenario))
	if err != nil {
		t.Fatal(err)
	}
	api := New(s, onRequest)
	server := httptest.NewServer(api)
	t.Cleanup(func() { api.Close(); server.Close() })
	return api, server
}

// body is a request as the CLI makes it.
func body(stream bool, messages ...string) string {
	tools, streamed := `[{"name":"Write"}]`, "false"
	if stream {
		streamed = "true"
	}
	return `{"model":"m","stream":` + streamed + `,"tools":` + tools +
		`,"system":[{"type":"text","text":"Primary working directory: /w"}],"messages":[` + strings.Join(messages, ",") + `]}`
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(data)
}

const (
	task     = `{"role":"user","content":"## YOUR TASK"}`
	firstOne = `{"role":"assistant","content":[{"type":"text","text":"I ` +
		`write."},{"type":"tool_use","id":"t","name":"Write","input":{}}]}`
	result = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"ok"}]}]}`
)

func TestAStreamedReplyIsTheEventsOfAMessage(t *testing.T) {
	_, server := serve(t, nil)
	code, text := post(t, server.URL+"/v1/messages?beta=true", body(true, task))
	if code != http.StatusOK {
		t.Fatalf("status %d: %s", code, text)
	}
	var got []string
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		event, ok := strings.CutPrefix(lines.Text(), "event: ")
		if !ok {
			continue
		}
		lines.Scan()
		var data struct {
			Type         string
			Index        int
			Message      struct{ Role, Model string }
			ContentBlock struct{ Type, Name string } `json:"content_block"`
			Delta        struct {
				Type, Text  string
				PartialJSON string `json:"partial_json"`
				StopReason  string `json:"stop_reason"`
			}
		}
		raw, _ := strings.CutPrefix(lines.Text(), "data: ")
		if err := json.Unmarshal([]byte(raw), &data); err != nil {
			t.Fatal(err)
		}
		if data.Type != event {
			t.Errorf("the event %s says it is %s", event, data.Type)
		}
		got = append(got, strings.Join(strings.Fields(strings.Join([]string{
			event, data.Message.Role, data.Message.Model, data.ContentBlock.Type, data.ContentBlock.Name,
			data.Delta.Text, data.Delta.PartialJSON, data.Delta.StopReason,
		}, " ")), " "))
	}
	want := []string{
		"message_start assistant m",
		"content_block_start text", "content_block_delta I write.", "content_block_stop",
		"content_block_start tool_use Write", `content_block_delta {"content":"a\nb","file_path":"/w/x"}`,
		"content_block_stop",
		"content_block_start tool_use List", "content_block_delta {}", "content_block_stop",
		"message_delta tool_use", "message_stop",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAReplyIsOneDocumentWhereNoStreamIsAskedFor(t *testing.T) {
	_, server := serve(t, nil)
	_, text := post(t, server.URL+"/v1/messages", body(false, task, firstOne, result))
	var m struct {
		Content    []struct{ Type, Text string }
		StopReason string `json:"stop_reason"`
		Usage      struct {
			Input int `json:"input_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Content) != 1 || m.Content[0].Text != "done" || m.StopReason != "end_turn" || m.Usage.Input != 120 {
		t.Errorf("the reply is %s", text)
	}
}

func TestWhatTheModelHeardIsKept(t *testing.T) {
	var seen []string
	api, server := serve(t, func(r Request) { seen = append(seen, r.Reply.Text) })
	post(t, server.URL+"/v1/messages", `{"model":"m","messages":[{"role":"user","content":"a title, please"}]}`)
	post(t, server.URL+"/v1/messages", body(false, task, firstOne, result))
	requests := api.Requests()
	if len(requests) != 2 || !requests[0].Side || requests[1].Side {
		t.Fatalf("the requests are %+v", requests)
	}
	want := []examples.Message{
		{Role: examples.System, Texts: []string{"Primary working directory: /w"}},
		{Role: examples.User, Texts: []string{"## YOUR TASK"}},
		{Role: examples.Assistant, Texts: []string{"I write."}},
		{Role: examples.User, Texts: []string{"ok"}},
	}
	if diff := cmp.Diff(want, requests[1].Conversation); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"done"}, seen); diff != "" {
		t.Errorf("a side request is not a part of the scenario: %s", diff)
	}
	if !api.Received("YOUR TASK") || api.Received("I write.") {
		t.Error("received is what a user said, and only that")
	}
}

func TestAFailureHasTheFormOfTheAPI(t *testing.T) {
	_, server := serve(t, nil)
	code, text := post(t, server.URL+"/v1/messages", body(true, `{"role":"user","content":"## FAIL"}`))
	if want := `{"error":{"message":"Overloaded","type":"overloaded_error"},"type":"error"}`; code != 529 ||
		strings.TrimSpace(text) != want {
		t.Errorf("status %d: %s", code, text)
	}
	for _, nonsense := range []string{"", "{", `{"messages":3}`, `{"messages":[{"content":3}]}`} {
		if code, text := post(t, server.URL+"/v1/messages", nonsense); code != http.StatusBadRequest ||
			!strings.Contains(text, "invalid_request_error") {
			t.Errorf("%q gives %d: %s", nonsense, code, text)
		}
	}
}

func TestAReplyIsBilledAsItSays(t *testing.T) {
	_, server := serve(t, nil)
	_, text := post(t, server.URL+"/v1/messages", body(false, `{"role":"user","content":"## BILL"}`))
	want := `"usage":{"input_tokens":7,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":5}`
	if !strings.Contains(text, want) {
		t.Errorf("the reply is %s, without %s", text, want)
	}
}

func TestTheLimitOfOneAgentIsThatOfAllUntilItHasPassed(t *testing.T) {
	s, err := examples.Parse([]byte(scenario))
	if err != nil {
		t.Fatal(err)
	}
	api := New(s, nil)
	start := time.Date(2026, 11, 21, 2, 58, 29, 1, time.UTC)
	told := func(heading string) []examples.Message {
		return []examples.Message{{Role: examples.User, Texts: []string{heading}}}
	}
	for _, step := range []struct {
		after   time.Duration
		heading string
		want    string // of the reply, or of its failure
	}{
		{0, "## YOUR TASK", "I write."},
		{0, "## LIMIT", "You've hit your limit · resets 2026-11-21T03:00:00Z"},
		{time.Second, "## YOUR TASK", "You've hit your limit · resets 2026-11-21T03:00:00Z"},
		{89 * time.Second, "## LIMIT", "You've hit your limit · resets 2026-11-21T03:00:00Z"},
		{91 * time.Second, "## YOUR TASK", "I write."},
		{92 * time.Second, "## LIMIT", "past it"},
	} {
		reply := api.next(told(step.heading), start.Add(step.after))
		got := reply.Text
		if reply.APIError != nil {
			got = reply.APIError.Message
		}
		if got != step.want {
			t.Errorf("after %v %s gets %q, not %q", step.after, step.heading, got, step.want)
		}
	}
}

func TestARequestTellsWhoseItIs(t *testing.T) {
	api, server := serve(t, nil)
	post(t, server.URL+"/v1/messages",
		body(false, `{"role":"user","content":"Your agent id: a-7Qm2xK9fWb4T\n\n## YOUR TASK"}`))
	post(t, server.URL+"/v1/messages", body(false, task))
	if got := api.Requests(); got[0].Agent != "a-7Qm2xK9fWb4T" || got[1].Agent != "" {
		t.Errorf("they are of %q and %q", got[0].Agent, got[1].Agent)
	}
}

func TestTokensAreCounted(t *testing.T) {
	_, server := serve(t, nil)
	if code, text := post(t, server.URL+"/v1/messages/count_tokens", body(false, task)); code != http.StatusOK ||
		!strings.Contains(text, `"input_tokens":120`) {
		t.Errorf("status %d: %s", code, text)
	}
}

func TestARequestThatGetsNoReplyHangsUntilItsClientLeavesOrClose(t *testing.T) {
	for _, heading := range []string{"## HANG", "## CRASH"} {
		t.Run(heading, func(t *testing.T) {
			arrived := make(chan Request, 2)
			api, server := serve(t, func(r Request) { arrived <- r })
			text := body(true, `{"role":"user","content":"`+heading+`"}`)

			ctx, leave := context.WithCancel(t.Context())
			left := make(chan error)
			go func() {
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/messages", bytes.NewBufferString(text))
				if err == nil {
					_, err = http.DefaultClient.Do(r) //nolint:bodyclose // there is none: it fails
				}
				left <- err
			}()
			if r := <-arrived; heading == "## CRASH" && r.Reply.Crash != 137 {
				t.Errorf("the test is not told of the crash: %+v", r)
			}
			select {
			case err := <-left:
				t.Fatalf("it has ended: %v", err)
			default:
			}
			leave()
			if err := <-left; err == nil {
				t.Error("it has had a reply")
			}

			answered := make(chan int)
			go func() {
				r, err := http.Post(server.URL+"/v1/messages", "application/json", strings.NewReader(text))
				if err != nil {
					answered <- 0
					return
				}
				_ = r.Body.Close()
				answered <- r.StatusCode
			}()
			<-arrived
			api.Close()
			if code := <-answered; code != http.StatusServiceUnavailable {
				t.Errorf("status %d", code)
			}
		})
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(body(true, task, firstOne, result)))
	f.Add([]byte(body(true, task, firstOne)))
	f.Add(
		[]byte(`{"system":"x","tools":[1],"messages":[{"role":"user","content":[{"type":"tool_result","content":[[]]}]}]}`))
	s, err := examples.Parse([]byte(scenario))
	if err != nil {
		f.Fatal(err)
	}
	api := New(s, nil)
	api.Close()
	f.Fuzz(func(t *testing.T, data []byte) {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/messages", bytes.NewReader(data)))
		var request requestBody
		valid := json.NewDecoder(bytes.NewReader(data)).Decode(&request) == nil && request.unpaired() == ""
		if valid == (w.Code == http.StatusBadRequest) {
			t.Errorf("status %d for %q", w.Code, data)
		}
	})
}
