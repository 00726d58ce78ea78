package telemetry

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"claude-supervise/checkpoints"
)

const (
	theCaller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	theAgent  = "a-7Qm2xK9fWb4T"
)

func environment(vars ...string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// A collector takes what is sent as the real one does: with the official messages.
type collector struct {
	t       *testing.T
	answer  func(*http.Request) (int, error) // nil: 200
	mu      sync.Mutex
	spans   []*trace.Span
	sums    map[string]float64
	headers []http.Header
	from    map[string]string // the resource
}

func (c *collector) RoundTrip(r *http.Request) (*http.Response, error) {
	status := http.StatusOK
	if c.answer != nil {
		var err error
		if status, err = c.answer(r); err != nil {
			return nil, err
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Error(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if status == http.StatusOK {
		c.headers = append(c.headers, r.Header)
		c.take(r.URL.Path, body)
	}
	return &http.Response{StatusCode: status, Body: http.NoBody}, nil
}

func (c *collector) take(path string, body []byte) {
	switch path {
	case "/v1/traces":
		var d trace.TracesData // on the wire the same as ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &d); err != nil {
			c.t.Error(err)
		}
		for _, r := range d.ResourceSpans {
			c.from = texts(r.Resource.Attributes)
			for _, s := range r.ScopeSpans {
				c.spans = append(c.spans, s.Spans...)
			}
		}
	case "/v1/metrics":
		var d metrics.MetricsData
		if err := proto.Unmarshal(body, &d); err != nil {
			c.t.Error(err)
		}
		c.sums = map[string]float64{}
		for _, m := range d.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			sum := m.GetSum()
			if sum.GetAggregationTemporality() != metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE ||
				!sum.GetIsMonotonic() {
				c.t.Errorf("%s is %v", m.Name, sum)
			}
			for _, p := range sum.GetDataPoints() {
				c.sums[strings.Join(append([]string{m.Name}, slices.Sorted(maps.Values(texts(p.Attributes)))...), " ")] =
					p.GetAsDouble()
			}
		}
	default:
		c.t.Errorf("something was sent to %s", path)
	}
}

func texts(all []*common.KeyValue) map[string]string {
	found := map[string]string{}
	for _, a := range all {
		found[a.Key] = a.Value.GetStringValue()
	}
	return found
}

func read(t *testing.T, vars ...string) Config {
	t.Helper()
	c, err := Read(environment(append([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318"}, vars...)...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// aRun is what the engine saves of a run with one agent that asks one question.
func aRun(begun time.Time, parent string) []checkpoints.Change {
	at := func(s int) *time.Time { t := begun.Add(time.Duration(s) * time.Second); return &t }
	config, err := json.Marshal(map[string]string{"trace_parent": parent})
	if err != nil {
		panic(err)
	}
	run := checkpoints.Run{ID: "r-abcd2345", StartedAt: begun, Status: checkpoints.Running, Epoch: 1, Config: config}
	ended, code := run, 0
	ended.Status, ended.EndedAt, ended.ExitCode = checkpoints.Succeeded, at(30), &code
	agent := checkpoints.Agent{ID: theAgent, Run: run.ID, Status: checkpoints.Queued, Task: "a secret task"}
	done := agent
	done.Status, done.EndedAt, done.Launches = checkpoints.Succeeded, at(29), 1
	done.Usage = checkpoints.Usage{InputTokens: 100, OutputTokens: 20, CostUSD: 0.25}
	launch := checkpoints.Launch{Agent: theAgent, N: 1, Phase: checkpoints.LaunchIdle, StartedAt: at(1)}
	over := launch
	over.Phase, over.EndedAt = checkpoints.LaunchEnded, at(28)
	q := checkpoints.Question{ID: "q-abc234", Run: run.ID, Agent: theAgent, Kind: "clarification",
		State: checkpoints.QuestionOpen, AskedAt: *at(2), Wording: checkpoints.Wording{Text: "a secret question"}}
	answered := q
	answered.State, answered.AnsweredAt, answered.Answer = checkpoints.QuestionAnswered, at(12), "a secret answer"
	delivered := answered
	delivered.State = checkpoints.QuestionDelivered
	event := func(s int) checkpoints.Event { return checkpoints.Event{Run: run.ID, At: *at(s)} }
	return []checkpoints.Change{
		{Run: &run, Agents: []*checkpoints.Agent{&agent}, Event: event(0)},
		{Launches: []*checkpoints.Launch{&launch}, Event: event(1)},
		{Questions: []*checkpoints.Question{&q}, Event: event(2)},
		{Questions: []*checkpoints.Question{&answered}, Event: event(13)},
		{Questions: []*checkpoints.Question{&delivered}, Event: event(14)},
		{Launches: []*checkpoints.Launch{&over}, Event: event(28)},
		{Agents: []*checkpoints.Agent{&done}, Launches: []*checkpoints.Launch{&over}, Event: event(29)},
		{Run: &ended, Event: event(30)},
	}
}

func TestARunIsSentAsTheOfficialMessagesReadIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		c := &collector{t: t}
		tel := Start(read(t, "OTEL_SERVICE_NAME=builds", "OTEL_EXPORTER_OTLP_HEADERS=api-key=a%20key",
			"OTEL_RESOURCE_ATTRIBUTES=team=red"), "v1", zerolog.Nop(), c)
		for _, change := range aRun(begun, theCaller) {
			tel.saved(change)
		}
		env := tel.Env(theAgent, 1)
		tel.Close()

		type row struct {
			Name, Parent, Status string
			From, To             int
		}
		names := map[string]string{"00f067aa0ba902b7": "the caller"}
		for _, s := range c.spans {
			names[hexOf(s.SpanId)] = s.Name
		}
		var rows []row
		for _, s := range c.spans {
			if got := hexOf(s.TraceId); got != "4bf92f3577b34da6a3ce929d0e0e4736" {
				t.Errorf("%s is of trace %s", s.Name, got)
			}
			if len(s.ProtoReflect().GetUnknown()) > 0 || s.Kind != trace.Span_SPAN_KIND_INTERNAL || s.Status != nil {
				t.Errorf("%s is %v", s.Name, s)
			}
			rows = append(rows, row{s.Name, names[hexOf(s.ParentSpanId)], texts(s.Attributes)["claude_supervise.status"],
				int(time.Unix(0, int64(s.StartTimeUnixNano)).Sub(begun).Seconds()),
				int(time.Unix(0, int64(s.EndTimeUnixNano)).Sub(begun).Seconds())})
		}
		if diff := cmp.Diff([]row{
			{"question", "agent", "answered", 2, 12}, {"launch", "agent", "", 1, 28}, {"agent", "run", "succeeded", 0, 29},
			{"run", "the caller", "succeeded", 0, 30},
		}, rows); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]float64{
			"claude_supervise.questions clarification": 1, "claude_supervise.questions.answered clarification": 1,
			"claude_supervise.question.wait clarification": 10,
			"claude_supervise.tokens input":                100, "claude_supervise.tokens output": 20, "claude_supervise.cost": 0.25,
		}, c.sums); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]string{"service.name": "builds", "service.version": "v1",
			"service.instance.id": "r-abcd2345.1", "team": "red"}, c.from); diff != "" {
			t.Error(diff)
		}
		if got := c.headers[0].Get("Api-Key"); got != "a key" {
			t.Errorf("the header is %q", got)
		}
		launch := c.spans[slices.IndexFunc(c.spans, func(s *trace.Span) bool { return s.Name == "launch" })]
		want := []string{"TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-" + hexOf(launch.SpanId) + "-01"}
		if diff := cmp.Diff(want, env); diff != "" {
			t.Error(diff)
		}
		for _, s := range c.spans {
			if strings.Contains(s.String(), "secret") {
				t.Errorf("a text was sent: %v", s)
			}
		}
	})
}

func hexOf(b []byte) string {
	const digits = "0123456789abcdef"
	var out []byte
	for _, c := range b {
		out = append(out, digits[c>>4], digits[c&15])
	}
	return string(out)
}

func TestASupervisorThatTakesOverSendsWhatEndsUnderIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := aRun(time.Now(), "")
		var l checkpoints.Loaded
		l.Run, l.Agents = *all[0].Run, map[string]*checkpoints.Agent{theAgent: all[0].Agents[0]}
		l.Launches, l.Questions = all[5].Launches, all[2].Questions
		c := &collector{t: t}
		tel := Start(read(t), "v1", zerolog.Nop(), c)
		tel.observer.loaded(l)
		for _, change := range all[3:] {
			tel.saved(change)
		}
		tel.Close()
		var names []string
		for _, s := range c.spans {
			names = append(names, s.Name)
		}
		if diff := cmp.Diff([]string{"question", "agent", "run"}, names); diff != "" {
			t.Error(diff)
		}
		if got := c.sums["claude_supervise.questions clarification"]; got != 0 {
			t.Errorf("%v questions of the supervisor before are counted again", got)
		}
	})
}

func TestNothingIsSentOfATraceThatIsNotSampled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{t: t}
		tel := Start(read(t), "v1", zerolog.Nop(), c)
		notSampled := strings.TrimSuffix(theCaller, "1") + "0"
		for _, change := range aRun(time.Now(), notSampled) {
			tel.saved(change)
		}
		if diff := cmp.Diff([]string{"TRACEPARENT=" + notSampled}, tel.Env(theAgent, 1)); diff != "" {
			t.Error(diff)
		}
		tel.Close()
		if len(c.spans) > 0 {
			t.Errorf("%v was sent", c.spans)
		}
		if c.sums["claude_supervise.cost"] != 0.25 {
			t.Errorf("the counters are %v", c.sums)
		}
	})
}

func TestACollectorKeepsTheEndForTwoSecondsAtMost(t *testing.T) {
	refused := errors.New("connection refused")
	for name, test := range map[string]struct {
		answer func(*http.Request) (int, error)
		most   time.Duration
	}{
		"hangs":          {func(r *http.Request) (int, error) { <-r.Context().Done(); return 0, r.Context().Err() }, lastWords},
		"is down":        {func(*http.Request) (int, error) { return 0, refused }, 0},
		"is overloaded":  {func(*http.Request) (int, error) { return 503, nil }, 0},
		"does not agree": {func(*http.Request) (int, error) { return 400, nil }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tel := Start(read(t), "v1", zerolog.Nop(), &collector{t: t, answer: test.answer})
				began := time.Now()
				for _, change := range aRun(began, "") {
					tel.saved(change)
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("the run waited %v", took)
				}
				time.Sleep(time.Minute) // requests are under way, or wait to be sent again
				closing := time.Now()
				tel.Close()
				if took := time.Since(closing); took > test.most {
					t.Errorf("the end waited %v", took)
				}
			})
		})
	}
}

func TestWhatACollectorRefusedForNowIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := true
		c := &collector{t: t, answer: func(*http.Request) (int, error) {
			if down {
				return 503, nil
			}
			return 200, nil
		}}
		tel := Start(read(t), "v1", zerolog.Nop(), c)
		for _, change := range aRun(time.Now(), "") {
			tel.saved(change)
		}
		time.Sleep(batchWait + time.Second)
		down = false
		time.Sleep(sendAgain)
		synctest.Wait()
		if len(c.spans) != 4 || c.sums["claude_supervise.cost"] != 0.25 {
			t.Errorf("%d spans and %v have come", len(c.spans), c.sums)
		}
		tel.Close()
		if len(c.spans) != 4 {
			t.Errorf("%d spans have come: some twice", len(c.spans))
		}
	})
}

func TestSpansThatNobodyTakesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tel := Start(read(t), "v1", zerolog.Nop(), &collector{t: t, answer: func(*http.Request) (int, error) { return 503, nil }})
		tel.saved(aRun(time.Now(), "")[0])
		for range 10 * mostWaiting {
			tel.queue([]span{{}})
		}
		if n := len(tel.waiting); n != mostWaiting {
			t.Errorf("%d spans wait", n)
		}
		tel.Close()
	})
}

func TestVariablesSayWhereTo(t *testing.T) {
	const base, traces = "OTEL_EXPORTER_OTLP_ENDPOINT=", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="
	for name, test := range map[string]struct {
		vars            []string
		traces, metrics string
		problem         string
	}{
		"nothing":          {nil, "", "", ""},
		"an exporter only": {[]string{"OTEL_TRACES_EXPORTER=otlp"}, "", "", ""},
		"one for all":      {[]string{base + "http://c:4318/"}, "http://c:4318/v1/traces", "http://c:4318/v1/metrics", ""},
		"one of its own":   {[]string{traces + "https://c/x"}, "https://c/x", "", ""},
		"no metrics":       {[]string{base + "http://c", "OTEL_METRICS_EXPORTER=none"}, "http://c/v1/traces", "", ""},
		"disabled":         {[]string{base + "http://c", "OTEL_SDK_DISABLED=true"}, "", "", ""},
		"gRPC": {[]string{base + "http://c", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, "", "",
			"OTEL_EXPORTER_OTLP_PROTOCOL=grpc"},
		"no address":   {[]string{base + "collector:4318"}, "", "", "OTEL_EXPORTER_OTLP_ENDPOINT"},
		"a bad header": {[]string{base + "http://c", "OTEL_EXPORTER_OTLP_HEADERS=secret"}, "", "", "entry 1"},
		"a bad time":   {[]string{base + "http://c", "OTEL_EXPORTER_OTLP_TIMEOUT=soon"}, "", "", "OTLP_TIMEOUT"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Read(environment(test.vars...))
			if c.traces.url != test.traces || c.metrics.url != test.metrics {
				t.Errorf("traces go to %q, metrics to %q", c.traces.url, c.metrics.url)
			}
			switch {
			case (err != nil) != (test.problem != ""):
				t.Errorf("the error is %v", err)
			case err != nil && (!strings.Contains(err.Error(), test.problem) || strings.Contains(err.Error(), "secret")):
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestOnlyAWholeTraceparentIsOne(t *testing.T) {
	for text, want := range map[string]string{
		theCaller:                   theCaller,
		"01" + theCaller[2:] + "-x": theCaller,
		"00" + theCaller[2:] + "-x": "",
		"ff" + theCaller[2:]:        "",
		"":                          "",
		theCaller + "\nA=B":         "",
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": "",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01": "",
	} {
		if got := ValidParent(text); got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
}
