package signals

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// ordinary is what agents print most of the time: prose, lists, code and its fences.
const ordinaryText = `I've looked at the authentication module and found three things worth knowing before we change it.

- ` + "`src/auth/oauth.ts`" + ` refreshes tokens in two places
- the session store is created per request, which defeats its cache
- nobody calls ` + "`revoke()`" + `

Here is the change I would make first:

` + "```go" + `
func (s *Store) Refresh(ctx context.Context, id string) (*Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.tokens[id]; ok && time.Until(t.Expiry) > s.slack {
		return t, nil
	}
	return s.fetch(ctx, id)
}
` + "```" + `

It keeps the lock for the whole of the fetch, so two callers never fetch the same token; the tests in
store_test.go cover that with a fake clock. I ran them with the race detector, and they pass.

`

func BenchmarkOrdinaryText(b *testing.B) {
	text := strings.Repeat(ordinaryText, 1+(4<<20)/len(ordinaryText))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if got := Scan(text, "a-1"); len(got) != 0 {
			b.Fatalf("found %d signals in ordinary text", len(got))
		}
	}
}

// BenchmarkHostile scans 64 MiB of what costs most. The time for each byte does not depend on how many there are.
func BenchmarkHostile(b *testing.B) {
	const size = 64 << 20
	for _, name := range slices.Sorted(maps.Keys(hostileUnits)) {
		unit := hostileUnits[name]
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(unit, size/len(unit))
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				Scan(text, "a-1")
			}
		})
	}
}

var hostileUnits = map[string]string{
	"brackets in one line": "[",
	"brackets in lines":    "[\n",
	"braces in one line":   "{",
	"braces in lines":      "{\n",
	"opening markers":      "[STOP_WORK]\n",
	"closing markers":      "[/STOP_WORK]\n",
	"unknown markers":      "[WHATEVER]\n",
	"open blocks":          "[STOP_WORK]\nagent_id: a-1\n",
	"foreign blocks":       "[STOP_WORK]\nagent_id: a-2\ndetails: x\n[/STOP_WORK]\n",
	"objects":              `{"signal_type":"STOP_WORK","agent_id":"a-1"}` + "\n",
	"broken objects":       `{"signal_type":"STOP_WORK","agent_id":"a-1` + "\n",
	"fences":               "```\n",
	"escapes":              "\x1b[1m",
}

func BenchmarkBlock(b *testing.B) {
	sig := Signal{
		Kind: Clarification, AgentID: "a-1", Timestamp: "2026-01-11T08:45:00Z",
		Fields:    []Field{{"reason", "two readings: both valid"}, {"current_state", "a\nb"}},
		Questions: []Question{{ID: "Q1", Text: "Which?", Options: []Option{{Label: "one"}, {Label: "two"}}}},
	}
	text, err := Encode(sig)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if got := Scan(text, "a-1"); len(got) != 1 {
			b.Fatal("the block is not heard")
		}
	}
}
