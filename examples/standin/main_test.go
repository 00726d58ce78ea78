package standin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"claude-supervise/examples"
	"claude-supervise/procs/pty"
)

// What the stand-in prints is held to the real CLI in package e2e/claude. Here is what that cannot show: the stand-in
// inside the test's own process, its ends, and input that no supervisor sends.

func load(t testing.TB, source string) examples.Scenario {
	t.Helper()
	if !strings.Contains(source, "\n") {
		s, err := examples.Load(source)
		noError(t, err)
		return s
	}
	s, err := examples.Parse([]byte("name: case\nabout: a case\nprompt: do it\nexpect: {status: succeeded}\nturns:\n" +
		source))
	noError(t, err)
	return s
}

var flags = []string{
	"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--permission-prompt-tool",
	"stdio",
}

// A child is the stand-in under way in this process.
type child struct {
	t      testing.TB
	stdin  *io.PipeWriter
	stdout *bufio.Scanner
	stderr strings.Builder
	exit   chan int
}

// start lets the stand-in play in a folder of its own, which becomes that of the test.
func start(ctx context.Context, t testing.TB, s examples.Scenario, args ...string) *child {
	t.Helper()
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	c := &child{t: t, stdin: stdin, stdout: bufio.NewScanner(stdout), exit: make(chan int, 1)}
	env := []string{"HOME=" + home(t), "PATH=/usr/bin:/bin"}
	c.stdout.Buffer(nil, 1<<20)
	go func() {
		code := Main(ctx, s, append(append([]string{}, flags...), args...), env, in, out, &c.stderr)
		_ = out.Close()
		_ = in.Close()
		c.exit <- code
	}()
	t.Cleanup(func() { _, _ = stdin.Close(), stdout.Close() })
	return c
}

// home is where the stand-ins of one test keep their conversations.
func home(t testing.TB) string {
	t.Helper()
	if _, err := os.Stat("main_test.go"); err == nil { // nothing is left among the sources
		t.Chdir(t.TempDir())
	}
	cwd, err := os.Getwd()
	noError(t, err)
	return filepath.Join(cwd, "home")
}

func (c *child) say(text string) {
	c.send(map[string]any{"type": "user", "uuid": uuid.NewString(),
		"message": map[string]any{"role": "user", "content": text}})
}

func (c *child) send(v any) {
	data, err := json.Marshal(v)
	noError(c.t, err)
	_, _ = c.stdin.Write(append(data, '\n')) // it may have ended: its exit tells
}

// until reads up to a line of that type; nil at the end.
func (c *child) until(kind string) map[string]any {
	for c.stdout.Scan() {
		var line map[string]any
		if err := json.Unmarshal(c.stdout.Bytes(), &line); err != nil {
			c.t.Errorf("it prints %q", c.stdout.Text())
		}
		if line["type"] == kind {
			return line
		}
	}
	return nil
}

func (c *child) end() int {
	_ = c.stdin.Close()
	c.until("")
	return <-c.exit
}

// mkfifos makes the named pipes by which a test and a command wait for each other.
func mkfifos(names ...string) error {
	for _, name := range names {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func TestTheDemoIsPlayedFromTaskToReport(t *testing.T) {
	t.Chdir(t.TempDir())
	s := load(t, "ask")
	c := start(t.Context(), t, s, s.ClaudeFlags...)
	c.say("Your agent id: a-7Qm2xK9fWb4T\n\n## YOUR TASK\n\n" + s.Prompt)
	if r := c.until("result"); !strings.Contains(fmt.Sprint(r["result"]), "agent_id: a-7Qm2xK9fWb4T") {
		t.Fatalf("it does not ask: %v", r)
	}
	c.say("## CLARIFICATION RESPONSE\n\nA1: Sessions")
	if r := c.until("result"); !strings.Contains(fmt.Sprint(r["result"]), "summary: login by Sessions was set up") {
		t.Fatalf("it does not report: %v", r)
	}
	if code := c.end(); code != 0 {
		t.Errorf("it exits %d: %s", code, c.stderr.String())
	}
	if got, err := os.ReadFile("auth.txt"); err != nil || string(got) != "login by Sessions\n" {
		t.Errorf("auth.txt holds %q (%v)", got, err)
	}
}

func TestTheEndOfItsContextIsATermination(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	c := start(ctx, t, load(t, `
  - when: "## YOUR TASK"
    replies: [{hang: true}]
`))
	c.say("## YOUR TASK")
	c.until("system")
	cancel()
	if code := c.end(); code != 143 {
		t.Errorf("it exits %d", code)
	}
}

// The call fails at once, and the model makes it again.
func TestATerminationEndsASubagentThatNeverWaits(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	c := start(ctx, t, load(t, `
  - when: "## YOUR TASK"
    replies: [{tools: [{name: Agent, input: {description: a part, prompt: "## PART", subagent_type: general-purpose}}]}]
  - when: "## PART"
    replies: [{tools: [{name: mcp__supervise__ask_user, input: {questions: []}}]}]
`))
	c.say("## YOUR TASK")
	for range 10 {
		c.until("user")
	}
	cancel()
	if code := c.end(); code != 143 {
		t.Errorf("it exits %d", code)
	}
}

func TestACrashLeavesTheRunningWorkAndSaysNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	c := start(t.Context(), t, load(t, `
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Bash, input: {command: "read line < go; echo alive > after", run_in_background: true}}]
      - crash: 99
`), "--dangerously-skip-permissions")
	noError(t, mkfifos("go", "after"))
	c.say("## YOUR TASK")
	if r := c.until("result"); r != nil {
		t.Errorf("there is a result: %v", r)
	}
	if code := <-c.exit; code != 99 {
		t.Errorf("it exits %d", code)
	}
	noError(t, os.WriteFile("go", []byte("\n"), 0o600))
	if after, err := os.ReadFile("after"); err != nil || string(after) != "alive\n" {
		t.Errorf("the work did not live on: %q (%v)", after, err)
	}
}

func TestAReaderThatIsGoneEndsIt(t *testing.T) {
	t.Chdir(t.TempDir())
	var stderr strings.Builder
	in := strings.NewReader(`{"type":"user","message":{"role":"user","content":"## YOUR TASK"}}` + "\n")
	code := Main(t.Context(), load(t, "partial"), flags, []string{"HOME=" + home(t)}, in, broken{}, &stderr)
	if code != exitFailed || !strings.Contains(stderr.String(), "the reader is gone") {
		t.Errorf("it exits %d: %s", code, stderr.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestATerminalGetsItsCursorBack(t *testing.T) {
	t.Chdir(t.TempDir())
	terminal, tty, err := pty.Open()
	noError(t, err)
	defer func() { _ = terminal.Close() }()
	shown := make(chan string)
	go func() {
		data, _ := io.ReadAll(terminal) // it ends with an error once nobody holds the other side
		shown <- string(data)
	}()
	code := Main(t.Context(), load(t, "partial"), flags, []string{"HOME=" + home(t)}, strings.NewReader(""),
		tty, io.Discard)
	_ = tty.Close()
	if got := <-shown; code != 0 || got != "\x1b[?25h" {
		t.Errorf("it exits %d after %q", code, got)
	}
}

func TestWithoutAHomeItSaysWhyItCannotGoOn(t *testing.T) {
	t.Chdir(t.TempDir())
	noError(t, os.WriteFile("file", nil, 0o600))
	var stderr strings.Builder
	in := strings.NewReader(`{"type":"user","message":{"role":"user","content":"## YOUR TASK"}}` + "\n")
	cwd := filepath.Dir(home(t))
	code := Main(t.Context(), load(t, "partial"), flags, []string{"HOME=" + filepath.Join(cwd, "file")},
		in, io.Discard, &stderr)
	if code != exitFailed || !strings.Contains(stderr.String(), "keep the conversation") {
		t.Errorf("it exits %d: %s", code, stderr.String())
	}
}

// Whatever comes in, the stand-in ends with a status, not a panic.
func FuzzInput(f *testing.F) {
	f.Add(`{"type":"user","message":{"role":"user","content":"## YOUR TASK"}}`)
	f.Add(
		`{"type":"control_request","request_id":"1","request":{"subtype":"initialize","hooks":{"Stop":[{"hookCallbackIds":["a","b"]}]}}}` + "\n" +
			`{"type":"user","uuid":"x","message":{"content":[{"type":"text","text":"## YOUR TASK"}]}}` +
			"\n" + `{"type":"user","uuid":"x"}`)
	f.Add(`{"type":"control_request","request":{"subtype":"interrupt"}}` +
		"\n" + `{"type":"control_response","response":{"request_id":""}}`)
	f.Add(`{"type":"control_request","request":{"subtype":"set_permission_mode","mode":"\u0000"}}` + "\n\n" + `[]`)
	s := load(f, `
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Write, input: {file_path: "/", content: x}}, {name: AskUserQuestion, input: {questions: 3}}, {name: Read}]
      - text: done
`)
	f.Fuzz(func(t *testing.T, input string) {
		code := Main(t.Context(), s, flags, []string{"HOME=" + t.TempDir()}, strings.NewReader(input), io.Discard, io.Discard)
		if code != exitGood && code != exitFailed {
			t.Errorf("it exits %d", code)
		}
	})
}

// A turn without a tool: what each agent of a thousand costs beside its process.
func BenchmarkTurn(b *testing.B) {
	b.Chdir(b.TempDir())
	c := start(b.Context(), b, load(b, `
  - when: "## YOUR TASK"
    replies: [{text: done}]
`))
	for b.Loop() {
		c.say("Your agent id: a-7Qm2xK9fWb4T\n\n## YOUR TASK")
		if c.until("result") == nil {
			b.Fatal(c.stderr.String())
		}
	}
	if code := c.end(); code != 0 {
		b.Fatalf("it exits %d: %s", code, c.stderr.String())
	}
}

// noError ends a test that cannot go on.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
