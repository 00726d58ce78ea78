package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"sync"
)

type (
	traceID [16]byte
	spanID  [8]byte
)

// A traceparent names a span and its trace, as the W3C's Trace Context writes it in TRACEPARENT.
type traceparent struct {
	trace   traceID
	span    spanID
	sampled bool
}

// version-trace-span-flags. A later version may go on behind that, and is read as the first.
var traceparentForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-|$)`)
})

// parseTraceparent reads a TRACEPARENT; ok is false for one that is none, which counts as if there were none.
func parseTraceparent(text string) (p traceparent, ok bool) {
	parts := traceparentForm().FindStringSubmatch(text)
	if parts == nil || parts[1] == "ff" || parts[1] == "00" && parts[5] != "" {
		return p, false
	}
	var flags [1]byte
	for i, into := range [][]byte{p.trace[:], p.span[:], flags[:]} {
		if _, err := hex.Decode(into, []byte(parts[i+2])); err != nil {
			return p, false
		}
	}
	p.sampled = flags[0]&1 != 0
	return p, p.trace != traceID{} && p.span != spanID{}
}

func (p traceparent) String() string {
	flags := "-00"
	if p.sampled {
		flags = "-01"
	}
	return "00-" + hex.EncodeToString(p.trace[:]) + "-" + hex.EncodeToString(p.span[:]) + flags
}

// ValidParent returns a TRACEPARENT as it is kept with a run: "" if it is none.
func ValidParent(text string) string {
	if p, ok := parseTraceparent(text); ok {
		return p.String()
	}
	return ""
}

// digest derives an id from what it is of.
func digest(parts ...string) [sha256.Size]byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// traceOf returns the trace of a run that nothing with a trace has started.
func traceOf(run string) traceID { d := digest("trace", run); return traceID(d[:]) }

// spanOf returns the id of the span of what in a run.
func spanOf(run string, what ...string) spanID {
	d := digest(append([]string{"span", run}, what...)...)
	return spanID(d[:])
}
