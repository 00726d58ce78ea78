package telemetry

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// The messages of OTLP that are sent, each with the numbers of its fields in opentelemetry/proto/{trace,metrics}/v1.

// An attribute is one of a span, a counter or a resource. Its value is a string, int64 or float64.
type attribute struct {
	key   string
	value any
}

// A span is one that has ended.
type span struct {
	trace      traceID
	id, parent spanID // no parent: zero
	name       string
	from, to   time.Time
	failed     bool
	attributes []attribute
}

// A point is a counter's value for some attributes.
type point struct {
	value      float64
	attributes []attribute
}

// A counter is a sum that only grows, since the supervisor began.
type counter struct {
	name, unit, description string
	points                  []point
}

type message []byte

// in adds a message as a field of another.
func (m message) in(field protowire.Number, inner message) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), inner)
}

// text adds a string or bytes, unless they are empty.
func (m message) text(field protowire.Number, value string) message {
	if value == "" {
		return m
	}
	return protowire.AppendString(protowire.AppendTag(m, field, protowire.BytesType), value)
}

func (m message) number(field protowire.Number, value uint64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), value)
}

func (m message) fixed(field protowire.Number, value uint64) message {
	return protowire.AppendFixed64(protowire.AppendTag(m, field, protowire.Fixed64Type), value)
}

func (m message) time(field protowire.Number, t time.Time) message {
	return m.fixed(field, uint64(t.UnixNano()))
}

func (m message) attributes(field protowire.Number, all []attribute) message {
	for _, a := range all {
		var value message
		switch v := a.value.(type) {
		case string: // an empty one is a value, too
			value = protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), v)
		case int64:
			value = value.number(3, uint64(v))
		case float64:
			value = value.fixed(4, math.Float64bits(v))
		}
		m = m.in(field, message{}.text(1, a.key).in(2, value))
	}
	return m
}

// withResource makes a request of what one scope of one resource has to say, each under field 2.
func withResource(resource []attribute, version string, what []message) []byte {
	const name = "claude-supervise"
	scope := message{}.in(1, message{}.text(1, name).text(2, version))
	for _, w := range what {
		scope = scope.in(2, w)
	}
	return message{}.in(1, message{}.in(1, message{}.attributes(1, resource)).in(2, scope))
}

func (s span) encode() message {
	const internal, failed = 1, 2 // SPAN_KIND_INTERNAL, STATUS_CODE_ERROR
	m := message{}.text(1, string(s.trace[:])).text(2, string(s.id[:]))
	if s.parent != (spanID{}) {
		m = m.text(4, string(s.parent[:]))
	}
	m = m.text(5, s.name).number(6, internal).time(7, s.from).time(8, s.to).attributes(9, s.attributes)
	if s.failed {
		m = m.in(15, message{}.number(3, failed))
	}
	return m
}

func (c counter) encode(from, to time.Time) message {
	const cumulative = 2 // AGGREGATION_TEMPORALITY_CUMULATIVE
	var sum message
	for _, p := range c.points {
		sum = sum.in(1, message{}.time(2, from).time(3, to).fixed(4, math.Float64bits(p.value)).attributes(7, p.attributes))
	}
	sum = sum.number(2, cumulative).number(3, 1) // monotonic
	return message{}.text(1, c.name).text(2, c.description).text(3, c.unit).in(7, sum)
}
