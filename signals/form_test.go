package signals

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestEncodingsOfText(t *testing.T) {
	plain := stop(me)
	for name, text := range map[string]string{
		"CRLF":                strings.ReplaceAll(plain, "\n", "\r\n"),
		"doubled CR":          strings.ReplaceAll(plain, "\n", "\r\r\n"),
		"BOM":                 "\ufeff" + plain,
		"no last newline":     strings.TrimSuffix(plain, "\n"),
		"colours":             "\x1b[1m[STOP_WORK]\x1b[0m\n" + strings.SplitN(plain, "\n", 2)[1],
		"a title":             "\x1b]0;claude\x07[STOP_WORK]\n" + strings.SplitN(plain, "\n", 2)[1],
		"colours inside":      strings.Replace(plain, "no key", "no \x1b[31mkey\x1b[0m", 1),
		"a spinner before it": "\u280b working\r[STOP_WORK]\n" + strings.SplitN(plain, "\n", 2)[1],
		"cursor shown at end": plain + "\x1b[?25h",
		"cursor over blanks":  strings.Replace(plain, "no key", "no\x1b[Ckey", 1),
		"cursor to a column":  strings.Replace(plain, "details: no key", "details:\x1b[10Gno\x1b[1Ckey", 1),
		"cursor back":         strings.Replace(plain, "details: no key", "what?\x1b[Gdetails: no k\x1b[31m\x1b[13Gkey", 1),
	} {
		t.Run(name, func(t *testing.T) {
			got := Scan(text, me)
			same(t, brief(got), []string{"stop_work"})
			same(t, got[0].Field("details"), "no key")
		})
	}
}

func TestMovesOfTheCursorTakeBoundedMemory(t *testing.T) {
	for _, move := range []string{"\x1b[99999999999999999999C", "\x1b[C", "\x1b[300Gx", "x\x1b[2G"} {
		for _, size := range []int{maxDrawn, MaxBlock} {
			if got := movedOver(strings.Repeat(move, size/len(move))); len(got) > max(size, maxDrawn/len(move)*maxMove) {
				t.Errorf("%q repeated makes %d bytes", move, len(got))
			}
		}
	}
}

func TestInvalidUTF8IsReplaced(t *testing.T) {
	got := Scan(strings.Replace(stop(me), "no key", "no \xff\xfekey", 1), me)
	same(t, got[0].Field("details"), "no \uFFFDkey")
}

func TestValuesCarryNoControlCharacters(t *testing.T) {
	got := Scan(strings.Replace(stop(me), "no key", `"a\x1b[31mb\x07c\u009bd\te"`, 1), me)
	same(t, got[0].Field("details"), "abcd\te")
}

func TestBlockLeftOpen(t *testing.T) {
	open := strings.TrimSuffix(stop(me), "[/STOP_WORK]\n")
	for _, c := range []struct {
		name, text, details string
		end                 int
	}{
		{"at the end", open, "no key", 5},
		{"with talk below a blank line", open + "\nI wait for it now.\n", "no key", 5},
		{"with a heading below", open + "\n## Next steps\n\n- wait\n", "no key", 5},
		{"in a fence that ends", "```yaml\n" + open + "```\nThat is all: I wait.\n", "no key", 6},
		{"with a value that runs on", open + "  and no lock\n", "no key and no lock", 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Scan(c.text, me)
			same(t, brief(got), []string{"stop_work unclosed"})
			same(t, got[0].Field("details"), c.details)
			same(t, got[0].EndLine, c.end)
		})
	}
}

func TestBlockLeftOpenEndsWithItsMessage(t *testing.T) {
	open := strings.TrimSuffix(stop(me), "[/STOP_WORK]\n")
	s := NewScanner(Config{AgentID: me})
	s.BeginMessage(Main, "1")
	s.Text(open)
	s.ToolCall("Read", nil)
	s.BeginMessage(Main, "2")
	s.Text("The file says: nothing.\n")
	got := s.EndTurn("")
	same(t, brief(got), []string{"stop_work unclosed"})
	same(t, got[0].Field("details"), "no key")

	s.BeginMessage(Main, "3")
	s.Text(open)
	s.BeginMessage(Main, "4") // the model was cut off and goes on
	same(t, brief(s.Text("state_snapshot: all\n[/STOP_WORK]\n")), []string{"stop_work"})
}

func TestOpeningMarkerEndsTheOuterBlock(t *testing.T) {
	open := strings.TrimSuffix(stop(me), "[/STOP_WORK]\n")
	got := Scan(open+"[PROGRESS]\nagent_id: "+me+"\npercent: 40\n[/PROGRESS]\n", me)
	same(t, brief(got), []string{"stop_work unclosed", "progress"})
	got = Scan(open+`{"signal_type":"PROGRESS","agent_id":"`+me+`","payload":{"percent":40}}`+"\n", me)
	same(t, brief(got), []string{"stop_work unclosed", "progress"})
}

func TestProblemsThatBelongToNoSignal(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"closing tag alone", "hello\n[/STOP_WORK]\n", []string{"2 unopened"}},
		{"closing tag in prose", "then I print [/STOP_WORK]\n", nil},
		{"closing tag in a code fence", "```sh\n[/STOP_WORK]\n```\n", nil},
		{"closed block without a field", "[STOP_WORK]\n\n[/STOP_WORK]\n", []string{"1 missing_field"}},
		{"open marker without a field", "[STOP_WORK]\n\nis the marker\n", nil},
		{"unknown name with its closing tag", "[NEED_INPUT]\nwhat: x\n[/NEED_INPUT]\n", []string{"1 unknown_signal"}},
		{"unknown name with an agent_id", "[NEED_INPUT]\nagent_id: " + me + "\n", []string{"1 unknown_signal"}},
		{"unknown name in talk", "[TODO]\nwrite the tests\n", nil},
		{"unknown signal_type", `{"signal_type":"HELP","agent_id":"x"}`, []string{"1 unknown_signal"}},
		{"another block's closing tag", strings.Replace(stop(me), "details", "[/PROGRESS]\ndetails", 1),
			[]string{"5 unopened"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewScanner(Config{AgentID: me})
			s.BeginMessage(Main, "1")
			s.Text(c.text)
			s.EndTurn("")
			var got []string
			for _, p := range s.problems() {
				got = append(got, fmt.Sprintf("%d %s", p.Line, p.Code))
			}
			same(t, got, c.want)
		})
	}
}

func TestProblemsOfASignal(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"all is well", stop(me), nil},
		{"required fields", "[STOP_WORK]\nagent_id: " + me + "\ndetails: x\n[/STOP_WORK]",
			[]string{"1 missing_field", "1 missing_field"}},
		{"empty required field", strings.Replace(stop(me), "no key", "", 1), []string{"1 missing_field"}},
		{"value of a fixed set", strings.Replace(stop(me), "missing_info", "laziness", 1), []string{"4 bad_value"}},
		{"fixed value in another spelling", strings.Replace(stop(me), "missing_info", "Missing-Info", 1), nil},
		{"timestamp", strings.Replace(stop(me), "details", "timestamp: yesterday\ndetails", 1), []string{"5 bad_timestamp"}},
		{"timestamp without zone", strings.Replace(stop(me), "details", "timestamp: 2026-01-11 08:45:00\ndetails", 1), nil},
		{"timestamp missing from a report",
			"[COMPLETION_REPORT]\nagent_id: " + me + "\nstatus: success\nsummary: all\n[/COMPLETION_REPORT]",
			[]string{"1 missing_field"}},
		{"duplicate", strings.Replace(stop(me), "details", "details: first\ndetails", 1), []string{"6 duplicate_key"}},
		{"line that is no field", "[STOP_WORK]\n??\n" + strings.SplitN(stop(me), "\n", 2)[1], []string{"2 bad_yaml"}},
		{"percent", "[PROGRESS]\nagent_id: " + me + "\npercent: most\n[/PROGRESS]", []string{"3 bad_value"}},
		{"percent with its sign", "[PROGRESS]\nagent_id: " + me + "\npercent: 40%\n[/PROGRESS]", nil},
		{"no questions", "[CLARIFICATION_NEEDED]\nagent_id: " + me +
			"\ntimestamp: 2026-01-11\nreason: x\n[/CLARIFICATION_NEEDED]", []string{"1 missing_field"}},
		{"empty questions", "[CLARIFICATION_NEEDED]\nagent_id: " +
			me + "\ntimestamp: 2026-01-11\nreason: x\nquestions: []\n[/CLARIFICATION_NEEDED]", []string{"1 bad_value"}},
		{"bad validate", "[CLARIFICATION_NEEDED]\nagent_id: " + me +
			"\ntimestamp: 2026-01-11\nquestions:\n  - text: x\n    validate: regex:(\n  - text: y\n    validate: " +
			"magic\n[/CLARIFICATION_NEEDED]", []string{"6 bad_value", "8 bad_value"}},
		{"json that is YAML", `{"signal_type":"STOP_WORK","agent_id":"` +
			me + `","payload":{"stop_reason":"error","blocker_type":"error","details":'x',}}`, []string{"1 bad_json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sigs := Scan(c.text, me)
			if len(sigs) != 1 {
				t.Fatalf("read %v", brief(sigs))
			}
			var got []string
			for _, p := range sigs[0].Problems {
				got = append(got, fmt.Sprintf("%d %s", p.Line, p.Code))
			}
			same(t, got, c.want)
		})
	}
}

func TestTheLastOfDoubledFieldsCounts(t *testing.T) {
	got := Scan(strings.Replace(stop(me), "details", "details: first\ndetails", 1), me)
	same(t, got[0].Field("details"), "no key")
	same(t, len(got[0].Fields), 3)
}

func TestTemplateIsForeignUntilItIsFilledIn(t *testing.T) {
	got := Scan(Templates(me), me)
	same(t, brief(got), []string{
		"clarification_needed foreign", "stop_work foreign", "delegate_work foreign", "completion_report foreign",
	})
	if n := len(Templates(me)); n > 1500 {
		t.Errorf("the templates take %d bytes of every conversation", n)
	}
	if strings.Count(Templates(me), "agent_id: "+me) != 4 {
		t.Error("the agent's id is not in every block")
	}
}

func TestFallbackIsForeignUntilItIsFilledInAndShorter(t *testing.T) {
	same(t, brief(Scan(Fallback(me), me)), []string{
		"clarification_needed foreign", "stop_work foreign", "delegate_work foreign", "completion_report foreign",
	})
	if n := len(Fallback(me)); n > 900 || n >= len(Templates(me)) {
		t.Errorf("the fallback takes %d bytes of every conversation", n)
	}
	if strings.Count(Fallback(me), "agent_id: "+me) != 4 {
		t.Error("the agent's id is not in every block")
	}
}

func TestBounds(t *testing.T) {
	t.Run("a block is cut", func(t *testing.T) {
		text := "[STOP_WORK]\nagent_id: " + me + "\ndetails: |\n" + strings.Repeat("  a line of many\n", MaxBlock/8) +
			"[/STOP_WORK]\nafter\n"
		got := Scan(text, me)
		if len(got) != 1 || !slices.ContainsFunc(got[0].Problems, func(p Problem) bool { return p.Code == "truncated" }) {
			t.Fatalf("read %v", brief(got))
		}
		if n := len(got[0].Field("details")); n > MaxBlock || n < MaxBlock/4 {
			t.Errorf("%d bytes are kept", n)
		}
		if n := len(got[0].Raw); n > MaxRaw {
			t.Errorf("Raw is %d bytes", n)
		}
		if want := 4 + MaxBlock/8; got[0].EndLine != want {
			t.Errorf("ends in line %d, want %d", got[0].EndLine, want)
		}
	})
	t.Run("a line is cut", func(t *testing.T) {
		got := Scan("[STOP_WORK]\nagent_id: "+me+"\ndetails: "+strings.Repeat("x", 3*MaxBlock)+
			"\nstop_reason: error\n[/STOP_WORK]\n", me)
		if len(got) != 1 || !slices.ContainsFunc(got[0].Problems, func(p Problem) bool { return p.Code == "truncated" }) {
			t.Fatalf("read %v", brief(got))
		}
	})
	t.Run("signals of one turn", func(t *testing.T) {
		var b strings.Builder
		for i := range MaxSignals + 10 {
			fmt.Fprintf(&b, "[PROGRESS]\nagent_id: %s\nstep: %d\n[/PROGRESS]\n", me, i)
			fmt.Fprintf(&b, "[PROGRESS]\nagent_id: other\nstep: %d\n[/PROGRESS]\n", i)
		}
		s := NewScanner(Config{AgentID: me})
		s.BeginMessage(Main, "1")
		if got := s.Text(b.String()); len(got) != 2*MaxSignals {
			t.Errorf("%d signals", len(got))
		}
		if p := s.problems(); len(p) == 0 || p[0].Code != "truncated" {
			t.Errorf("problems %v do not say so", p)
		}
	})
	t.Run("nesting", func(t *testing.T) {
		for _, deep := range []string{strings.Repeat("[", 100000), strings.Repeat("{a: ", 100000),
			strings.Repeat("- ", 100000)} {
			got := Scan(strings.Replace(stop(me), "no key", deep, 1), me)
			same(t, brief(got), []string{"stop_work"})
		}
	})
	t.Run("aliases", func(t *testing.T) {
		bomb := "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\nd: *c\n"
		got := Scan(strings.Replace(stop(me), "details", bomb+"details", 1), me)
		same(t, brief(got), []string{"stop_work"})
		same(t, got[0].Field("c"), "[*b, *b]")
		same(t, got[0].Field("a"), "&a [x, x]")
	})
}

func TestListGivesTheEntriesOfAField(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        []string
	}{
		{"missing", "", nil},
		{"an empty list", " []", nil},
		{"a list", "\n  - a.md\n  - b.md # draft\n  - \"c: d\"", []string{"a.md", "b.md # draft", "c: d"}},
		{"brackets", ` ["a.md", 3.10]`, []string{"a.md", "3.10"}},
		{"text with marks", " |\n  Files:\n  - a.md (new)\n  - b.md", []string{"a.md (new)", "b.md"}},
		{"numbers", " |\n  1. first\n  2. second", []string{"first", "second"}},
		{"lines", " |\n  a.md\n\n  b.md", []string{"a.md", "b.md"}},
		{"one", " a.md", []string{"a.md"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Scan("[COMPLETION_REPORT]\nagent_id: "+me+"\ndeliverables:"+c.value+"\n[/COMPLETION_REPORT]\n", me)
			same(t, got[0].List("deliverables"), c.want)
		})
	}
}
