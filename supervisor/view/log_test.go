package view

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/procs/stream"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/internal/storetest"
)

// A logged is a run whose agent's log a test writes.
type logged struct {
	*storetest.Saver
	log  Log
	path string
}

func newLogged(t *testing.T) *logged {
	t.Helper()
	dirs := storetest.TestDirs(t)
	s := storetest.NewSaver(t, dirs, "r-logged01")
	s.Commit(checkpoints.Change{Run: &s.Run, Agents: []*supervisor.Agent{{ID: s.Run.Root, Run: s.Run.ID}}})
	log, err := Reader{Dirs: dirs, Store: s.Store}.Log(t.Context(), s.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	return &logged{s, log, dirs.AgentLog(s.Run.ID, s.Run.Root)}
}

// followed is RunLog.Follow of the one agent.
func (l Log) followed(ctx context.Context, k KeepingUp, each func([]byte) error) (RunView, error) {
	one := RunLog{Run: l.Run, Agent: l.Agent, KeepingUp: k, reader: l.Reader}
	return one.Follow(ctx, func(line LogLine) error { return each(line.Line) })
}

func (l *logged) write(text string) {
	l.T.Helper()
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		l.T.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		l.T.Fatal(err)
	}
}

// unstamped takes the time off what is said, with its date if it has one.
func unstamped(text string) string {
	return regexp.MustCompile(`^(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d `).ReplaceAllString(text, "")
}

func TestALogIsReadByteForByteOrIsNotThere(t *testing.T) {
	l := newLogged(t)
	if err := l.log.Each(func([]byte) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	whole := "{\"one\":1}\n\n\x9b not JSON\n{\"cut"
	l.write(whole)
	var got strings.Builder
	if err := l.log.Each(func(line []byte) error { got.Write(line); return nil }); err != nil || got.String() != whole {
		t.Errorf("%q, %v", got.String(), err)
	}
}

func TestALogIsFollowedLineByLineUntilNobodyWritesToIt(t *testing.T) {
	l := newLogged(t)
	lines := make(chan string)
	ended := make(chan RunView, 1)
	go func() {
		v, err := l.log.followed(t.Context(), KeepingUp{}, func(line []byte) error { lines <- string(line); return nil })
		if err != nil {
			t.Error(err)
		}
		ended <- v
	}()
	l.write("first\nsec") // the file is made now
	if got := <-lines; got != "first\n" {
		t.Errorf("%q", got)
	}
	l.write("ond\n")
	if got := <-lines; got != "second\n" {
		t.Errorf("%q", got)
	}
	l.write("third\ncut by a crash")
	if got := <-lines; got != "third\n" {
		t.Errorf("%q", got)
	}
	l.Save(checkpoints.Running, "launch 1")
	l.Leave("")
	if got := <-lines; got != "cut by a crash" {
		t.Errorf("%q", got)
	}
	if v := <-ended; v.Status != checkpoints.Orphaned {
		t.Errorf("it ended with %+v", v)
	}
}

func TestFollowingALogEndsWithItsReader(t *testing.T) {
	l := newLogged(t)
	l.write("one\n")
	gone := errors.New("gone")
	if _, err := l.log.followed(t.Context(), KeepingUp{}, func([]byte) error { return gone }); !errors.Is(err, gone) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := l.log.followed(ctx, KeepingUp{}, func([]byte) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestWhatACommandPrintsIsSaidAsItIs(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`one\r\n\ttwo\n`, "one\r\n\ttwo"},
		{`no newline`, "no newline"},
		{`\n`, ""},
		{`\u001b[?25h`, ""},
	} {
		got := Said([]byte(`{"launch":1,"time":"2026-11-21T10:00:00Z","line":{"type":"raw","text":"` + c.text + `"}}`))
		if c.want == "" && len(got) == 0 {
			continue
		}
		if len(got) != 1 || unstamped(got[0]) != c.want {
			t.Errorf("%s: %q", c.text, got)
		}
	}
}

func TestACallIsSaidByWhatItAsksOrTells(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"mcp__supervise__ask_user", `{"questions":[{"text":"Which?\nReally?"},{"text":"How many?"}]}`,
			"[ask_user] Which? · How many?"},
		{"AskUserQuestion", `{"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]}]}`,
			"[AskUserQuestion] Which?"},
		{"mcp__supervise__stop_work", `{"blocker_type":"error","details":"no disk"}`, "[stop_work] no disk"},
		{"mcp__supervise__delegate_work", `{"new_task_description":"the tests"}`, "[delegate_work] the tests"},
		{"mcp__supervise__report_progress", `{"percent":10,"step":"reading"}`, "[report_progress] 10 % reading"},
		{"mcp__supervise__send_message", `{"to":"user","text":"halfway"}`, "[send_message] message to you: halfway"},
		{"mcp__supervise__report_completion", `{"status":"success","summary":"done"}`, "[report_completion] success: done"},

		{"mcp__supervise__check_work", `{"agent_id":"a-1"}`, "[supervise: check_work] agent_id: a-1"},
		{"mcp__supervise__ask_user", `{"questions":[]}`, "[supervise: ask_user] questions: []"},
		{"AskUserQuestion", `{"questions":7}`, "[AskUserQuestion] questions: 7"},
		{"ask_user", `{"questions":[{"text":"Which?"}]}`, `[ask_user] questions: [{"text":"Which?"}]`},
		{"Bash", `{"command":"ls"}`, "[Bash] command: ls"},
		{"mcp__shop__order", `{"size":"M"}`, "[shop: order] size: M"},
	} {
		line := fmt.Sprintf(
			`{"time":"2026-11-21T10:00:00Z","line":{"type":"assistant","message":{"content":[{"type":"tool_use","name":%q,"input":%s}]}}}`, c.name, c.input)
		got := Said([]byte(line))
		if len(got) != 1 || unstamped(got[0]) != c.want {
			t.Errorf("%s %s: %q, want %q", c.name, c.input, got, c.want)
		}
	}
}

func TestALineWithoutEndIsNotKeptInMemory(t *testing.T) {
	l := newLogged(t)
	l.write("short\n")
	if err := os.Truncate(l.path, stream.MaxLine+100); err != nil { // a hole of zero bytes
		t.Fatal(err)
	}
	n := 0
	err := l.log.Each(func([]byte) error { n++; return nil })
	if err == nil || !strings.Contains(err.Error(), "a line of more than 64 MiB") || n != 1 {
		t.Errorf("after %d lines: %v", n, err)
	}
}

// However a file grows, its lines come out as they went in.
func FuzzTail(f *testing.F) {
	f.Add([]byte("one\ntwo\nthr"), uint8(1))
	f.Add([]byte("\n\n\r\n"), uint8(2))
	f.Add(append(bytes.Repeat([]byte("long"), 40_000), '\n'), uint8(200))
	f.Fuzz(func(t *testing.T, content []byte, step uint8) {
		path := filepath.Join(t.TempDir(), "log")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		tail := tail{path: path}
		defer tail.close()
		var got []byte
		each := func(line []byte) error {
			if n := bytes.IndexByte(line, '\n'); n >= 0 && n != len(line)-1 {
				t.Fatalf("two lines in one: %q", line)
			}
			got = append(got, line...)
			return nil
		}
		for rest, size := content, 1+len(content)/(1+int(step)); len(rest) > 0; {
			n := min(size, len(rest))
			if _, err := file.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
			if err := tail.each(each); err != nil {
				t.Fatal(err)
			}
			if len(got) > 0 && got[len(got)-1] != '\n' {
				t.Fatalf("half a line: %q", got)
			}
		}
		if err := tail.rest(each); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, content) {
			t.Errorf("got %q, want %q", got, content)
		}
	})
}

func BenchmarkTail(b *testing.B) {
	path := filepath.Join(b.TempDir(), "log")
	line := append(bytes.Repeat([]byte("x"), 999), '\n')
	if err := os.WriteFile(path, bytes.Repeat(line, 10_000), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(10_000 * 1000)
	for b.Loop() {
		if err := EachLogLine(path, 0, func([]byte) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// texts is a log of texts, numbered from 1.
func texts(n int, padding string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"launch":1,"time":"2026-01-11T09:00:00Z","line":{"type":"user","of":%q}}`+"\n", padding)
		fmt.Fprintf(&b,
			`{"launch":1,"time":"2026-01-11T09:00:00Z","line":{"type":"assistant","message":{"id":"m%d","content":[{"type":"text","text":"text %d"}]}}}`+"\n", i, i+1)
	}
	return b.String()
}

func TestRecentGivesTheLastThingsSaidAndWhatComesAfter(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		want   []string
	}{
		"nothing yet":   {"", nil},
		"few":           {texts(2, ""), []string{"text 1", "text 2"}},
		"many":          {texts(9, ""), []string{"text 7", "text 8", "text 9"}},
		"far apart":     {texts(9, strings.Repeat("x", 100<<10)), []string{"text 7", "text 8", "text 9"}},
		"too far apart": {texts(2, strings.Repeat("x", maxRecent)), []string{"text 2"}},
		"a line that is unended": {texts(2, "") +
			`{"launch":1,"time":"2026-01-11T09:00:00Z","line":{"type":"assistant","message":{"content":[{"type":"text",`,
			[]string{"text 1", "text 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLogged(t)
			if c.before != "" {
				l.write(c.before)
			}
			said, after, err := l.log.Recent(3)
			if err != nil {
				t.Fatal(err)
			}
			for i, text := range said {
				said[i] = unstamped(text)
			}
			if !slices.Equal(said, c.want) {
				t.Errorf("said were %q, want %q", said, c.want)
			}
			unended := c.before[strings.LastIndexByte(c.before, '\n')+1:]
			l.write("more\n")
			var rest strings.Builder
			if err := after.Each(func(line []byte) error { rest.Write(line); return nil }); err != nil ||
				rest.String() != unended+"more\n" {
				t.Errorf("after them comes %q, %v", rest.String(), err)
			}
		})
	}
}

func TestProseIsWhatIsSaidWithoutTheAgentsSignals(t *testing.T) {
	l := newLogged(t)
	say := Prose(l.log.Agent)
	in := func(text string) []byte {
		doc, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Appendf(nil,
			`{"launch":1,"time":"2026-01-11T09:00:00Z","line":{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":%s}]}}}`, doc)
	}
	ask := "[CLARIFICATION_NEEDED]\nagent_id: %s\nquestions:\n  - text: Which?\n[/CLARIFICATION_NEEDED]"
	own, foreign := fmt.Sprintf(ask, l.log.Agent), fmt.Sprintf(ask, "a-other")
	for text, want := range map[string]string{
		"Two ways fit.\n\n" + own: "Two ways fit.", own: "", "quoted:\n" + foreign: "quoted:\n" + foreign, "plain": "plain",
	} {
		got := unstamped(strings.Join(say(in(text)), "\n"))
		if got != want {
			t.Errorf("%q is said as %q", text, got)
		}
		say([]byte(`{"launch":1,"time":"2026-01-11T09:00:00Z","line":{"type":"result","subtype":"success"}}`))
	}
	if got := strings.Join(Said(in(own)), ""); !strings.HasSuffix(got, own) {
		t.Errorf("logs would say %q", got)
	}
}
