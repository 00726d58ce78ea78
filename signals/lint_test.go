package signals

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"claude-supervise/procs/stream"
)

// problemCodes are all that there are; each must be found in some case of TestLintNamesEachFault.
var problemCodes = []string{
	"bad_id", "bad_json", "bad_timestamp", "bad_value", "bad_yaml", "duplicate_key", "foreign",
	"missing_field", "truncated",
	"unclosed", "unknown_signal", "unopened",
}

// linted lints a file and names what is found, by its lines: "3-7 stop_work block", "3 missing_field".
func linted(tb testing.TB, file, agent string) []string {
	tb.Helper()
	found, err := Lint(strings.NewReader(file), LintConfig{Agent: agent})
	noError(tb, err)
	return named(found)
}

func named(found Findings) []string {
	all := []string{}
	for _, s := range found.Signals {
		all = append(all, fmt.Sprintf("%d-%d %s %s", s.Line, s.EndLine, s.Kind, s.Dialect))
	}
	for _, p := range found.Problems {
		all = append(all, fmt.Sprintf("%d %s", p.Line, p.Code))
	}
	return all
}

// clarification is a block without fault.
const clarification = `[CLARIFICATION_NEEDED]
agent_id: ` + me + `
timestamp: 2026-01-11T08:45:00-05:00
reason: two databases fit
questions:
  - question_id: Q1
    text: Which database?
[/CLARIFICATION_NEEDED]
`

func TestLintNamesEachFault(t *testing.T) {
	change := func(from, to string) string { return strings.Replace(clarification, from, to, 1) }
	ok := "1-8 clarification_needed block"
	seen := map[string]bool{}
	for _, c := range []struct {
		name, file, agent string
		want              []string
	}{
		{"none", clarification, me, []string{ok}},
		{"nothing at all", "", "", []string{}},
		{"talk", "I would print [STOP_WORK] here.\n", "", []string{}},
		{"below a text", "one\n\n" + clarification + "\nmore\n", "", []string{"3-10 clarification_needed block"}},
		{"CRLF", strings.ReplaceAll(clarification, "\n", "\r\n"), "", []string{ok}},
		{"no last newline", strings.TrimSuffix(clarification, "\n"), "", []string{ok}},
		{"two of the same", clarification + clarification, "", []string{ok}},

		{"a required field is missing", change("questions:\n  - question_id: Q1\n    text: Which database?\n", ""), "",
			[]string{"1-5 clarification_needed block", "1 missing_field"}},
		{"the timestamp is missing", change("timestamp: 2026-01-11T08:45:00-05:00\n", ""), "",
			[]string{"1-7 clarification_needed block", "1 missing_field"}},
		{"the agent_id is missing", change("agent_id: "+me+"\n", ""), "",
			[]string{"1-7 clarification_needed block", "1 missing_field"}},
		{"a stop needs no timestamp", stop(me), "", []string{"1-6 stop_work block"}},
		{"the YAML is broken", change("reason:", "??\nreason:"), "",
			[]string{"1-9 clarification_needed block", "4 bad_yaml"}},
		{"the timestamp is no time", change("2026-01-11T08:45:00-05:00", "this morning"),
			"", []string{ok, "3 bad_timestamp"}},
		{"a value is not of its set", strings.Replace(stop(me), "missing_info", "laziness", 1), "",
			[]string{"1-6 stop_work block", "4 bad_value"}},
		{"a key comes twice", change("reason:", "reason: one\nreason:"),
			"", []string{"1-9 clarification_needed block", "5 duplicate_key"}},
		{"it is not closed", change("[/CLARIFICATION_NEEDED]\n", ""),
			"", []string{"1-7 clarification_needed block", "1 unclosed"}},
		{"it was not opened", change("[CLARIFICATION_NEEDED]\n", ""), "", []string{"7 unopened"}},
		{"it is closed by another", change("[/CLARIFICATION", "[/STOP_WORK]\n[/CLARIFICATION"), "",
			[]string{"1-9 clarification_needed block", "8 unopened"}},
		{"it is none of the forms", "[NEED_INPUT]\nagent_id: x\n[/NEED_INPUT]\n", "", []string{"1 unknown_signal"}},
		{"the JSON is broken", `{"signal_type":"STOP_WORK","agent_id":"` +
			me + `","payload":{"stop_reason":"error","blocker_type":"error","details":'x',}}`, "",
			[]string{"1-1 stop_work json", "1 bad_json"}},
		{"another agent's", clarification, "a-other", []string{"1 foreign"}},
		{"another agent's with a fault", change("timestamp: 2026-01-11T08:45:00-05:00\n", ""), "a-other",
			[]string{"1 foreign"}},
		{"a placeholder for an id", change(me, "<agent-id>"), "", []string{"1 foreign"}},
		{"an escalation", "QUESTION_ESCALATED:q-1\n", "", []string{"1-1 clarification_needed escalated"}},
		{"an escalation whose id is no file name", "QUESTION_ESCALATED:../q-1\n",
			"", []string{"1-1 clarification_needed escalated", "1 bad_id"}},
		{"more than is read", change("two databases fit", strings.Repeat("x", 2*MaxBlock)),
			"", []string{ok, "1 missing_field", "1 truncated"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := linted(t, c.file, c.agent)
			for _, g := range got {
				if _, code, ok := strings.Cut(g, " "); ok && !strings.Contains(g, "-") {
					seen[code] = true
				}
			}
			same(t, got, c.want)
		})
	}
	same(t, slices.Sorted(maps.Keys(seen)), problemCodes)
}

func TestLintAsJSON(t *testing.T) {
	encode := func(file string) string {
		found, err := Lint(strings.NewReader(file), LintConfig{})
		noError(t, err)
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		noError(t, enc.Encode(found))
		return b.String()
	}
	same(t, encode(""), `{"signals":[],"problems":[]}`+"\n")
	same(t, encode("[PROGRESS]\nagent_id: x\nstep: <b>\n[/PROGRESS]\n"),
		`{"signals":[{"kind":"progress","dialect":"block","agent_id":"x","timestamp":"","line":1,"end_line":4,"fields":{"step":"<b>"},"questions":[]}],"problems":[]}`+"\n")
	same(t, encode(strings.Replace(clarification, "-05:00", "", 1)+"[/STOP_WORK]\n"),
		`{"signals":[{"kind":"clarification_needed","dialect":"block","agent_id":"`+
			me+`","timestamp":"2026-01-11T08:45:00","line":1,"end_line":8,`+
			`"fields":{"reason":"two databases fit"},"questions":[{"id":"Q1","text":"Which database?"}]}],`+
			`"problems":[{"line":9,"code":"unopened","message":"[/STOP_WORK] closes nothing that is open"}]}`+"\n")
}

func TestItsLinesTellWhatAFileIs(t *testing.T) {
	json1 := `{"signal_type":"PROGRESS","agent_id":"` + me + `","payload":{"percent":4}}`
	json2 := `{"signal_type":"PROGRESS","agent_id":"` + me + `","payload":{"percent":5}}`
	for _, c := range []struct {
		name, file string
		want       []string
	}{
		{"one JSON signal", json1, []string{"1-1 progress json"}},
		{"JSON signals only", json1 + "\n" + json2 + "\n", []string{"1-1 progress json", "2-2 progress json"}},
		{"a text that cites a line of a stream", "I saw:\n\n" + cliText("1", "x") + "\n\nand stop.\n" + stop(me),
			[]string{"6-11 stop_work block"}},
		{"a text that cites many", "I saw:\n" + strings.Repeat(cliText("1", stop(me))+"\n", 5), []string{}},
		{"a stream below a warning", "npm warn\n" + strings.Repeat(cliInit+"\n", 10) + cliText("1", stop(me)),
			[]string{"12-12 stop_work block"}},
		{"a stream with what was sent", strings.Repeat("STDIN> "+cliUser("x")+"\n", 3) + cliText("1", stop(me)),
			[]string{"4-4 stop_work block"}},
		{"blank lines and white space", "\n\n  " + cliText("1", stop(me)) + "\n\n", []string{"3-3 stop_work block"}},
		{"a first line longer than what is looked at", cliText("1", strings.Repeat("x", lintHead)+"\n"+stop(me)),
			[]string{"1-1 stop_work block"}},
		{"the first line of a log longer than what is looked at",
			logLine(1, cliText("1", strings.Repeat("x", lintHead)+"\n"+stop(me))), []string{"1-1 stop_work block"}},
		{"a stream cut off", cliText("1", stop(me)) + "\n" + `{"type":"assistant","mess`, []string{"1-1 stop_work block"}},
	} {
		t.Run(c.name, func(t *testing.T) { same(t, linted(t, c.file, me), c.want) })
	}
}

func TestLintReadsWhatTheReaderGives(t *testing.T) {
	for name, file := range map[string]string{"text": "hello\n" + clarification,
		"stream": cliInit + "\n" + cliText("1", clarification)} {
		t.Run(name, func(t *testing.T) {
			whole, err := Lint(strings.NewReader(file), LintConfig{})
			noError(t, err)
			byBytes, err := Lint(iotest.OneByteReader(strings.NewReader(file)), LintConfig{})
			same(t, err, nil)
			same(t, byBytes, whole)

			broken := errors.New("broken")
			_, err = Lint(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(file))), LintConfig{})
			if !errors.Is(err, iotest.ErrTimeout) {
				t.Errorf("the error of the first bytes is lost: %v", err)
			}
			long := strings.Repeat(file[:strings.IndexByte(file, '\n')+1], 1+lintHead/strings.IndexByte(file, '\n'))
			_, err = Lint(io.MultiReader(strings.NewReader(long), iotest.ErrReader(broken)), LintConfig{})
			if !errors.Is(err, broken) {
				t.Errorf("the error of later bytes is lost: %v", err)
			}
		})
	}
}

func TestLintIsBounded(t *testing.T) {
	t.Run("signals", func(t *testing.T) {
		var b strings.Builder
		for i := range maxFound + 5 {
			b.WriteString(cliCall(strconv.Itoa(i), "mcp__supervise__report_progress", fmt.Sprintf(`{"step":"%d"}`, i)) + "\n")
		}
		found, err := Lint(strings.NewReader(b.String()), LintConfig{})
		noError(t, err)
		same(t, len(found.Signals), maxFound)
		same(t, len(found.Problems), 5)
		same(t, found.Problems[0].Code, "truncated")
	})
	t.Run("their texts", func(t *testing.T) {
		l := newLinter(LintConfig{Agent: me})
		l.room = 100
		step := func(id, text string) string {
			return cliCall(id, "mcp__supervise__report_progress", `{"step":"`+text+`"}`) + "\n"
		}
		file := step("1", "small") + step("2", strings.Repeat("x", 100)) + step("3", "little")
		noError(t, l.stream(bufio.NewReader(strings.NewReader(file))))
		same(t, named(l.findings()), []string{"1-1 progress tool", "2 truncated", "3 truncated"})
	})
	t.Run("problems", func(t *testing.T) {
		line := cliCall("1", "mcp__supervise__report_progress", `{}`) + "\n"
		found, err := Lint(strings.NewReader(strings.Repeat(line, maxFound+5)), LintConfig{})
		noError(t, err)
		same(t, len(found.Problems), maxFound)
		same(t, found.Problems[maxFound-1].Code, "truncated")
	})
	t.Run("a line", func(t *testing.T) {
		long := io.MultiReader(strings.NewReader(cliInit+"\n"+`{"type":"assistant","x":"`),
			io.LimitReader(endless{}, stream.MaxLine), strings.NewReader("\"}\n"+cliText("1", stop(me))))
		found, err := Lint(long, LintConfig{})
		noError(t, err)
		same(t, named(found), []string{"3-3 stop_work block", "2 truncated"})
	})
	t.Run("calls without a result", func(t *testing.T) {
		var b strings.Builder
		for i := range maxCalls + 1 {
			b.WriteString(cliCall(strconv.Itoa(i), "Bash", `{"command":"echo '[STOP_WORK]'"}`) + "\n")
		}
		b.WriteString(cliResult(strconv.Itoa(maxCalls), stop(me)))
		same(t, linted(t, b.String(), me), []string{})
	})
	t.Run("a call's input", func(t *testing.T) {
		same(t, linted(t, cliCall("1", "mcp__supervise__send_message", `{"text":"`+strings.Repeat("x", MaxBlock)+`"}`), me),
			[]string{"1 truncated"})
	})
}

// endless is one byte again and again.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func FuzzLint(f *testing.F) {
	for _, text := range texts(f) {
		f.Add(text)
	}
	f.Add(strings.Join([]string{cliInit, cliCall("c", "Bash", `{"command":"echo '[STOP_WORK]'"}`),
		cliResult("c", stop(me)), cliUser("x"), cliText("1", stop("-")), cliEnd("")}, "\n"))
	f.Add(logLine(1, cliText("1", clarification)) + "\n" + logLine(2, `{"type":"raw","text":"[STOP_WORK]\ndetails: x\n"}`))
	f.Add(cliCall("c", "AskUserQuestion", `{"questions":[{"question":"Which?"}]}`))
	f.Fuzz(func(t *testing.T, file string) {
		found, err := Lint(strings.NewReader(file), LintConfig{})
		noError(t, err)
		lines := strings.Count(file, "\n") + 1
		for _, s := range found.Signals {
			if s.Line < 1 || s.EndLine < s.Line || s.EndLine > lines {
				t.Errorf("%s in lines %d to %d of %d", s.Kind, s.Line, s.EndLine, lines)
			}
		}
		for _, p := range found.Problems {
			if p.Line < 1 || p.Line > lines || !slices.Contains(problemCodes, p.Code) || p.Message == "" {
				t.Errorf("problem %v in a file of %d lines", p, lines)
			}
		}
		// A text says the same as a message of its own and as a conversation of one message.
		inMessage := LintMessage(file, LintConfig{})
		stream, err := Lint(strings.NewReader(cliText("1", file)), LintConfig{})
		noError(t, err)
		if len(stream.Signals) != len(inMessage.Signals) || len(stream.Problems) != len(inMessage.Problems) {
			t.Errorf("as a text %v, as a message %v", named(inMessage), named(stream))
		}
	})
}

func BenchmarkLint(b *testing.B) {
	prose := strings.Repeat("The scanner reads lines of text, and most of them can open nothing.\n", 100)
	for name, line := range map[string]string{"text": prose, "stream": cliText("1", prose) + "\n"} {
		b.Run(name, func(b *testing.B) {
			file := strings.Repeat(line, 1000) + "\n"
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Lint(strings.NewReader(file), LintConfig{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
