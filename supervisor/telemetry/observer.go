package telemetry

import (
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"claude-supervise/checkpoints"
)

// An observer makes spans and counters of the records of one run, as they are saved.
type observer struct {
	send func([]span)

	mu        sync.Mutex
	run       *checkpoints.Run // nil: nothing is known of it yet
	caller    traceparent      // zero: nothing with a trace has started the run
	began     time.Time        // when this supervisor's counters began
	agents    map[string]*seenAgent
	launches  map[string]bool // by their span's name: ended, and sent
	questions map[string]bool // by id: not open any more, and sent
	counters  totals
}

// A seenAgent is what an agent's earlier records said.
type seenAgent struct {
	began time.Time
	ended bool // and its span was sent
	usage checkpoints.Usage
}

// totals are the counters.
type totals struct {
	asked, answered map[checkpoints.QuestionKind]float64
	waited          map[checkpoints.QuestionKind]float64 // in seconds
	input, output   float64
	cost            float64
}

func newObserver(now time.Time, send func([]span)) *observer {
	return &observer{send: send, began: now, agents: map[string]*seenAgent{}, launches: map[string]bool{},
		questions: map[string]bool{}, counters: totals{asked: map[checkpoints.QuestionKind]float64{},
			answered: map[checkpoints.QuestionKind]float64{}, waited: map[checkpoints.QuestionKind]float64{}}}
}

// loaded takes a run as earlier supervisors have left it: what has ended by then is theirs.
func (o *observer) loaded(l checkpoints.Loaded) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known(&l.Run)
	begun := map[string]time.Time{}
	for _, launch := range l.Launches {
		if at, ok := begun[launch.Agent]; launch.StartedAt != nil && (!ok || launch.StartedAt.Before(at)) {
			begun[launch.Agent] = *launch.StartedAt
		}
		o.launches[launchKey(launch.Agent, launch.N)] = launch.EndedAt != nil
	}
	for id, a := range l.Agents {
		at, ok := begun[id]
		if !ok {
			at = l.Run.StartedAt
		}
		o.agents[id] = &seenAgent{began: at, ended: a.EndedAt != nil, usage: a.Usage}
	}
	for _, q := range l.Questions {
		o.questions[q.ID] = q.State != checkpoints.QuestionOpen
	}
}

// saved takes a change that was saved.
func (o *observer) saved(c checkpoints.Change) {
	o.mu.Lock()
	defer o.mu.Unlock()
	runEnded := o.run != nil && o.run.EndedAt != nil
	if c.Run != nil {
		o.known(c.Run)
	}
	if o.run == nil {
		return
	}
	var spans []span
	for _, l := range c.Launches {
		if s, ok := o.launch(l); ok {
			spans = append(spans, s)
		}
	}
	for _, q := range c.Questions {
		if s, ok := o.question(q, c.Event.At); ok {
			spans = append(spans, s)
		}
	}
	for _, a := range c.Agents {
		if s, ok := o.agent(a, c.Event.At); ok {
			spans = append(spans, s)
		}
	}
	if c.Run != nil && c.Run.EndedAt != nil && !runEnded {
		spans = append(spans, o.ended())
	}
	if len(spans) > 0 {
		o.send(spans)
	}
}

// known takes the run's record.
func (o *observer) known(r *checkpoints.Run) {
	if o.run == nil {
		var config struct {
			TraceParent string `json:"trace_parent"`
		}
		if json.Unmarshal(r.Config, &config) == nil { // whoever loads the run says what is wrong with it
			o.caller, _ = parseTraceparent(config.TraceParent)
		}
	}
	copied := *r
	o.run = &copied
}

// sampled reports whether spans are sent: whoever started the run may have decided that its trace is not kept.
func (o *observer) sampled() bool { return o.caller == traceparent{} || o.caller.sampled }

func (o *observer) trace() traceID {
	if o.caller != (traceparent{}) {
		return o.caller.trace
	}
	return traceOf(o.run.ID)
}

// span begins a span of the run.
func (o *observer) span(name string, id, parent spanID, from, to time.Time) span {
	return span{trace: o.trace(), id: id, parent: parent, name: name, from: from, to: to,
		attributes: []attribute{{"claude_supervise.run", o.run.ID}}}
}

func (o *observer) ended() span {
	s := o.span("run", spanOf(o.run.ID), o.caller.span, o.run.StartedAt, *o.run.EndedAt)
	s.failed = o.run.Status == checkpoints.Failed
	s.attributes = append(s.attributes, attribute{"claude_supervise.status", string(o.run.Status)})
	if o.run.ExitCode != nil {
		s.attributes = append(s.attributes, attribute{"claude_supervise.exit_code", int64(*o.run.ExitCode)})
	}
	return s
}

func (o *observer) agent(a *checkpoints.Agent, now time.Time) (span, bool) {
	seen := o.agents[a.ID]
	if seen == nil {
		seen = &seenAgent{began: now}
		o.agents[a.ID] = seen
	}
	// What a restart of the CLI makes smaller is no use of anything.
	o.counters.input += max(0, float64(a.InputTokens-seen.usage.InputTokens))
	o.counters.output += max(0, float64(a.OutputTokens-seen.usage.OutputTokens))
	o.counters.cost += max(0, a.CostUSD-seen.usage.CostUSD)
	seen.usage = a.Usage
	ended := a.EndedAt != nil
	was := seen.ended
	seen.ended = ended // one that goes on after its end ends again, later
	if !ended || was {
		return span{}, false
	}
	parent := spanOf(o.run.ID)
	if a.Parent != "" {
		parent = spanOf(o.run.ID, "agent", a.Parent)
	}
	s := o.span("agent", spanOf(o.run.ID, "agent", a.ID), parent, seen.began, *a.EndedAt)
	s.failed = a.Status == checkpoints.Failed
	s.attributes = append(s.attributes, attribute{"claude_supervise.agent", a.ID},
		attribute{"claude_supervise.status", string(a.Status)}, attribute{"claude_supervise.depth", int64(a.Depth)},
		attribute{"claude_supervise.launches", int64(a.Launches)}, attribute{"claude_supervise.cost_usd", a.CostUSD},
		attribute{"gen_ai.usage.input_tokens", a.InputTokens}, attribute{"gen_ai.usage.output_tokens", a.OutputTokens})
	return s, true
}

func launchKey(agent string, n int) string { return agent + " " + strconv.Itoa(n) }

func launchSpan(run, agent string, n int) spanID {
	return spanOf(run, "launch", agent, strconv.Itoa(n))
}

func (o *observer) launch(l *checkpoints.Launch) (span, bool) {
	key := launchKey(l.Agent, l.N)
	if o.launches[key] || l.StartedAt == nil || l.EndedAt == nil {
		return span{}, false
	}
	o.launches[key] = true
	s := o.span("launch", launchSpan(o.run.ID, l.Agent, l.N), spanOf(o.run.ID, "agent", l.Agent), *l.StartedAt, *l.EndedAt)
	s.attributes = append(s.attributes, attribute{"claude_supervise.agent", l.Agent},
		attribute{"claude_supervise.launch", int64(l.N)}, attribute{"claude_supervise.resumed", strconv.FormatBool(l.Resume)})
	if l.End != "" {
		s.attributes = append(s.attributes, attribute{"claude_supervise.end", l.End})
	}
	if l.Version != "" {
		s.attributes = append(s.attributes, attribute{"claude_supervise.claude_version", l.Version})
	}
	return s, true
}

func (o *observer) question(q *checkpoints.Question, now time.Time) (span, bool) {
	if q.ByRule {
		return span{}, false // nobody was asked
	}
	over, known := o.questions[q.ID]
	if !known {
		o.counters.asked[q.Kind]++
	}
	o.questions[q.ID] = over || q.State != checkpoints.QuestionOpen
	if over || q.State == checkpoints.QuestionOpen {
		return span{}, false
	}
	to, outcome := now, string(checkpoints.QuestionWithdrawn)
	if q.State != checkpoints.QuestionWithdrawn {
		outcome = string(checkpoints.QuestionAnswered) // to be delivered is one more thing
		if q.AnsweredAt != nil && !q.AnsweredAt.Before(q.AskedAt) {
			to = *q.AnsweredAt
		}
		o.counters.answered[q.Kind]++
		o.counters.waited[q.Kind] += to.Sub(q.AskedAt).Seconds()
	}
	s := o.span("question", spanOf(o.run.ID, "question", q.ID), spanOf(o.run.ID, "agent", q.Agent), q.AskedAt, to)
	s.attributes = append(s.attributes, attribute{"claude_supervise.agent", q.Agent},
		attribute{"claude_supervise.question", q.ID}, attribute{"claude_supervise.kind", string(q.Kind)},
		attribute{"claude_supervise.status", outcome})
	return s, true
}

// sums returns the counters as they stand, the time they count from, and whose they are.
func (o *observer) sums() (all []counter, began time.Time, instance string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.run == nil {
		return nil, o.began, ""
	}
	byKind := func(name, unit, description string, values map[checkpoints.QuestionKind]float64) {
		c := counter{name: name, unit: unit, description: description}
		for kind, v := range values {
			c.points = append(c.points, point{v, []attribute{{"claude_supervise.kind", string(kind)}}})
		}
		if len(c.points) > 0 {
			all = append(all, c)
		}
	}
	byKind("claude_supervise.questions", "{question}", "Questions asked", o.counters.asked)
	byKind("claude_supervise.questions.answered", "{question}", "Questions answered", o.counters.answered)
	byKind("claude_supervise.question.wait", "s", "Time from questions to their answers", o.counters.waited)
	all = append(all,
		counter{"claude_supervise.tokens", "{token}", "Tokens used", []point{
			{o.counters.input, []attribute{{"gen_ai.token.type", "input"}}},
			{o.counters.output, []attribute{{"gen_ai.token.type", "output"}}},
		}},
		counter{"claude_supervise.cost", "{USD}", "Cost as claude counts it", []point{{o.counters.cost, nil}}})
	return all, o.began, o.run.ID + "." + strconv.Itoa(o.run.Epoch)
}

// traceparent returns what the process of a launch has as its TRACEPARENT; "" before the run is known.
func (o *observer) traceparent(agent string, launch int) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.run == nil {
		return ""
	}
	if !o.sampled() {
		return o.caller.String()
	}
	return traceparent{o.trace(), launchSpan(o.run.ID, agent, launch), true}.String()
}
