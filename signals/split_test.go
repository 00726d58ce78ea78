package signals

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// feed scans a text that arrives in the pieces given, as one message and one turn.
func feed(pieces ...string) ([]Signal, []Problem) {
	s := NewScanner(Config{AgentID: me, AnyEscalation: true})
	s.BeginMessage(Main, "1")
	var got []Signal
	for _, p := range pieces {
		got = append(got, s.Text(p)...)
	}
	return append(got, s.EndTurn("")...), s.problems()
}

func TestTextMayArriveSplitAtAnyByte(t *testing.T) {
	all := texts(t)
	all["coloured"] = "\ufeff\x1b[1m" + strings.ReplaceAll(stop(me), "\n", "\x1b[0m\r\n") + "caf\xc3 é\n"
	for name, text := range all {
		want, wantProblems := feed(text)
		step := 1
		if strings.HasPrefix(name, "testdata/talk/") || strings.HasPrefix(name, "testdata/variants/") {
			step = 15 // there are many, and alike; FuzzScan splits them anywhere
		}
		for i := 1; i < len(text); i += step {
			got, problems := feed(text[:i], text[i:])
			if !cmp.Equal(got, want) || !cmp.Equal(problems, wantProblems) {
				t.Fatalf("%s, split at byte %d (-whole +split)\n%s%s", name,
					i, cmp.Diff(want, got), cmp.Diff(wantProblems, problems))
			}
		}
		got, _ := feed(strings.Split(text, "")...)
		if !cmp.Equal(got, want) {
			t.Fatalf("%s, one character at a time (-whole +split)\n%s", name, cmp.Diff(want, got))
		}
	}
}

func TestWorkGrowsWithTheText(t *testing.T) {
	for name, unit := range hostileUnits {
		t.Run(name, func(t *testing.T) {
			allocs := func(bytes int) int {
				text := strings.Repeat(unit, 1+bytes/len(unit))
				return int(testing.AllocsPerRun(1, func() { Scan(text, me) }))
			}
			small, large := allocs(32<<10), allocs(256<<10)
			if large > 16*small+2000 {
				t.Errorf("8 times the text takes %d allocations instead of %d", large, small)
			}
		})
	}
}

func TestMemoryIsBounded(t *testing.T) {
	for name, unit := range hostileUnits {
		t.Run(name, func(t *testing.T) {
			s := NewScanner(Config{AgentID: me})
			s.BeginMessage(Main, "1")
			text := strings.Repeat(unit, 64<<10/len(unit))
			for range 32 { // 2 MiB
				s.Text(text)
			}
			kept := cap(s.main.partial)
			if o := s.main.open; o != nil {
				kept += o.size
			}
			for _, e := range s.main.tail.pending {
				kept += len(e.Raw)
			}
			if kept > MaxBlock+MaxBlock/4 { // of more
				t.Errorf("%d bytes are kept", kept)
			}
			if n := len(s.problems()); n > 3*maxStrays {
				t.Errorf("%d problems are kept", n)
			}
		})
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range texts(f) {
		f.Add(text, uint16(7))
	}
	f.Fuzz(func(t *testing.T, text string, at uint16) {
		want, wantProblems := feed(text)
		size := 0
		for _, s := range want {
			size += len(s.Raw)
			for _, field := range s.Fields {
				size += len(field.Value)
			}
			for _, q := range s.Questions {
				size += len(q.Text) + len(q.Context)
			}
		}
		if size > 64*len(text)+4096 {
			t.Errorf("%d bytes of signals came of %d bytes of text", size, len(text))
		}
		i := min(int(at), len(text))
		got, problems := feed(text[:i], text[i:])
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("split at %d (-whole +split)\n%s", i, diff)
		}
		if diff := cmp.Diff(wantProblems, problems); diff != "" {
			t.Errorf("split at %d (-whole +split)\n%s", i, diff)
		}
	})
}

// what a signal says, whoever wrote it down.
func meaning(s Signal) Signal {
	return Signal{Kind: s.Kind, AgentID: s.AgentID, Timestamp: s.Timestamp, Fields: s.Fields, Questions: s.Questions}
}

// inJSON writes a signal in the JSON form of the protocols document (002), which can carry all of them that have a
// form.
func inJSON(t *testing.T, s Signal) string {
	t.Helper()
	quoted := func(v any) string {
		text, err := json.Marshal(v)
		noError(t, err)
		return string(text)
	}
	var payload []string
	for _, f := range s.Fields {
		payload = append(payload, quoted(f.Name)+":"+quoted(f.Value))
	}
	if len(s.Questions) > 0 {
		payload = append(payload, `"questions":`+quoted(s.Questions))
	}
	return fmt.Sprintf(`{"signal_type":%s,"agent_id":%s,"timestamp":%s,"payload":{%s}}`+"\n",
		quoted(formNamed(string(s.Kind)).name()), quoted(s.AgentID), quoted(s.Timestamp), strings.Join(payload, ","))
}

func checkRoundTrip(t *testing.T, first Signal) {
	t.Helper()
	if first.Dialect == Escalated || first.Dialect == Marker {
		return // they name no more than a file
	}
	text := inJSON(t, first)
	again := Scan(text, first.AgentID)
	if len(again) != 1 {
		t.Fatalf("read %v in\n%s", brief(again), text)
	}
	if diff := cmp.Diff(meaning(first), meaning(again[0])); diff != "" {
		t.Fatalf("(-first +again)\n%s\nin\n%s", diff, text)
	}
	if again[0].Fingerprint() != first.Fingerprint() {
		t.Errorf("fingerprints %s and %s", again[0].Fingerprint(), first.Fingerprint())
	}
}

func TestEncodedSignalsAreReadBack(t *testing.T) {
	for name, text := range texts(t) {
		for _, s := range Scan(text, "") {
			t.Run(name, func(t *testing.T) { checkRoundTrip(t, s) })
		}
	}
}

func FuzzEncode(f *testing.F) {
	for _, text := range texts(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range Scan(text, "") {
			checkRoundTrip(t, s)
		}
	})
}

// Values of all sorts, written into a signal by hand rather than read from one.
func FuzzEncodeValue(f *testing.F) {
	for _, v := range []string{"", "x", "null", "~", "a: b # c", "- a\n- b", "[/STOP_WORK]", "a\n[STOP_WORK]\nb",
		"  x", "```\nx", "{\"a\":1}", "'", `"`, "|", "é\u2028"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		v = cleanText(v)
		checkRoundTrip(t, Signal{
			Kind: Stop, AgentID: me,
			Fields: []Field{{"details", v}, {"completed_work", "x"}, {"notes", v}},
		})
		if strings.TrimSpace(v) == "" {
			return
		}
		checkRoundTrip(t, Signal{
			Kind: Clarification, AgentID: me,
			Questions: []Question{{ID: "Q1", Text: v, Context: v, Urgent: true,
				Options: []Option{{Label: strings.TrimSpace(v), Description: v, Preview: v}}}},
		})
	})
}

// The words of the older documents above anything at all.
func FuzzEncodeAsked(f *testing.F) {
	openings := []string{"AWAITING_USER_INPUT\n", "AWAITING_USER_INPUT {", "PAUSED_FOR_INPUT\n",
		"PAUSED_FOR_INPUT: ", "QUESTION_ESCALATED:", "TaskUpdate({"}
	for _, text := range []string{
		"{\"questions\":[{\"question\":\"Which?\",\"options\":[\"a\"]}]}", "Which?\nA) one\n   large\nB) two\n",
		"/tmp/x.md\nQuestion: \"Which?\"\nOptions: [\"a\", b]\n",
		"Question 1: a?\nQ2: b?\nOptions:\n- **x**: y\n",
		"taskId: 3, metadata: {needs_input: true, question: 'x', question_options: [`a`]}})",
		"context: x\nquestions:\n  - Which?\n", "../x",
		"why\n\nWhich?\n\nplease:\n1. a\n2. b\n",
	} {
		for i := range openings {
			f.Add(uint8(i), text)
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, text string) {
		for _, s := range Scan(openings[int(i)%len(openings)]+text, "") {
			checkRoundTrip(t, s)
		}
	})
}

// The input of a call is an object that the model wrote, or anything else.
func FuzzTaskCall(f *testing.F) {
	for _, input := range []string{`{"taskId":"7","metadata":{"needs_input":true,"question":"Which?","question_options":["a"]}}`, `{"metadata":{"needs_input":1}}`, `[]`, ""} {
		f.Add([]byte(input))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, s := range NewScanner(Config{}).ToolCall("TaskUpdate", input) {
			if len(s.Questions) == 0 {
				t.Error("it asks nothing")
			}
			checkRoundTrip(t, s)
		}
	})
}

func TestFingerprint(t *testing.T) {
	base := Scan(stop(me), me)[0]
	same := func(name string, change func(*Signal)) {
		s := base
		s.Fields = slices.Clone(base.Fields)
		change(&s)
		if s.Fingerprint() != base.Fingerprint() {
			t.Errorf("%s makes it another signal", name)
		}
	}
	other := func(name string, change func(*Signal)) {
		s := base
		s.Fields = slices.Clone(base.Fields)
		change(&s)
		if s.Fingerprint() == base.Fingerprint() {
			t.Errorf("%s does not make it another signal", name)
		}
	}
	same("a timestamp", func(s *Signal) { s.Timestamp = "2026-01-11" })
	same("a dialect", func(s *Signal) { s.Dialect = JSON })
	same("a place", func(s *Signal) { s.Line, s.EndLine, s.Raw = 9, 12, "x" })
	same("a problem", func(s *Signal) { s.Problems = []Problem{{Code: "unclosed"}} })
	same("the order of fields", func(s *Signal) { slices.Reverse(s.Fields) })
	same("being read back from JSON", func(s *Signal) { s.Questions = []Question{} })
	other("a kind", func(s *Signal) { s.Kind = Completion })
	other("an agent", func(s *Signal) { s.AgentID = "b" })
	other("a value", func(s *Signal) { s.Fields[0].Value = "x" })
	other("a question", func(s *Signal) { s.Questions = []Question{{ID: "Q1", Text: "x"}} })
}
