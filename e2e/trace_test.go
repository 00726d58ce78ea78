package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"claude-supervise/e2e/messagesapi"
	"claude-supervise/examples"
)

// The real CLI, told to trace, takes its place in the trace that TRACEPARENT names: what started the run sees what its
// agent did.
func TestTheAgentsSpansBelongToTheTraceThatStartedTheRun(t *testing.T) {
	t.Parallel()
	const trace, caller = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	type span struct{ Name, TraceID, ParentSpanID string }
	var mu sync.Mutex
	var spans []span
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var sent struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []span }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Errorf("%s: %v", r.URL, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range sent.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				spans = append(spans, scope.Spans...)
			}
		}
	}))
	defer collector.Close()

	s, err := examples.Load("ask")
	noError(t, err)
	w := newWorld(t).real(s, func(messagesapi.Request) {})
	w.Env = append(w.Env, "TRACEPARENT=00-"+trace+"-"+caller+"-01", "CLAUDE_CODE_ENABLE_TELEMETRY=1",
		"CLAUDE_CODE_ENHANCED_TELEMETRY_BETA=1", "OTEL_TRACES_EXPORTER=otlp", "OTEL_EXPORTER_OTLP_PROTOCOL=http/json",
		"OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
	w.must(w.runArgs(s, "--quiet", "--answer", "way of login=JWT")...)
	mu.Lock()
	defer mu.Unlock()
	if !slices.ContainsFunc(spans, func(s span) bool { return s.TraceID == trace && s.ParentSpanID == caller }) {
		t.Errorf("no span has the caller as its parent: %+v", spans)
	}
	if i := slices.IndexFunc(spans, func(s span) bool { return s.TraceID != trace }); i >= 0 {
		t.Errorf("%+v is in another trace", spans[i])
	}
}
