package signals

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// ordinaryText is what agents print most of the time: prose, lists, code and its fences.
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

What it costs: a caller that needs no refresh waits for one that does. A lock for each id would mend that.
Please tell me if you want it; the change is small. Two callers that come at once never fetch the same token twice.

It keeps the lock for the whole of the fetch, so two callers never fetch the same token; the tests in
store_test.go cover that with a fake clock. I ran them with the race detector, and they pass.

`

// BenchmarkOrdinaryText scans 4 MiB in the pieces in which a pipe gives them: at least 1 GB/s, and 1 MiB held at the
// end.
func BenchmarkOrdinaryText(b *testing.B) {
	const piece = 4 << 10
	text := strings.Repeat(ordinaryText, 1+(4<<20)/len(ordinaryText))
	b.SetBytes(int64(len(text)))
	before := heap()
	var s *Scanner
	for b.Loop() {
		s = NewScanner(Config{AgentID: "a-1"})
		s.BeginMessage(Main, "m")
		s.BeginBlock()
		for at := 0; at < len(text); at += piece {
			if got := s.Text(text[at:min(at+piece, len(text))]); len(got) != 0 {
				b.Fatalf("found %d signals in ordinary text", len(got))
			}
		}
	}
	b.ReportMetric(float64(heap()-before)/(1<<20), "MiB-held")
	runtime.KeepAlive(s)
	runtime.KeepAlive(text)
}

// heap returns how many bytes live.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
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
	"ends of a workflow":   "WORKFLOW_COMPLETE\n",
	"escalations":          "QUESTION_ESCALATED:q1\n",
	"awaiting":             "AWAITING_USER_INPUT\n",
	"awaiting an object":   "AWAITING_USER_INPUT {\n",
	"open objects below":   "AWAITING_USER_INPUT\n{\n\"a\": [\n",
	"members of an object": "\"a\": {\n",
	"awaiting questions":   `AWAITING_USER_INPUT {"questions":["Which?"]}` + "\n",
	"paused":               "PAUSED_FOR_INPUT: /tmp/x.json\n",
	"paused with options":  "PAUSED_FOR_INPUT\nQuestion: x\nOptions: [\"\n",
	"options":              "A) x\n",
	"open calls":           "TaskUpdate({\n",
	"calls":                `TaskUpdate({metadata: {needs_input: true, question: x}})` + "\n",
	"words":                "AWAITING_USER_INPUT_",
	"large objects below":  "AWAITING_USER_INPUT\n{\n" + strings.Repeat("\"a\": 1,\n", 2000),
	"large texts below":    "PAUSED_FOR_INPUT\n" + strings.Repeat("a\n", 2000),
}

func BenchmarkBlock(b *testing.B) {
	const text = "[CLARIFICATION_NEEDED]\nagent_id: a-1\ntimestamp: 2026-01-11T08:45:00Z\nreason: \"two readings: both " +
		"valid\"\n" +
		"current_state: |\n  a\n  b\nquestions:\n  - question_id: Q1\n    text: Which?\n    options:\n      - label: one\n " +
		"     - label: two\n" +
		"[/CLARIFICATION_NEEDED]\n"
	for b.Loop() {
		if got := Scan(text, "a-1"); len(got) != 1 {
			b.Fatal("the block is not read")
		}
	}
}

func BenchmarkServed(b *testing.B) {
	input := []byte(
		`{"context":"two readings: both ` +
			`valid","questions":[{"id":"Q1","text":"Which?","options":[{"label":"one"},{"label":"two"}]}]}`)
	for b.Loop() {
		if _, ok := Served("ask_user", input); !ok {
			b.Fatal("the call is not read")
		}
	}
}
