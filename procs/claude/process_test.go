package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"claude-supervise/procs"
	"claude-supervise/procs/internal/childtest"
)

// hangs bounds what a test waits for; it is no measure of anything. A line of 64 MiB took 20 s on a busy machine, under
// the race detector.
const hangs = 5 * time.Minute

// shortPatience is for what does not end by itself.
const shortPatience = 50 * time.Millisecond

// A run is a process under test and what it says.
type run struct {
	*procs.Process
	dialogue *dialogue
	t        *testing.T
	said     chan procs.Message
}

func spec(t *testing.T, part string) procs.Spec {
	t.Helper()
	exe, err := os.Executable()
	noError(t, err)
	return procs.Spec{
		Path: exe, SessionID: uuid.NewString(),
		Extra:  []string{childtest.PartVariable + "=" + part},
		Marker: procs.Marker{Run: "r-test", Agent: "a-" + uuid.NewString(), Launch: 1},
	}
}

// A listener is an Agent that keeps the dialogue.
type listener struct{ of **dialogue }

func (l listener) Launch(p *procs.Process) (procs.Launch, error) {
	made, err := Agent{}.Launch(p)
	if err == nil {
		*l.of = made.Exchange.(*dialogue)
	}
	return made, err
}

func start(t *testing.T, s procs.Spec) *run {
	t.Helper()
	r := &run{t: t, said: make(chan procs.Message, 1000)}
	p, err := procs.Start(listener{&r.dialogue}, s, func(m procs.Message) { r.said <- m })
	noError(t, err)
	r.Process = p
	p.Patience.Term = shortPatience
	t.Cleanup(func() { p.End(context.Background(), procs.Kill) })
	return r
}

// waits lets a request wait that the child has not made.
func (r *run) waits(id string, how answering) {
	r.t.Helper()
	noError(r.t, r.dialogue.waiting.add(request{id: id, how: how}))
}

// next returns the next message of a type and skips others.
func next[M procs.Message](r *run) M {
	r.t.Helper()
	for {
		select {
		case m := <-r.said:
			if m, ok := m.(M); ok {
				return m
			}
			if e, ok := m.(procs.Exit); ok {
				r.t.Fatalf("it ended, and never said a %T: %+v", *new(M), e)
			}
		case <-time.After(hangs):
			r.hung(fmt.Sprintf("it said no %T", *new(M)))
		}
	}
}

// rest returns all messages up to and with Exit.
func (r *run) rest() (all []procs.Message) {
	r.t.Helper()
	for {
		select {
		case m := <-r.said:
			all = append(all, m)
			if _, ok := m.(procs.Exit); ok {
				return all
			}
		case <-time.After(hangs):
			r.hung("it did not end")
		}
	}
}

// hung fails with what the child's goroutines are at.
func (r *run) hung(why string) {
	r.t.Helper()
	_ = syscall.Kill(r.PID(), syscall.SIGQUIT) // it may have ended
	for {
		select {
		case m := <-r.said:
			if e, ok := m.(procs.Exit); ok {
				r.t.Fatalf("%s\n%s", why, e.Stderr)
			}
		case <-time.After(hangs / 10):
			r.t.Fatal(why)
		}
	}
}

// childFacts are what the part "facts" finds of itself, beside what it must find in any case.
type childFacts struct {
	Args, Env []string
	Dir       string
	Columns   int
}

// facts reads them, and holds what is true of every child against them.
func (r *run) facts() childFacts {
	r.t.Helper()
	var facts childFacts
	var truths map[string]any
	line := next[procs.Text](r).Text
	for _, v := range []any{&facts, &truths} {
		noError(r.t, json.Unmarshal([]byte(line), v))
	}
	for fact, want := range map[string]bool{
		"stdout is a terminal": true, "stdin is a terminal": false, "stderr is a terminal": false,
		"stdout blocks": true, "leads its session": true, "is in the foreground": true,
	} {
		if truths[fact] != want {
			r.t.Errorf("%s: %v", fact, truths[fact])
		}
	}
	return facts
}

func TestAChildRunsOnARawPtyWithPipesBesides(t *testing.T) {
	s := spec(t, "facts")
	s.Dir = t.TempDir()
	s.Prefix = []string{"prefix"}
	s.Flags = []string{"--model", "haiku"}
	s.Without = []string{"--forward-subagent-text"}
	s.Env = []string{
		"PATH=/bin", "CLAUDECODE=1", "CLAUDE_CODE_MESSAGING_SOCKET=/run/x", "CLAUDE_CODE_SESSION_ID=outer",
		"CLAUDE_CODE_MAX_RETRIES=1", "MCP_TOOL_TIMEOUT=5", procs.EnvRun + "=r-outer",
	}
	r := start(t, s)
	facts := r.facts()
	wantArgs := []string{
		"prefix", "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--permission-prompt-tool", "stdio", "--replay-user-messages", "--session-id", s.SessionID, "--model", "haiku",
	}
	if !slices.Equal(facts.Args, wantArgs) {
		t.Errorf("arguments: %q", facts.Args)
	}
	if dir, err := filepath.EvalSymlinks(s.Dir); err != nil || facts.Dir != dir {
		t.Errorf("runs in %s, not %s (%v)", facts.Dir, dir, err)
	}
	slices.Sort(facts.Env)
	wantEnv := []string{
		"CLAUDE_CODE_MAX_RETRIES=1", procs.EnvAgent + "=" + s.Marker.Agent, procs.EnvLaunch + "=1", procs.EnvRun + "=r-test",
		"MCP_TOOL_TIMEOUT=2000000000", "PATH=/bin", childtest.PartVariable + "=facts", "PWD=" + s.Dir,
	}
	if !slices.Equal(facts.Env, wantEnv) {
		t.Errorf("environment: %q", facts.Env)
	}
}

func TestFirstLineSetsUpTheHooks(t *testing.T) {
	if got := next[procs.Text](start(t, spec(t, "show"))).Text; got != firstInput {
		t.Errorf("got %s", got)
	}
}

func TestEachThingSaidToAChildIsOneLineOfJSON(t *testing.T) {
	r := start(t, spec(t, "show"))
	next[procs.Text](r)
	r.waits("r1", byVerdict)
	r.waits("r2", byVerdict)
	r.waits("r3", byGate)
	r.waits("r4", byGate)
	r.waits("r5", byElicit)
	r.waits("r6", byElicit)
	for _, c := range []struct {
		say  func() error
		want string
	}{
		{func() error { return r.Send("u1", "two\nlines \u2028 \"quoted\"") },
			`{"message":{"content":"two\nlines \u2028 \"quoted\"","role":"user"},"type":"user","uuid":"u1"}`},
		{func() error { return r.Allow("r1", json.RawMessage("{\n \"a\": 1}")) },
			`{"response":{"request_id":"r1","response":{"behavior":"allow","updatedInput":{"a":1}},"subtype":"success"},"type":"control_response"}`},
		{func() error { return r.Deny("r2", "no", true) },
			`{"response":{"request_id":"r2","response":{"behavior":"deny","interrupt":true,"message":"no"},"subtype":"success"},"type":"control_response"}`},
		{func() error { return r.Gate("r3", "") },
			`{"response":{"request_id":"r3","response":{},"subtype":"success"},"type":"control_response"}`},
		{func() error { return r.Gate("r4", "report first") },
			`{"response":{"request_id":"r4","response":{"decision":"block","reason":"report ` +
				`first"},"subtype":"success"},"type":"control_response"}`},
		{func() error { return r.Elicit("r5", "accept", json.RawMessage(`{"size":"M"}`)) },
			`{"response":{"request_id":"r5","response":{"action":"accept","content":{"size":"M"}},"subtype":"success"},"type":"control_response"}`},
		{func() error { return r.Elicit("r6", "decline", nil) },
			`{"response":{"request_id":"r6","response":{"action":"decline"},"subtype":"success"},"type":"control_response"}`},
		{func() error { return r.dialogue.stdin.write(interrupt) },
			`{"request":{"subtype":"interrupt"},"request_id":"interrupt","type":"control_request"}`},
	} {
		noError(t, c.say())
		if got := next[procs.Text](r).Text; got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestBrokenInputForACallIsNeverWritten(t *testing.T) {
	r := start(t, spec(t, "show"))
	next[procs.Text](r)
	r.waits("r1", byVerdict)
	r.waits("r2", byElicit)
	r.waits("after", byGate)
	if err := r.Elicit("r2", "agree", nil); err == nil {
		t.Error("a server is answered what the protocol does not have")
	}
	for _, input := range []string{"", "{", "nonsense\n{}"} {
		if err := r.Allow("r1", json.RawMessage(input)); err == nil {
			t.Errorf("%q was written", input)
		}
	}
	noError(t, r.Gate("after", ""))
	if got := next[procs.Text](r).Text; !strings.Contains(got, `"after"`) {
		t.Errorf("the child read %s", got)
	}
}

func TestALongMessageGoesThereAndBack(t *testing.T) {
	r := start(t, spec(t, "echo"))
	long := strings.Repeat("0123456789 äöü\n", 1<<16)
	noError(t, r.Send("u", long))
	if got := next[procs.Text](r).Text; got != long {
		t.Errorf("%d bytes came back of %d", len(got), len(long))
	}
}

func TestNonsenseIsShownAndSurvived(t *testing.T) {
	all := start(t, spec(t, "nonsense")).rest()
	var got []string
	for _, m := range all {
		switch m := m.(type) {
		case procs.Garbled:
			got = append(got, fmt.Sprintf("garbled %.20q of %d", m.Line, len(m.Line)))
		case procs.Exit:
			got = append(got, fmt.Sprintf("exit %d", m.Code))
		case procs.Text:
			got = append(got, m.Text)
		default:
			t.Errorf("unexpected %T %+v", m, m)
		}
	}
	want := []string{
		`garbled "npm warn deprecated" of 19`,
		`garbled "{\"type\":\"assistant\"" of 19`,
		"half right",
		`map[error:unsupported control request "tomorrow" request_id:r1 subtype:error]`,
		`map[error:unsupported control request "" request_id:r2 subtype:error]`,
		"garbled \"\uFFFD\" of 3",
		`garbled "xxxxxxxxxxxxxxxxxxxx" of 4096`,
		"still here",
		`garbled "no newline" of 10`,
		"exit 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAKillInTheMiddleOfALineLosesNothingBeforeIt(t *testing.T) {
	r := start(t, spec(t, "cut"))
	if got := next[procs.Text](r).Text; got != "whole" {
		t.Errorf("got %q", got)
	}
	want := []procs.Message{
		procs.Garbled{Line: `{"type":"assistant","mess`},
		procs.Exit{Code: -1, Signal: "SIGKILL", Stderr: "last words\n", Spoke: true},
	}
	if got := r.rest(); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
	if procs.Exists(r.PID()) {
		t.Error("it is still there")
	}
	if err := r.Send("u", "hello?"); !errors.Is(err, errGone) {
		t.Errorf("a message to a dead process: %v", err)
	}
}

func TestExitIsToldThoughSomethingHoldsTheStreams(t *testing.T) {
	r := start(t, spec(t, "holder"))
	var pid int
	if _, err := fmt.Sscan(next[procs.Text](r).Text, &pid); err != nil {
		t.Fatal(err)
	}
	if e := next[procs.Exit](r); e.Code != 0 {
		t.Errorf("%+v", e)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("what it left is gone: %v", err)
	}
	if left := r.End(context.Background(), procs.Finish); len(left) != 1 || left[0].PID != pid || left[0].Alive {
		t.Errorf("what it left survived the end: %v", left)
	}
}

func TestASlowHandlerHoldsTheChildAndLosesNothing(t *testing.T) {
	held, let := make(chan struct{}), make(chan struct{})
	var got []string
	p, err := procs.Start(Agent{}, spec(t, "echo"), func(m procs.Message) {
		if text, ok := m.(procs.Text); ok {
			if len(got) == 0 {
				close(held)
				<-let
			}
			got = append(got, text.Text)
		}
	})
	noError(t, err)
	var want []string
	for i := range 200 {
		want = append(want, strings.Repeat(fmt.Sprint(i, " "), 500))
	}
	sent := make(chan error, 1)
	go func() {
		for _, text := range want {
			if err := p.Send("u", text); err != nil {
				sent <- err
				return
			}
		}
		sent <- p.CloseInput()
	}()
	<-held
	close(let)
	noError(t, <-sent)
	p.End(context.Background(), procs.Finish)
	if !slices.Equal(got, want) {
		t.Errorf("%d of %d messages, or not in order", len(got), len(want))
	}
}

func TestEveryLineIsLogged(t *testing.T) {
	s := spec(t, "cut")
	var log strings.Builder
	s.Log, s.Marker.Launch = &log, 7
	r := start(t, s)
	r.rest()
	type entry struct {
		Launch int
		Time   time.Time
		Line   json.RawMessage
		Stderr string
	}
	var lines, errs []string
	for text := range strings.Lines(log.String()) {
		var e entry
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if e.Launch != 7 || e.Time.Location() != time.UTC {
			t.Errorf("%s", text)
		}
		if e.Line != nil {
			lines = append(lines, string(e.Line))
		} else {
			errs = append(errs, e.Stderr)
		}
	}
	if len(lines) != 2 || !strings.Contains(lines[0], `"text":"whole"`) || lines[1] != `"{\"type\":\"assistant\",\"mess"` {
		t.Errorf("lines: %q", lines)
	}
	if !slices.Equal(errs, []string{"last words"}) {
		t.Errorf("stderr: %q", errs)
	}
	if r.LogErr() != nil {
		t.Error(r.LogErr())
	}
}

// A full disk takes half a line, then nothing, then everything again.
type fullDisk struct {
	strings.Builder
	writes int
}

var errFull = errors.New("no space left")

func (f *fullDisk) Write(p []byte) (int, error) {
	switch f.writes++; f.writes {
	case 1:
		n, _ := f.Builder.Write(p[:10])
		return n, errFull
	case 2:
		return 0, errors.New("another error")
	}
	return f.Builder.Write(p)
}

func TestALogThatCannotBeWrittenStopsNothing(t *testing.T) {
	s := spec(t, "echo")
	disk := new(fullDisk)
	s.Log = disk
	r := start(t, s)
	for _, text := range []string{"one", "two"} {
		noError(t, r.Send("u", text))
		if got := next[procs.Text](r).Text; got != text {
			t.Errorf("got %q", got)
		}
		next[procs.Result](r)
	}
	if !errors.Is(r.LogErr(), errFull) {
		t.Errorf("the error is %v", r.LogErr())
	}
	r.End(context.Background(), procs.Kill)
	broken, rest, _ := strings.Cut(disk.String(), "\n")
	if len(broken) != 10 {
		t.Errorf("the half line is %q", broken)
	}
	for text := range strings.Lines(rest) {
		if !json.Valid([]byte(text)) {
			t.Errorf("after the half line: %q", text)
		}
	}
}
