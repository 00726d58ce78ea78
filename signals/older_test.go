package signals

import (
	"strings"
	"testing"
)

// The forms of the older documents, none of which carries an agent's id.
var older = map[Dialect]string{
	Awaiting:  "AWAITING_USER_INPUT\n{\"questions\": [{\"question\": \"Which?\", \"options\": [\"a\", \"b\"]}]}\n",
	Paused:    "PAUSED_FOR_INPUT: /tmp/state.json\n\nQuestion: Which?\nA) a\nB) b\n",
	Escalated: "QUESTION_ESCALATED:workflow_1_q1\n",
	Marker:    "WORKFLOW_COMPLETE\n",
	TaskMetadata: "TaskUpdate({taskId: 1, metadata: {needs_input: true, question: 'Which?', question_options: ['a', " +
		"'b']}})\n",
}

func dialectsOf(sigs []Signal) []Dialect {
	out := []Dialect{}
	for _, s := range sigs {
		if !s.Foreign {
			out = append(out, s.Dialect)
		}
	}
	return out
}

func eachOlder(t *testing.T, test func(t *testing.T, d Dialect, text string)) {
	t.Helper()
	for d, text := range older {
		t.Run(string(d), func(t *testing.T) { test(t, d, text) })
	}
}

func TestOlderFormsCountAtTheEndOfTheTurnOnly(t *testing.T) {
	short, long := "I wait for it.\n", strings.Repeat("word ", 61)+"\n"
	eachOlder(t, func(t *testing.T, d Dialect, text string) {
		for _, c := range []struct {
			name, text string
			want       int
		}{
			{"alone", text, 1},
			{"text before it", "I looked at both.\n\n" + text, 1},
			{"a short paragraph after it", text + "\n" + short, 1},
			{"a long paragraph after it", text + "\n" + long, 0},
			{"two paragraphs after it", text + "\n" + short + "\n" + short, 0},
			{"in a fence at the end", "```\n" + text + "```\n", 1},
			{"in a fence of data", "~~~json\n" + text + "~~~\n\n", 1},
			{"in a fence, text after it", "```\n" + text + "```\n" + short, 0},
			{"in a fence with more in it", "```\n" + text + "\nand more\n```\n", 0},
			{"in a fence of code", "```bash\n" + text + "```\n", 0},
			{"twice", text + text, 1},
			{"CRLF", strings.ReplaceAll(text, "\n", "\r\n"), 1},
			{"a spinner before it", "\u280b working\r" + text, 1},
			{"no last newline", strings.TrimSuffix(text, "\n"), 1},
			{"after a BOM", "\ufeff" + text, 1},
			{"in colours", "\x1b[1m" + strings.Replace(text, "\n", "\x1b[0m\n", 1), 1},
			{"coloured inside the word", strings.Replace(text, text[2:3], text[2:3]+"\x1b[0m", 1), 1},
			{"indented", "   " + text, 1},
			{"quoted", "> " + text, 0},
			{"in a list", "- " + text, 0},
			{"in a numbered list", "1. " + text, 0},
			{"in a table", "| " + strings.Replace(text, "\n", " |\n", 1), 0},
			{"a comment", "# " + text, 0},
			{"bold", "**" + strings.Replace(text, "\n", "**\n", 1), 0},
			{"code", "`" + strings.Replace(text, "\n", "`\n", 1), 0},
			{"added in a diff", "+" + text, 0},
			{"text before it on its line", "It prints " + text, 0},
			{"text after it on its line", strings.Replace(text, "\n", " is what it prints\n", 1), 0},
			{"a following signal is not text", text + short + stop(me), 1},
		} {
			t.Run(c.name, func(t *testing.T) {
				got := dialectsOf(Scan(c.text, me))
				n := 0
				for _, g := range got {
					if g == d {
						n++
					}
				}
				if n != c.want {
					t.Errorf("read %v, want %d of it in\n%s", got, c.want, c.text)
				}
			})
		}
	})
}

func TestOlderFormsMustStandInTheLastMessage(t *testing.T) {
	eachOlder(t, func(t *testing.T, d Dialect, text string) {
		for _, c := range []struct {
			name string
			feed func(*Scanner)
			want []Dialect
		}{
			{"it does", func(s *Scanner) { s.Text(text) }, []Dialect{d}},
			{"another message follows", func(s *Scanner) {
				s.Text(text)
				s.BeginMessage(Main, "2")
				s.Text("done")
			}, []Dialect{}},
			{"a call follows", func(s *Scanner) { s.Text(text); s.ToolCall("Read", nil) }, []Dialect{}},
			{"a subagent says it", func(s *Scanner) { s.BeginMessage(Subagent, "9"); s.Text(text) }, []Dialect{}},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := NewScanner(Config{AgentID: me, AnyEscalation: true})
				s.BeginMessage(Main, "1")
				c.feed(s)
				same(t, dialectsOf(s.AtEnd()), c.want)
				same(t, dialectsOf(s.EndTurn("")), c.want)
			})
		}
	})
}

func TestOlderFormsFromBash(t *testing.T) {
	eachOlder(t, func(t *testing.T, d Dialect, text string) {
		for _, c := range []struct {
			name, command string
			then          string // a tool that is called next
			want          []Dialect
		}{
			{"printed by a here-document", "cat <<'EOF'\n" + text + "EOF", "", []Dialect{d}},
			{"printed, and Bash again", "cat <<'EOF'\n" + text + "EOF", "Bash", []Dialect{d}},
			{"printed, and another tool", "cat <<'EOF'\n" + text + "EOF", "Edit", []Dialect{}},
			{"a file that is shown", "cat notes.md", "", []Dialect{}},
			{"written to a file that is shown", "cat > notes.md <<'EOF'\n" + text + "EOF\ncat notes.md", "", []Dialect{}},
			{"from an interpreter", "python3 - <<'EOF'\n" + text + "EOF", "", []Dialect{}},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := NewScanner(Config{AgentID: me})
				s.ToolCall("Bash", nil)
				s.Bash(c.command, text, false)
				if c.then != "" {
					s.ToolCall(c.then, nil)
				}
				same(t, dialectsOf(s.EndTurn("")), c.want)
			})
		}
	})
}

func TestOlderFormsWithTheAgentsIDCountAtOnce(t *testing.T) {
	for d, text := range map[Dialect]string{
		Awaiting:     "AWAITING_USER_INPUT {\"agent_id\": \"AGENT\", \"questions\": [\"Which?\"]}\n",
		Paused:       "PAUSED_FOR_INPUT\nagent_id: AGENT\nQuestion: Which?\nA) a\n",
		TaskMetadata: "TaskUpdate({metadata: {agent_id: 'AGENT', needs_input: true, question: 'Which?'}})\n",
	} {
		t.Run(string(d), func(t *testing.T) {
			s := NewScanner(Config{AgentID: me})
			s.BeginMessage(Main, "1")
			same(t, dialectsOf(s.Text(filled(text)+"\nI go on.\n\nAnd on.\n")), []Dialect{d})
			same(t, brief(Scan(strings.ReplaceAll(text, "AGENT", "bg-2"), me)), []string{"clarification_needed foreign"})
		})
	}
}

func TestOpeningMarkersOfOlderFormsEndABlock(t *testing.T) {
	for _, d := range []Dialect{Awaiting, Paused, Escalated, Marker} {
		got := Scan(strings.TrimSuffix(stop(me), "[/STOP_WORK]\n")+older[d], me)
		same(t, dialectsOf(got), []Dialect{Block, d})
	}
}

func TestTemplatesOfOlderFormsAreForeign(t *testing.T) {
	for _, text := range []string{
		"QUESTION_ESCALATED:<question-id>", "QUESTION_ESCALATED:${QUESTION_ID}", "QUESTION_ESCALATED:...",
		"PAUSED_FOR_INPUT: <path>", "PAUSED_FOR_INPUT: {state_file}\nQuestion: Which?",
		`AWAITING_USER_INPUT {"questions": [{"question": "<question>"}]}`,
	} {
		got := Scan(text, me)
		if len(got) != 1 || !got[0].Foreign {
			t.Errorf("read %v in %q", brief(got), text)
		}
	}
}

func TestEscalationNeedsItsQuestionFile(t *testing.T) {
	const text = "QUESTION_ESCALATED:q1\n"
	filed := func(id string) bool { return id == "q1" }
	for _, c := range []struct {
		name     string
		config   Config
		in, bash string // said, or shown by a command that does not print it
		want     int
	}{
		{"said, with its file", Config{Escalated: filed}, text, "", 1},
		{"said, without", Config{Escalated: filed}, "QUESTION_ESCALATED:q2\n", "", 0},
		{"said, where nobody knows of files", Config{}, text, "", 0},
		{"said, and any counts", Config{AnyEscalation: true}, text, "", 1},
		{"shown by Bash, with its file", Config{Escalated: filed}, "", text, 1},
		{"shown by Bash, without", Config{Escalated: filed}, "", "QUESTION_ESCALATED:q2\n", 0},
		{"shown by Bash, and any counts", Config{AnyEscalation: true}, "", text, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.AgentID = me
			s := NewScanner(c.config)
			s.BeginMessage(Main, "1")
			s.Text(c.in)
			if c.bash != "" {
				s.ToolCall("Bash", nil)
				s.Bash("./agent.sh", c.bash, false)
			}
			if got := s.EndTurn(""); len(got) != c.want {
				t.Errorf("read %v", brief(got))
			}
		})
	}
}

func TestEscalationPrintedByACommandIsTheOneItNames(t *testing.T) {
	for _, c := range []struct {
		command string
		want    int
	}{
		{`echo "QUESTION_ESCALATED:q1"`, 1},
		{`echo QUESTION_ESCALATED: q1`, 1},
		{`echo "QUESTION_ESCALATED:${QUESTION_ID}"`, 1},
		{`echo "QUESTION_ESCALATED:$(cat id)"`, 1},
		{`printf 'QUESTION_ESCALATED:%s\n' q1`, 1},
		{`echo QUESTION_ESCALATED:q2; cat notes.md`, 0},
		{`echo "see QUESTION_ESCALATED:q1"; cat notes.md`, 0},
	} {
		t.Run(c.command, func(t *testing.T) {
			s := NewScanner(Config{AgentID: me})
			s.Bash(c.command, "QUESTION_ESCALATED:q1\n", false)
			if got := s.EndTurn(""); len(got) != c.want {
				t.Errorf("read %v", brief(got))
			}
		})
	}
}

func TestEscalationUnderABadIDIsShown(t *testing.T) {
	for _, id := range []string{"../../etc/passwd", ".hidden", "a/b", `a\b`, "a\x00b", "ünicode", strings.Repeat("x", 129),
		strings.Repeat("x", 4096), "-;rm"} {
		asked := 0
		s := NewScanner(Config{AgentID: me, Escalated: func(string) bool { asked++; return true }})
		s.BeginMessage(Main, "1")
		s.Text("QUESTION_ESCALATED:" + id)
		got := s.EndTurn("")
		same(t, brief(got), []string{"clarification_needed bad_id"})
		if len(got[0].Questions) != 1 || len(got[0].Field("question_id")) > maxID || asked > 0 {
			t.Errorf("%q: %d questions, an id of %d bytes, looked up %d times", id, len(got[0].Questions),
				len(got[0].Field("question_id")), asked)
		}
	}
	for _, id := range []string{"workflow_1729350000_q1", "a.b-c", strings.Repeat("x", 128)} {
		same(t, brief(Scan("QUESTION_ESCALATED:"+id, me)), []string{"clarification_needed"})
	}
	for _, talk := range []string{"QUESTION_ESCALATED:", "QUESTION_ESCALATED: the id goes here", "QUESTION_ESCALATED"} {
		same(t, brief(Scan(talk, me)), []string{})
	}
}

func TestAwaitingObjectThatCannotBeRead(t *testing.T) {
	const cut = "AWAITING_USER_INPUT\n{\n  \"stateFile\": \"/tmp/s.md\",\n  \"questions\": [{\"question\": \"Which\n"
	for name, text := range map[string]string{
		"cut off":                     cut,
		"cut off in a fence":          "```json\n" + cut + "```\n",
		"cut off, and the word is it": "AWAITING_USER_INPUT {\"stateFile\": \"/tmp/s.md\",\n\"questions\": [\n",
		"neither JSON nor YAML":       "AWAITING_USER_INPUT\n{\"stateFile\": \"/tmp/s.md\", \"questions\": [}]}\n",
		"more than is kept": "AWAITING_USER_INPUT\n{\"stateFile\": \"/tmp/s.md\",\n\"context\": \"" +
			strings.Repeat("x", 2*MaxBlock) + "\"}\n",
		"cut off, a paragraph follows": cut + "\n\nI wait.\n",
	} {
		t.Run(name, func(t *testing.T) {
			got := Scan(text, me)
			if len(got) != 1 || got[0].Problems[0].Code != "bad_json" || len(got[0].Questions) != 1 {
				t.Fatalf("read %+v", got)
			}
			if !strings.Contains(got[0].Questions[0].Text, "stateFile") || got[0].Field("state_file") != "/tmp/s.md" {
				t.Errorf("asks %q, state file %q", bounded(got[0].Questions[0].Text, 200), got[0].Field("state_file"))
			}
		})
	}
}

func TestPauseWithoutAQuestionShowsWhatIsThere(t *testing.T) {
	for text, want := range map[string]string{
		"PAUSED_FOR_INPUT: /tmp/x.md":                          "PAUSED_FOR_INPUT: /tmp/x.md",
		"PAUSED_FOR_INPUT\n\nI need the key.\n":                "I need the key.",
		"PAUSED_FOR_INPUT: /tmp/x.md\n\nWhich key is it?\n":    "Which key is it?",
		"AWAITING_USER_INPUT\n\nTell me which.\n":              "Tell me which.",
		"AWAITING_USER_INPUT":                                  "AWAITING_USER_INPUT",
		"AWAITING_USER_INPUT\n{\"context\": \"two readings\"}": "two readings",
	} {
		got := Scan(text, me)
		if len(got) != 1 || len(got[0].Questions) != 1 || !strings.HasSuffix(got[0].Questions[0].Text, want) {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for _, talk := range []string{"PAUSED_FOR_INPUT:", "AWAITING_USER_INPUT:", "PAUSED_FOR_INPUT: deprecated",
		"PAUSED_FOR_INPUT: see the skill"} {
		same(t, brief(Scan(talk, me)), []string{})
	}
}

func TestTaskUpdateCallAsksIfItNeedsInput(t *testing.T) {
	for _, c := range []struct {
		name, tool, input string
		want              []string
	}{
		{"it does", "TaskUpdate",
			`{"taskId":"7","metadata":{"needs_input":true,"question":"Which?","question_options":["a","b"],"question_context":{"x":1}}}`, []string{"clarification_needed"}},
		{"with the agent's id", "TaskUpdate",
			`{"taskId":"7","metadata":{"needs_input":true,"question":"Which?","agent_id":"` + me + `"}}`,
			[]string{"clarification_needed"}},
		{"with another's id", "TaskUpdate",
			`{"taskId":"7","metadata":{"needs_input":true,"question":"Which?","agent_id":"bg-9"}}`,
			[]string{"clarification_needed foreign"}},
		{"without a question", "TaskUpdate", `{"taskId":"7","metadata":{"needs_input":true}}`,
			[]string{"clarification_needed missing_field"}},
		{"not any more", "TaskUpdate", `{"taskId":"7","metadata":{"needs_input":false,"question":"Which?"}}`, []string{}},
		{"no metadata", "TaskUpdate", `{"taskId":"7","status":"completed"}`, []string{}},
		{"metadata of another sort", "TaskUpdate", `{"metadata":"needs_input"}`, []string{}},
		{"another tool", "TaskCreate", `{"metadata":{"needs_input":true,"question":"Which?"}}`, []string{}},
		{"no JSON", "TaskUpdate", `{"metadata":`, []string{}},
		{"nothing", "TaskUpdate", ``, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewScanner(Config{AgentID: me})
			same(t, brief(s.ToolCall(c.tool, []byte(c.input))), c.want)
		})
	}
	// A subagent's, with the id that the CLI calls it by.
	inside := `{"taskId":"7","metadata":{"needs_input":true,"question":"Which?","agent_id":"a0d59cb1734d13293"}}`
	met := NewScanner(Config{AgentID: me})
	same(t, brief(met.SubagentToolCall(Subagent, "TaskUpdate", []byte(inside))), []string{"clarification_needed foreign"})
	met = NewScanner(Config{AgentID: me})
	met.Meet("a0d59cb1734d13293")
	same(t, brief(met.SubagentToolCall(Subagent, "TaskUpdate", []byte(inside))), []string{"clarification_needed"})

	// With an id that is nobody's, where an agent is listened to: a call is no quotation.
	for id, want := range map[string]string{"bg-9": "", "a0d59cb1734d13293": "", "a-Another0000": " foreign",
		"<agent-id>": " foreign", "...": " foreign"} {
		made := []byte(strings.ReplaceAll(inside, "a0d59cb1734d13293", id))
		live := Config{AgentID: me, Pauses: true}
		heard := []string{"clarification_needed" + want}
		same(t, brief(NewScanner(live).ToolCall("TaskUpdate", made)), heard)
		same(t, brief(NewScanner(live).SubagentToolCall(Subagent, "TaskUpdate", made)), heard)
	}

	s := NewScanner(Config{AgentID: me})
	got := s.ToolCall("TaskUpdate",
		[]byte(
			`{"taskId":"7","metadata":{"needs_input":true,"question":"Which?","question_options":["a","b"],"question_context":{"x":1}}}`))
	same(t, summary(got[0]),
		"clarification_needed of nobody (task_metadata)\n  task_id = \"7\"\n  question_context = \"x: 1\"\n  Q1? "+
			"\"Which?\"\n    - \"a\" \"\"\n    - \"b\" \"\"\n")
}
