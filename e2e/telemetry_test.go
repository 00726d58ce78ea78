package e2e

import (
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"claude-supervise/e2e/messagesapi"
	"claude-supervise/examples"
)

// A collector of OpenTelemetry that reads what comes with the official messages.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []tracedSpan
	sums  map[string]float64 // the counters, by name, over their points
}

// A tracedSpan is a span with its ids as TRACEPARENT has them.
type tracedSpan struct{ name, trace, id, parent string }

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{sums: map[string]float64{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		switch r.URL.Path {
		case "/v1/traces":
			var d trace.TracesData
			if err := proto.Unmarshal(body, &d); err != nil {
				t.Error(err)
			}
			c.takeSpans(&d)
		case "/v1/metrics":
			var d metrics.MetricsData
			if err := proto.Unmarshal(body, &d); err != nil {
				t.Error(err)
			}
			c.takeSums(&d)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) takeSpans(d *trace.TracesData) {
	for _, r := range d.ResourceSpans {
		for _, scope := range r.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, tracedSpan{s.Name, hex.EncodeToString(s.TraceId), hex.EncodeToString(s.SpanId),
					hex.EncodeToString(s.ParentSpanId)})
			}
		}
	}
}

func (c *collector) takeSums(d *metrics.MetricsData) {
	for _, r := range d.ResourceMetrics {
		for _, scope := range r.ScopeMetrics {
			for _, m := range scope.Metrics {
				if !strings.HasPrefix(m.Name, "claude_supervise.") {
					continue // claude's own
				}
				c.sums[m.Name] = 0
				for _, p := range m.GetSum().GetDataPoints() {
					c.sums[m.Name] += p.GetAsDouble()
				}
			}
		}
	}
}

// named returns the spans of a name.
func (c *collector) named(name string) []tracedSpan {
	return slices.DeleteFunc(slices.Clone(c.spans), func(s tracedSpan) bool { return s.name != name })
}

const (
	callersTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callersSpan  = "00f067aa0ba902b7"
	caller       = "TRACEPARENT=00-" + callersTrace + "-" + callersSpan + "-01"
)

// Two supervisors have one run after the other: their spans are one trace, below the span that started the run.
func TestAParkedRunAndItsResumeAreOneTrace(t *testing.T) {
	t.Parallel()
	s, err := examples.Load("ask")
	noError(t, err)
	w := newWorld(t).standIn(s)
	c := newCollector(t)
	w.Env = append(w.Env, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL)
	env := w.Env
	w.Env = append(slices.Clip(env), caller)
	w.exits(75, w.runArgs(s, "--on-question", "park", "--hold", "0")...)
	if runs := c.named("run"); len(runs) > 0 {
		t.Errorf("%+v was sent of a run that has not ended", runs)
	}
	w.Env = env // whoever resumes is of no trace
	w.must("answer", "JWT")
	w.must("resume", w.ps().ID)

	c.mu.Lock()
	defer c.mu.Unlock()
	names := map[string]string{callersSpan: "caller"}
	for _, s := range c.spans {
		names[s.id] = s.name
	}
	tree := map[string]int{}
	for _, s := range c.spans {
		if s.trace != callersTrace {
			t.Errorf("%+v is in another trace", s)
		}
		tree[names[s.parent]+" > "+s.name]++
	}
	if diff := cmp.Diff(map[string]int{"caller > run": 1, "run > agent": 1, "agent > launch": 2, "agent > question": 1},
		tree); diff != "" {
		t.Error(diff)
	}
	if n := c.sums["claude_supervise.questions.answered"]; n != 1 {
		t.Errorf("the counters are %v", c.sums)
	}
}

// What the real CLI sends stands below the launch that it is.
func TestTheRealCLIsSpansStandBelowItsLaunch(t *testing.T) {
	t.Parallel()
	s, err := examples.Load("ask")
	noError(t, err)
	w := newWorld(t).real(s, func(messagesapi.Request) {})
	c := newCollector(t)
	w.Env = append(w.Env, caller, "CLAUDE_CODE_ENABLE_TELEMETRY=1", "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA=1",
		"OTEL_TRACES_EXPORTER=otlp", "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL)
	w.must(w.runArgs(s, "--quiet", "--answer", "way of login=JWT")...)
	c.mu.Lock()
	defer c.mu.Unlock()
	launches := c.named("launch")
	if len(launches) != 1 {
		t.Fatalf("the launches are %+v", launches)
	}
	if !slices.ContainsFunc(c.spans, func(s tracedSpan) bool { return s.parent == launches[0].id }) {
		t.Errorf("no span has the launch as its parent: %+v", c.spans)
	}
	for _, s := range c.spans {
		if s.trace != callersTrace {
			t.Errorf("%+v is in another trace", s)
		}
	}
}

func TestACollectorThatHangsChangesNothing(t *testing.T) {
	t.Parallel()
	s, err := examples.Load("ask")
	noError(t, err)
	hangs, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and says nothing
	noError(t, err)
	defer func() { _ = hangs.Close() }()
	args := []string{"--quiet", "--answer", "way of login=JWT"}
	w := newWorld(t).standIn(s)
	want := w.must(w.runArgs(s, args...)...)
	w.Env = append(w.Env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+hangs.Addr().String())
	if got := w.must(w.runArgs(s, args...)...); got != want {
		t.Errorf("with a collector that hangs it prints %q, without %q", got, want)
	}
}
