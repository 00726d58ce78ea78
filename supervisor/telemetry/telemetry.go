package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/engine"
)

const (
	batchWait = 5 * time.Second  // how long what is to be sent waits for more
	sendAgain = 30 * time.Second // after the collector did not take it
	// lastWords is how long Close waits at most for what is not yet sent: a collector that is slow, down or hangs keeps
	// the end of a run no longer.
	lastWords = 2 * time.Second
	// Spans that wait for the collector: more than that are dropped, the newest first.
	mostWaiting = 4096
	mostAtOnce  = 512
)

// A Telemetry sends what happens in one run. Its methods never wait for the network, Close excepted.
type Telemetry struct {
	config   Config
	version  string
	log      zerolog.Logger
	client   *http.Client
	observer *observer

	mu      sync.Mutex
	waiting []span
	dropped int
	changed bool // since the counters were sent

	wake    chan struct{}
	closing chan struct{}
	sending sync.WaitGroup
	cancel  context.CancelFunc
}

// Start begins to send, in a goroutine that Close ends. transport is http.DefaultTransport but in tests.
func Start(c Config, version string, log zerolog.Logger, transport http.RoundTripper) *Telemetry {
	ctx, cancel := context.WithCancel(context.Background())
	t := &Telemetry{
		config: c, version: version, log: log, wake: make(chan struct{}, 1), closing: make(chan struct{}),
		cancel: cancel,
		// Headers may hold a secret: it goes where the person said, and nowhere else.
		client: &http.Client{Transport: transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	t.observer = newObserver(time.Now(), t.queue)
	t.sending.Go(func() { t.run(ctx) })
	return t
}

// saved takes a change of the run, once it is saved.
func (t *Telemetry) saved(c checkpoints.Change) {
	t.observer.saved(c)
	t.mu.Lock()
	t.changed = t.changed || len(c.Questions)+len(c.Agents) > 0
	due := t.changed || len(t.waiting) > 0
	t.mu.Unlock()
	if due {
		select {
		case t.wake <- struct{}{}:
		default:
		}
	}
}

// Env returns what the process of a launch has in its environment: its launch's span as TRACEPARENT. Without spans it
// is nothing, and the agent has the TRACEPARENT of whoever started the supervisor.
func (t *Telemetry) Env(agent string, launch int) []string {
	if parent := t.observer.traceparent(agent, launch); parent != "" && t.config.traces.url != "" {
		return []string{"TRACEPARENT=" + parent}
	}
	return nil
}

// Close sends what is left, for lastWords at most, and ends the sending.
func (t *Telemetry) Close() {
	bound := time.AfterFunc(lastWords, t.cancel)
	defer bound.Stop()
	close(t.closing)
	t.sending.Wait()
	t.cancel()
}

func (t *Telemetry) queue(spans []span) {
	if t.config.traces.url == "" || !t.observer.sampled() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	room := max(0, mostWaiting-len(t.waiting))
	t.dropped += max(0, len(spans)-room)
	t.waiting = append(t.waiting, spans[:min(room, len(spans))]...)
}

// run sends what there is, some time after it has come. While nothing happens it waits without a timer.
func (t *Telemetry) run(ctx context.Context) {
	for {
		select {
		case <-t.wake:
		case <-t.closing:
			t.sendAll(ctx)
			return
		}
		for pause := batchWait; pause > 0; {
			select {
			case <-time.After(pause):
			case <-t.closing:
				t.sendAll(ctx)
				return
			}
			pause = 0
			if !t.sendAll(ctx) {
				pause = sendAgain
			}
		}
	}
}

// sendAll sends what waits, and reports whether the collector took it, or never will.
func (t *Telemetry) sendAll(ctx context.Context) (done bool) {
	spans, counters := t.sendSpans(ctx), t.sendCounters(ctx)
	return spans && counters
}

func (t *Telemetry) sendSpans(ctx context.Context) bool {
	for {
		t.mu.Lock()
		batch := t.waiting[:min(len(t.waiting), mostAtOnce)]
		dropped := t.dropped
		t.dropped = 0
		t.mu.Unlock()
		if dropped > 0 {
			t.log.Warn().Int("spans", dropped).Msg("the collector is too slow: spans were dropped")
		}
		if len(batch) == 0 {
			return true
		}
		var encoded []message
		for _, s := range batch {
			encoded = append(encoded, s.encode())
		}
		_, _, instance := t.observer.sums()
		if again := t.post(ctx, t.config.traces, withResource(t.resource(instance), t.version, encoded)); again {
			return false
		}
		t.mu.Lock()
		t.waiting = t.waiting[len(batch):]
		t.mu.Unlock()
	}
}

func (t *Telemetry) sendCounters(ctx context.Context) bool {
	t.mu.Lock()
	changed := t.changed
	t.changed = false
	t.mu.Unlock()
	if !changed || t.config.metrics.url == "" {
		return true
	}
	all, began, instance := t.observer.sums()
	now := time.Now()
	var encoded []message
	for _, c := range all {
		encoded = append(encoded, c.encode(began, now))
	}
	if len(encoded) == 0 {
		return true
	}
	if again := t.post(ctx, t.config.metrics, withResource(t.resource(instance), t.version, encoded)); again {
		t.mu.Lock()
		t.changed = true
		t.mu.Unlock()
		return false
	}
	return true
}

// resource says what sends: the supervisor of a run, which later ones of the run are told apart from.
func (t *Telemetry) resource(instance string) []attribute {
	return append([]attribute{{"service.name", t.config.service}, {"service.version", t.version},
		{"service.instance.id", instance}}, t.config.resource...)
}

// post sends a request, and reports whether it is worth while to send it again.
func (t *Telemetry) post(ctx context.Context, to target, body []byte) (again bool) {
	ctx, cancel := context.WithTimeout(ctx, to.timeout)
	defer cancel()
	status, err := t.request(ctx, to, body)
	if err == nil && status/100 == 2 {
		return false
	}
	switch status {
	case 0, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	t.log.Warn().Err(err).Int("status", status).Bool("again", again).Msg("the OpenTelemetry collector did not take it")
	return again
}

func (t *Telemetry) request(ctx context.Context, to target, body []byte) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(body))
	if err != nil {
		return http.StatusBadRequest, fmt.Errorf("the request cannot be made: %w", err)
	}
	for key, value := range to.headers {
		req.Header.Set(key, value)
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("User-Agent", "claude-supervise/"+t.version)
	resp, err := t.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	// So that the connection can be used again. What a collector answers in it is of no use here.
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	return resp.StatusCode, err
}

// Store has a supervisor's records pass by here: those of a run that it takes over, and each change once it is saved.
func (t *Telemetry) Store(s engine.Store) engine.Store { return store{s, t} }

type store struct {
	engine.Store
	telemetry *Telemetry
}

func (s store) Load(ctx context.Context, run string) (checkpoints.Loaded, error) {
	l, err := s.Store.Load(ctx, run)
	if err == nil {
		s.telemetry.observer.loaded(l)
	}
	return l, err
}

func (s store) Commit(ctx context.Context, c checkpoints.Change) error {
	err := s.Store.Commit(ctx, c)
	if err == nil {
		s.telemetry.saved(c)
	}
	return err
}
