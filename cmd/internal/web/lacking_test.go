package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"claude-supervise/supervisor/service"
)

// What a program cannot do is on none of its pages, and the API has no address for it.
func TestThePageHasNothingOfWhatItsProgramCannotDo(t *testing.T) {
	state := elsewhere{newState(1), memoryLog{}}
	state.runs[0].Cwd, state.runs[0].Worker = "", "<one>"
	s := New(Config{Token: token, Port: 7433, Service: struct{ service.Service }{state},
		Program: "claude-supervise fleet", Stops: "Processes are ended.", Card: plainCard,
		Clean: func(text string) string { return text }})
	var following sync.WaitGroup
	following.Go(func() { s.Run(t.Context()) })
	server := httptest.NewServer(s)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	t.Cleanup(following.Wait)
	for path, has := range map[string][]string{
		"/":                {"claude-supervise fleet</title>", "&lt;one&gt;", ">Stop<"},
		"/runs/r-aaaaaaaa": {"&lt;one&gt;", ">Stop<"},
		"/agents/a-child":  {">Stop<", "Stop a child, and what it started?"},
	} {
		reply, page := call{method: "GET", path: path}.do(t, server)
		if reply.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, reply.Status)
		}
		for _, text := range has {
			if !strings.Contains(page, text) {
				t.Errorf("%s lacks %s:\n%s", path, text, page)
			}
		}
		for _, text := range []string{"Resume", "/message", "/report", "/change", "/retry", "/prune", "data-made", "data-before", `id="away"`, "/start", ` folder">in`, "/again", "/keep", "/compare"} {
			if strings.Contains(page, text) {
				t.Errorf("%s has %s", path, text)
			}
		}
	}
	for _, c := range []call{
		{method: "POST", path: "/api/runs"}, {method: "GET", path: "/start"}, {method: "POST", path: "/start"},
		{method: "POST", path: "/api/runs/r-aaaaaaaa/resume"}, {method: "POST", path: "/runs/r-aaaaaaaa/resume"},
		{method: "POST", path: "/api/agents/a-child/message"}, {method: "POST", path: "/agents/a-child/message"},
		{method: "GET", path: "/runs/r-aaaaaaaa/report"}, {method: "POST", path: "/api/answer/right"},
		{method: "GET", path: "/runs/r-aaaaaaaa/change"}, {method: "POST", path: "/look"}, {method: "POST", path: "/runs/r-aaaaaaaa/retry"},
		{method: "POST", path: "/runs/r-aaaaaaaa/prune"}, {method: "POST", path: "/runs/r-aaaaaaaa/keep"},
		{method: "GET", path: "/runs/r-aaaaaaaa/compare"}, {method: "POST", path: "/questions/q-1/again"},
		{method: "GET", path: "/questions/q-1/before"}, {method: "GET", path: "/api/questions/q-1/precedents"},
	} {
		reply, text := c.do(t, server)
		if reply.StatusCode != http.StatusNotFound && reply.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s %s gets %s: %s", c.method, c.path, reply.Status, text)
		}
	}
}

func TestAPersonIsAskedByNameWhetherToStop(t *testing.T) {
	state := elsewhere{newState(0), memoryLog{}}
	state.runs[0].Name = "nightly"
	server := serving(t, state)
	for path, want := range map[string]string{
		"/runs/a-child/stop":    "Stop a child, and what it started?",
		"/runs/r-aaaaaaaa/stop": "Stop nightly, and what it started?",
	} {
		form := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
		if _, page := (call{method: "POST", path: path, header: form}).do(t, server); !strings.Contains(page, want) {
			t.Errorf("%s asks:\n%s", path, page)
		}
	}
}

func TestARunOnAnotherWorkerIsDrawnAnew(t *testing.T) {
	one := newState(0).runs[0]
	two := one
	one.Worker, two.Worker = "one", "two"
	if treeOf(one, 1).Version() == treeOf(two, 1).Version() {
		t.Error("the page keeps the worker that a run had")
	}
}
