package signals

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const me = "a-7Qm2xK9fWb4T"

// stop makes a block with the id given, or without an agent_id line for "-".
func stop(id string) string {
	line := "agent_id: " + id + "\n"
	if id == "-" {
		line = ""
	}
	return "[STOP_WORK]\n" + line + "stop_reason: blocker\nblocker_type: missing_info\ndetails: no key\n[/STOP_WORK]\n"
}

// brief names the signals in a short form: their kind, and "foreign" or the problems if there are any.
func brief(sigs []Signal) []string {
	out := []string{}
	for _, s := range sigs {
		word := string(s.Kind)
		if s.Foreign {
			word += " foreign"
		} else {
			for _, p := range s.Problems {
				word += " " + p.Code
			}
		}
		out = append(out, word)
	}
	return out
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestMarkerStandsAloneOnItsLine(t *testing.T) {
	body := "\nagent_id: " + me + "\nstop_reason: blocker\nblocker_type: error\ndetails: x\n[/STOP_WORK]\n"
	for name, c := range map[string]struct {
		opening string
		want    int
	}{
		"alone":                {"[STOP_WORK]", 1},
		"indented":             {"   [STOP_WORK]", 1},
		"tab before it":        {"\t[STOP_WORK]", 1},
		"white space after it": {"[STOP_WORK] \t ", 1},
		"no-break space":       {"\u00a0[STOP_WORK]", 1},
		"quoted":               {"> [STOP_WORK]", 0},
		"in a list":            {"- [STOP_WORK]", 0},
		"in a numbered list":   {"1. [STOP_WORK]", 0},
		"in a table":           {"| [STOP_WORK] |", 0},
		"in a comment":         {"# [STOP_WORK]", 0},
		"in another comment":   {"// [STOP_WORK]", 0},
		"bold":                 {"**[STOP_WORK]**", 0},
		"code":                 {"`[STOP_WORK]`", 0},
		"a link":               {"[STOP_WORK](docs/stop.md)", 0},
		"added in a diff":      {"+[STOP_WORK]", 0},
		"removed in a diff":    {"-[STOP_WORK]", 0},
		"text before it":       {"I print [STOP_WORK]", 0},
		"text after it":        {"[STOP_WORK] is what I print", 0},
		"a value after it":     {"[STOP_WORK] agent_id: " + me, 0},
		"in small letters":     {"[stop_work]", 0},
		"in quotes":            {`"[STOP_WORK]"`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Scan(c.opening+body, me); len(got) != c.want {
				t.Errorf("read %v, want %d signals", brief(got), c.want)
			}
		})
	}
}

func TestClosingTagMayEndTheLastValue(t *testing.T) {
	got := Scan("[STOP_WORK]\nagent_id: "+me+
		"\nstop_reason: error\nblocker_type: error\ndetails: it broke [/STOP_WORK]\nmore text", me)
	same(t, brief(got), []string{"stop_work"})
	same(t, got[0].Field("details"), "it broke")
	same(t, got[0].EndLine, 5)
}

func TestFenceLanguageDecides(t *testing.T) {
	for language, want := range map[string]int{
		"": 1, "yaml": 1, "yml": 1, "json": 1, "text": 1, "txt": 1, "md": 1, "markdown": 1, "YAML": 1, `yaml title="x"`: 1,
		"bash": 0, "python": 0, "diff": 0, "go": 0, "sh": 0, "console": 0,
	} {
		for _, mark := range []string{"```", "~~~~"} {
			t.Run(mark+language, func(t *testing.T) {
				if got := Scan(mark+language+"\n"+stop(me)+mark+"\n", me); len(got) != want {
					t.Errorf("read %v, want %d signals", brief(got), want)
				}
			})
		}
	}
}

func TestFences(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"after a code fence that is closed", "```python\nx = 1\n```\n" + stop(me), []string{"stop_work"}},
		{"a shorter fence does not close", "````python\n```\n" + stop(me) + "````\n", []string{}},
		{"another character does not close", "```python\n~~~\n" + stop(me) + "```\n", []string{}},
		{"a fence with a language does not close", "```python\n```yaml\n" + stop(me) + "```\n", []string{}},
		{"backticks in the info are no fence", "```python``` is\n" + stop(me), []string{"stop_work"}},
		{"fence lines inside a block are ignored",
			strings.Replace(stop(me), "stop_reason", "```yaml\nstop_reason", 1) + "```\n", []string{"stop_work"}},
		{"a fence around the body only",
			"[STOP_WORK]\n```yaml\nagent_id: " + me +
				"\nstop_reason: error\nblocker_type: error\ndetails: x\n```\n[/STOP_WORK]\n", []string{"stop_work"}},
		{"indented in a list", "1. I stop:\n   ```yaml\n   " + strings.ReplaceAll(stop(me), "\n", "\n   ") + "```\n",
			[]string{"stop_work"}},
	} {
		t.Run(c.name, func(t *testing.T) { same(t, brief(Scan(c.text, me)), c.want) })
	}
}

func TestFenceEndsWithItsMessage(t *testing.T) {
	s := NewScanner(Config{AgentID: me})
	s.BeginMessage(Main, "1")
	s.Text("```python\nx = 1\n")
	s.BeginMessage(Main, "2")
	same(t, brief(s.Text(stop(me))), []string{"stop_work"})
}

func TestWhoseIDDecides(t *testing.T) {
	for _, c := range []struct {
		id   string
		want []string
	}{
		{me, []string{"stop_work"}},
		{`"` + me + `"`, []string{"stop_work"}},
		{"`" + me + "`", []string{"stop_work"}},
		{me + "   # this agent", []string{"stop_work"}},
		{"bg-task-1", []string{"stop_work"}}, // accepted
		{"bg-task-2", []string{"stop_work foreign"}},
		{me + "x", []string{"stop_work foreign"}},
		{"<agent-id>", []string{"stop_work foreign"}},
		{"...", []string{"stop_work foreign"}},
		{"{{agent_id}}", []string{"stop_work foreign"}},
	} {
		t.Run(c.id, func(t *testing.T) {
			s := NewScanner(Config{AgentID: me, Accept: []string{"bg-task-1"}})
			s.BeginMessage(Main, "1")
			same(t, brief(s.Text(stop(c.id)+"and now I go on\n")), c.want)
		})
	}
}

func TestWithoutOwnIDEveryIDButAPlaceholderCounts(t *testing.T) {
	same(t, brief(Scan(stop("bg-task-1")+stop("<agent-id>"), "")), []string{"stop_work", "stop_work foreign"})
}

func TestSignalWithoutIDCountsOnlyAtTheEnd(t *testing.T) {
	short, long := "I wait for the key.\n", strings.Repeat("word ", 61)+"\n"
	noID := stop("-")
	idle := []string{"stop_work missing_field"}
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing after it", noID, idle},
		{"empty id", stop(""), idle},
		{"null id", stop("null"), idle},
		{"quoted empty id", stop(`""`), idle},
		{"comment for an id", stop("# fill in"), idle},
		{"text before it", "I stop here.\n\n" + noID, idle},
		{"a short paragraph after it", noID + "\n" + short, idle},
		{"a short paragraph of two lines", noID + short + short, idle},
		{"a paragraph of 300 characters", noID + strings.Repeat("é", 300), idle},
		{"a paragraph of 301 characters", noID + strings.Repeat("é", 301), []string{}},
		{"a long paragraph after it", noID + long, []string{}},
		{"two paragraphs after it", noID + short + "\n" + short, []string{}},
		{"a following signal is not text", noID + short + stop(me), append([]string{"stop_work missing_field"}, "stop_work")},
		{"a following foreign signal is not text", noID + stop("bg-9"),
			[]string{"stop_work missing_field", "stop_work foreign"}},
		{"paragraphs around a following signal", noID + short + stop(me) + short, []string{"stop_work"}},
		{"in a fence at the end", "```yaml\n" + noID + "```\n", idle},
		{"in a fence with white space after it", "```\n" + noID + "```\n  \n\n", idle},
		{"in a fence with text after it", "```\n" + noID + "```\n" + short, []string{}},
		{"in a fence with more in it", "```\n" + noID + "\nmore\n```\n", []string{}},
		{"in a code fence", "```bash\n" + noID + "```\n", []string{}},
		{"not closed", strings.TrimSuffix(noID, "[/STOP_WORK]\n"), []string{"stop_work unclosed missing_field"}},
		{"not closed, talk below", strings.TrimSuffix(noID, "[/STOP_WORK]\n") + "\n" + short,
			[]string{"stop_work unclosed missing_field"}},
		{"not closed, long talk below", strings.TrimSuffix(noID, "[/STOP_WORK]\n") + "\n" + long, []string{}},
		{"a marker with talk below", "[STOP_WORK]\nNote: that is how I stop\n", []string{}},
		{"json",
			`{"signal_type":"STOP_WORK","agent_id":null,"payload":{"stop_reason":"error","blocker_type":"error","details":"x"}}` + "\n" + short, idle},
	} {
		t.Run(c.name, func(t *testing.T) { same(t, brief(Scan(c.text, me)), c.want) })
	}
}

func TestSignalWithoutIDMustStandInTheLastMessage(t *testing.T) {
	for _, c := range []struct {
		name string
		feed func(s *Scanner)
		want []string
	}{
		{"it does", func(s *Scanner) { s.Text(stop("-")) }, []string{"stop_work missing_field"}},
		{"another message follows", func(s *Scanner) {
			s.Text(stop("-"))
			s.BeginMessage(Main, "2")
			s.Text("done")
		}, []string{}},
		{"an empty message follows", func(s *Scanner) { s.Text(stop("-")); s.BeginMessage(Main, "2") }, []string{}},
		{"the same message goes on", func(s *Scanner) {
			s.Text(stop("-"))
			s.BeginMessage(Main, "1")
			s.BeginBlock()
			s.Text("Waiting.")
		}, []string{"stop_work missing_field"}},
		{"a call follows", func(s *Scanner) { s.Text(stop("-")); s.ToolCall("Read", nil) }, []string{}},
		{"a call of Bash follows", func(s *Scanner) { s.Text(stop("-")); s.ToolCall("Bash", nil) }, []string{}},
		{"it opens before a call", func(s *Scanner) {
			s.Text("[STOP_WORK]\ndetails: x\n")
			s.ToolCall("Read", nil)
			s.Text("[/STOP_WORK]\n")
		}, []string{}},
		{"a call came before", func(s *Scanner) {
			s.ToolCall("Read", nil)
			s.Text(stop("-"))
		}, []string{"stop_work missing_field"}},
		{"it opens in an earlier message", func(s *Scanner) {
			s.Text("[STOP_WORK]\ndetails: x\n")
			s.BeginMessage(Main, "2")
			s.Text("[/STOP_WORK]\n")
		}, []string{}},
		{"a subagent speaks after it", func(s *Scanner) {
			s.Text(stop("-"))
			s.BeginMessage(Subagent, "9")
			s.Text("working\n\nmore\n\nmore")
		}, []string{"stop_work missing_field"}},
		{"a subagent says it", func(s *Scanner) { s.BeginMessage(Subagent, "9"); s.Text(stop("-")) }, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewScanner(Config{AgentID: me})
			s.BeginMessage(Main, "1")
			c.feed(s)
			same(t, brief(s.AtEnd()), c.want)
			same(t, brief(s.EndTurn("")), c.want)
		})
	}
}

func TestOwnSignalCountsAtOnceAndAnywhere(t *testing.T) {
	s := NewScanner(Config{AgentID: me})
	s.BeginMessage(Main, "1")
	same(t, brief(s.Text("thinking\n"+stop(me))), []string{"stop_work"})
	s.ToolCall("Read", nil)
	s.BeginMessage(Main, "2")
	same(t, brief(s.Text("going on\n\nfor long\n")), []string{})
	same(t, brief(s.EndTurn("going on\n\nfor long\n")), []string{})
}

func TestBlockOfTextThatEndsWithTheTagIsReadAtItsEnd(t *testing.T) {
	s := NewScanner(Config{AgentID: me})
	s.BeginMessage(Main, "1")
	same(t, brief(s.Text(strings.TrimSuffix(stop(me), "\n"))), []string{})
	same(t, brief(s.EndBlock()), []string{"stop_work"})
	same(t, brief(s.EndTurn("")), []string{})
}

func TestEachBlockOfTextBeginsALine(t *testing.T) {
	s := NewScanner(Config{AgentID: me})
	s.BeginMessage(Main, "1")
	s.BeginBlock()
	s.Text("I stop:")
	s.BeginBlock()
	same(t, brief(s.Text(stop(me))), []string{"stop_work"})
}

func TestSubagentCountsOnlyWithTheAgentsID(t *testing.T) {
	s := NewScanner(Config{AgentID: me})
	s.BeginMessage(Subagent, "9")
	same(t, brief(s.Text(stop(me))), []string{"stop_work"})
	same(t, brief(s.Text(stop("other"))), []string{"stop_work foreign"})
	same(t, brief(s.EndTurn("")), []string{})
}

func TestInterleavedSourcesDoNotMix(t *testing.T) {
	s := NewScanner(Config{AgentID: me})
	s.BeginMessage(Main, "1")
	s.Text("[STOP_WORK]\nagent_id: " + me + "\n")
	s.BeginMessage(Subagent, "9")
	s.Text("```python\nnoise\n")
	s.BeginMessage(Main, "1")
	got := s.Text("stop_reason: error\nblocker_type: error\ndetails: x\n[/STOP_WORK]\n")
	same(t, brief(got), []string{"stop_work"})
	same(t, got[0].Line, 1)
}

func TestInterleavedSubagentsDoNotMix(t *testing.T) {
	s := NewScanner(Config{AgentID: me})
	said := func(of Source, text string) []string {
		s.BeginMessage(of, "m"+string(of))
		s.BeginBlock()
		return brief(append(s.Text(text), s.EndBlock()...))
	}
	opens := "[STOP_WORK]\nagent_id: " + me + "\n"
	closes := func(details string) string {
		return "stop_reason: error\nblocker_type: error\ndetails: " + details + "\n[/STOP_WORK]"
	}
	same(t, said("t1", opens), []string{})
	same(t, said("t2", opens), []string{})
	same(t, said("t1", closes("one")), []string{"stop_work"})
	same(t, said("t2", closes("two")), []string{"stop_work"})
	for i := range 2 * maxSubagents {
		said(Source(fmt.Sprint("t", i)), opens+"details: "+fmt.Sprint(i)+"\n")
	}
	if len(s.subs) > maxSubagents {
		t.Errorf("%d subagents are followed", len(s.subs))
	}
}

func TestSameSignalInOneTurnIsOne(t *testing.T) {
	at := func(time string) string {
		return strings.Replace(stop(me), "stop_reason", "timestamp: "+time+"\nstop_reason", 1)
	}
	s := NewScanner(Config{AgentID: me})
	s.BeginMessage(Main, "1")
	same(t, brief(s.Text(at("2026-01-11T08:45:00Z")+at("2026-01-11T08:46:00Z")+stop(me))), []string{"stop_work"})
	same(t, brief(s.EndTurn(stop(me))), []string{})
	s.BeginMessage(Main, "2")
	same(t, brief(s.Text(stop(me))), []string{"stop_work"})
}

func TestResultCountsOnlyIfTheTurnHadNoText(t *testing.T) {
	for _, c := range []struct {
		name string
		feed func(s *Scanner)
		want []string
	}{
		{"no text", func(*Scanner) {}, []string{"stop_work missing_field"}},
		{"white space", func(s *Scanner) { s.BeginMessage(Main, "1"); s.Text(" \n\n") }, []string{"stop_work missing_field"}},
		{"text of a subagent", func(s *Scanner) {
			s.BeginMessage(Subagent, "1")
			s.Text("hello\n")
		}, []string{"stop_work missing_field"}},
		{"text", func(s *Scanner) { s.BeginMessage(Main, "1"); s.Text("hello") }, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewScanner(Config{AgentID: me})
			c.feed(s)
			same(t, brief(s.EndTurn(stop("-"))), c.want)
		})
	}
}

func TestAtEndChangesNothing(t *testing.T) {
	s := NewScanner(Config{AgentID: me})
	s.BeginMessage(Main, "1")
	for line := range strings.Lines("Hello.\n" + strings.TrimSuffix(stop(me), "\n")) {
		s.Text(line)
		first, second := s.AtEnd(), s.AtEnd()
		same(t, second, first)
	}
	same(t, brief(s.AtEnd()), []string{"stop_work"})
	same(t, brief(s.EndTurn("")), []string{"stop_work"})
	same(t, s.AtEnd(), []Signal(nil))
}
