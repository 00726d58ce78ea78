package claude

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/procs"
	"claude-supervise/procs/stream"
)

var update = flag.Bool("update", false, "write the golden files anew")

// captures returns what the child said in each recorded conversation; lines after "STDIN> " are ours.
func captures(t testing.TB) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/captures/*.*json*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	all := map[string][]string{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		noError(t, err)
		for line := range strings.Lines(string(data)) {
			if !strings.HasPrefix(line, "STDIN> ") {
				all[path] = append(all[path], line)
			}
		}
	}
	return all
}

// written returns a message as its golden file has it.
func written(m procs.Message) string {
	data, err := json.Marshal(m)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s %s\n", reflect.TypeOf(m).Name(), data)
}

func TestEveryCaptureDecodesToItsMessages(t *testing.T) {
	for path, lines := range captures(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			var got strings.Builder
			var d decoder
			for _, line := range lines {
				messages, isJSON := d.decode([]byte(line))
				if !isJSON {
					t.Errorf("not JSON: %s", line)
				}
				for _, m := range messages {
					got.WriteString(written(m))
				}
			}
			golden := filepath.Join("testdata/messages", filepath.Base(path)+".golden")
			if *update {
				noError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
			}
			want, err := os.ReadFile(golden)
			noError(t, err)
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestALineMeansWhatItSays(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       []procs.Message
	}{
		{"several blocks in one line",
			`{"message":{"id":"m","content":[{"type":"thinking","thinking":"…"},{"type":"text","text":"a"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]},"parent_tool_use_id":"p","type":"assistant"}`,
			[]procs.Message{procs.Text{ID: "m", Parent: "p", Text: "a"},
				procs.ToolUse{MessageID: "m", Parent: "p", ID: "t", Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}}},
		{"an API failure in the assistant's place is not its text, and its result tells it",
			`{"type":"assistant","is_api_error_message":true,"message":{"content":[{"type":"text","text":"API Error: 529"}]}}`,
			nil},
		{"a subagent's API failure is what happens",
			`{"type":"assistant","parent_tool_use_id":"t","is_api_error_message":true,"message":{"content":[{"type":"text","text":"API Error: 529"}]}}`,
			[]procs.Message{procs.Activity{Text: "API Error: 529"}}},
		{"a call that the CLI refuses by itself",
			`{"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"t","decision_reason_type":"mode","message":"x"}`,
			[]procs.Message{procs.Refused{Tool: "Bash", ToolUse: "t", Why: "its permission mode asks nobody"}}},
		{"and its own words where it has some",
			`{"type":"system","subtype":"permission_denied","tool_name":"Bash","decision_reason_type":"classifier","decision_reason":"not\nnow"}`,
			[]procs.Message{procs.Refused{Tool: "Bash", Why: "the check of the mode auto has refused it: not now"}}},
		{"of a sort that is not known", `{"type":"system","subtype":"permission_denied","decision_reason_type":"new"}`,
			[]procs.Message{procs.Refused{}}},
		{"a replayed prompt, outside a turn",
			`{"type":"user","uuid":"u","isReplay":true,"message":{"role":"user","content":"hello"}}`,
			[]procs.Message{procs.Said{UUID: "u", Text: "hello"}, procs.Receipt{UUID: "u", State: "completed"}}},
		{"a subagent's prompt is nobody's message",
			`{"type":"user","uuid":"u","parent_tool_use_id":"t","message":{"content":[{"type":"text","text":"do it"}]}}`, nil},
		{"results of several calls, their texts joined",
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"tool_result","tool_use_id":"b","is_error":true,"content":[{"type":"text","text":"2"},{"type":"image"},{"type":"text","text":"3"}]}]}}`,
			[]procs.Message{procs.ToolResult{ToolUse: "a", Text: "1"}, procs.ToolResult{ToolUse: "b", Text: "2\n3", IsError: true}}},
		{"a hook of the person's own answers in place of who is asked",
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"The user answered: …"}]},` +
				`"tool_use_result":{"questions":[{"question":"Which?"}],"answers":{"Which?":"B"}},"tool_result_meta":[{"id":"a",` +
				`"permission_decision":{"decision":"accept","source":"hook","reason_type":"hook"}}]}`,
			[]procs.Message{procs.ToolResult{ToolUse: "a", Text: "The user answered: …",
				Hook: &procs.HookDecision{Accepted: true, Answers: map[string]string{"Which?": "B"}}}}},
		{"it refuses a call",
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"no","is_error":true}]},` +
				`"tool_use_result":"Error: no","tool_result_meta":[{"id":"a","non_execution_kind":"permission-rule",` +
				`"permission_decision":{"decision":"reject","source":"hook"}}]}`,
			[]procs.Message{procs.ToolResult{ToolUse: "a", Text: "no", IsError: true, Hook: &procs.HookDecision{Text: "no"}}}},
		{"the person answers",
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"A"}]},"tool_result_meta":` +
				`[{"id":"a","permission_decision":{"decision":"accept","source":"user_temporary"}}]}`,
			[]procs.Message{procs.ToolResult{ToolUse: "a", Text: "A"}}},
		{"a long tool",
			`{"type":"tool_progress","tool_name":"Bash","elapsed_time_seconds":90}`,
			[]procs.Message{procs.Activity{Text: "Bash, 1m30s", Beat: true}}},
		{"a withdrawn question",
			`{"type":"control_cancel_request","request_id":"r"}`, []procs.Message{procs.AskCancelled{Request: "r"}}},
		{"a hook that is not ours",
			`{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback","callback_id":"other"}}`,
			[]procs.Message{unanswerable{Request: "r", Subtype: "hook_callback"}}},
		{"colours around JSON",
			"\x1b[1m{\"type\":\"control_cancel_request\",\"request_id\":\"r\"}\x1b[0m\x1b[?25h",
			[]procs.Message{procs.AskCancelled{Request: "r"}}},
		{"the end of the terminal", "\x1b[?25h", nil},
		{"the same of 2.1.200", "\x1b[?25h\x0f", nil},
		{"a type of tomorrow", `{"type":"tomorrow"}`, nil},
		{"a message without content", `{"type":"assistant","message":{}}`, nil},
		{"no message at all", `{"type":"user"}`, nil},
		{"a warning", "warning: \xff", []procs.Message{procs.Garbled{Line: "warning: \uFFFD"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d decoder
			got, _ := d.decode([]byte(c.line))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// backgroundOf returns the lists that a conversation tells, in order.
func backgroundOf(lines ...string) (lists []any) {
	var d decoder
	for _, line := range lines {
		messages, _ := d.decode([]byte(line))
		for _, m := range messages {
			switch m := m.(type) {
			case procs.Background:
				lists = append(lists, names(m.Tasks))
			case procs.StopHook:
				lists = append(lists, "at the gate", names(m.Background))
			}
		}
	}
	return lists
}

func names(tasks []procs.Task) (names []string) {
	for _, t := range tasks {
		names = append(names, t.Name)
	}
	return names
}

func TestTheFirstLineIsReadBehindWhatAWrapperPrintsBeforeIt(t *testing.T) {
	const first = `{"type":"system","subtype":"compact_boundary"}`
	var d decoder
	for _, before := range []string{"", "\ufeff", "Loading... ", "note {\"a\": 1} ", "{", `{"x`} {
		if got := d.beginning([]byte(before + first)); got != len(before) {
			t.Errorf("behind %q the first line begins at %d", before, got)
		}
	}
	for _, none := range []string{"Loading...", `note {"a": 1}`, first + " and more", strings.Repeat(" ", procs.MaxShown) + first} {
		if got := d.beginning([]byte(none)); got != 0 {
			t.Errorf("in %.60q the first line begins at %d", none, got)
		}
	}
	d.decode([]byte(first))
	if got := d.beginning([]byte("debug: " + first)); got != 0 {
		t.Error("a later line that quotes one is taken for it")
	}
}

func TestWhatLivesInTheBackgroundIsToldByEveryRelease(t *testing.T) {
	const (
		shell     = `{"type":"system","subtype":"task_started","task_id":"s","task_type":"local_bash","description":"make"}`
		agent     = `{"type":"system","subtype":"task_started","task_id":"a","task_type":"local_agent","description":"look"}`
		inFront   = `{"type":"system","subtype":"task_started","task_id":"f","task_type":"local_agent","description":"x","is_backgrounded":false}`
		shellDone = `{"type":"system","subtype":"task_notification","task_id":"s"}`
		agentDone = `{"type":"system","subtype":"task_notification","task_id":"a"}`
		good      = `{"type":"result","subtype":"success"}`
		cutOff    = `{"type":"result","subtype":"error_during_execution"}`
		bareHook  = `{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback","callback_id":"stop","input":{}}}`
		fullHook  = `{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback","callback_id":"stop","input":{"background_tasks":[{"id":"s","type":"shell","command":"make all"}]}}}`
		emptyHook = `{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback","callback_id":"stop","input":{"background_tasks":[]}}}`
		listOne   = `{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"s","task_type":"local_bash","description":"make"}]}`
		listNone  = `{"type":"system","subtype":"background_tasks_changed","tasks":[]}`
	)
	none := []string(nil)
	for _, c := range []struct {
		name  string
		lines []string
		want  []any
	}{
		{"2.1.100 counts", []string{shell, agent, bareHook, agentDone, good, shellDone},
			[]any{[]string{"shell: make"}, []string{"shell: make", "subagent: look"}, "at the gate",
				[]string{"shell: make", "subagent: look"}, []string{"shell: make"}, none}},
		{"2.1.100 forgets an agent that a cut turn may have held", []string{shell, agent, cutOff},
			[]any{[]string{"shell: make"}, []string{"shell: make", "subagent: look"}, []string{"shell: make"}}},
		{"2.1.200 lists at the gate", []string{agent, fullHook, shellDone, emptyHook},
			[]any{[]string{"subagent: look"}, "at the gate", []string{"shell: make all"}, none, "at the gate", none}},
		{"2.1.329 lists at once", []string{listOne, shell, listNone, shellDone},
			[]any{[]string{"shell: make"}, none}},
		{"an agent in the foreground is none", []string{inFront}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, backgroundOf(c.lines...)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAChildCannotFillTheMemoryWithTasks(t *testing.T) {
	var b background
	for i := range maxTasks + 1 {
		b.add(task{id: fmt.Sprint(i)})
	}
	if len(b.tasks) != maxTasks {
		t.Errorf("%d tasks are kept", len(b.tasks))
	}
}

// FuzzDecode: whatever a child prints, its messages are bounded and nothing else happens to us.
func FuzzDecode(f *testing.F) {
	for _, lines := range captures(f) {
		for _, line := range lines {
			f.Add([]byte(line))
		}
	}
	f.Add([]byte("\x1b[31m{\"type\":\"result\"}\x1b[?25h"))
	f.Fuzz(func(t *testing.T, line []byte) {
		var d decoder
		messages, isJSON := d.decode(bytes.Clone(line))
		for _, m := range messages {
			switch m := m.(type) {
			case procs.Garbled:
				if isJSON || len(m.Line) > procs.MaxShown+100 || !utf8.ValidString(m.Line) {
					t.Errorf("garbled: %d bytes of %q", len(m.Line), line)
				}
			case procs.ToolResult:
				if len(m.Text) > procs.MaxResult+100 {
					t.Errorf("a result of %d bytes", len(m.Text))
				}
			}
			if strings.HasPrefix(written(m), "json:") {
				t.Errorf("%T cannot be kept", m)
			}
		}
		if isJSON && !json.Valid(bytes.TrimSpace(line)) && !bytes.ContainsRune(line, 0x1b) {
			t.Errorf("%q is called JSON", line)
		}
	})
}

// FuzzInput: whatever is said to a child is one line of JSON that says the same.
func FuzzInput(f *testing.F) {
	f.Add("u", "hello\nworld")
	f.Add("", "\xff\u2028</script>\x00")
	f.Fuzz(func(t *testing.T, uuid, text string) {
		r, w, err := os.Pipe()
		noError(t, err)
		defer r.Close()
		p := &dialogue{stdin: newWriter(w)}
		said := make(chan error, 1)
		go func() {
			said <- p.Send(uuid, text)
			p.stdin.close()
		}()
		in := stream.NewLines(r, stream.MaxLine)
		line, whole, err := in.Next()
		if err != nil || !whole {
			t.Fatalf("no line: %v", err)
		}
		var d decoder
		got, _ := d.decode(line)
		want := procs.Said{UUID: strings.ToValidUTF8(uuid, "\uFFFD"), Text: strings.ToValidUTF8(text, "\uFFFD")}
		// A run of broken bytes becomes one replacement for strings, one each for JSON.
		squeeze := strings.NewReplacer("\uFFFD", "")
		said1, ok := got[0].(procs.Said)
		if !ok || squeeze.Replace(said1.UUID) != squeeze.Replace(want.UUID) ||
			squeeze.Replace(said1.Text) != squeeze.Replace(want.Text) {
			t.Errorf("said %+v, read %+v", want, got)
		}
		if _, _, err := in.Next(); err == nil {
			t.Error("a second line")
		}
		noError(t, <-said)
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, size := range []string{"captures", "a result of 1 MB"} {
		b.Run(size, func(b *testing.B) {
			var all [][]byte
			total := 0
			add := func(line []byte) { all, total = append(all, line), total+len(line) }
			if size == "captures" {
				for _, lines := range captures(b) {
					for _, line := range lines {
						add([]byte(line))
					}
				}
			} else {
				text, _ := json.Marshal(strings.Repeat("some output\n", 1<<20/12))
				add(fmt.Appendf(nil,
					`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":%s}]}}`, text))
			}
			b.SetBytes(int64(total))
			b.ReportAllocs()
			for b.Loop() {
				var d decoder
				for _, line := range all {
					d.decode(line)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(all)), "µs/line")
		})
	}
}

func TestAResultAsksNobodyIfItOnlyTellsOfATask(t *testing.T) {
	notice := procs.Result{Subtype: "success", Origin: "task-notification"}
	for name, c := range map[string]struct {
		change func(*procs.Result)
		want   bool
	}{
		"a notice":             {func(*procs.Result) {}, true},
		"a turn of its own":    {func(r *procs.Result) { r.NumTurns, r.Text = 1, "The service has a name." }, false},
		"an empty turn":        {func(r *procs.Result) { r.NumTurns = 1 }, false},
		"the end of a prompt":  {func(r *procs.Result) { r.Origin = "" }, false},
		"a failure of the API": {func(r *procs.Result) { r.IsError = true }, false},
		"a turn that was cut":  {func(r *procs.Result) { r.Subtype = "error_during_execution" }, false},
	} {
		r := notice
		c.change(&r)
		if got := r.AsksNobody(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
