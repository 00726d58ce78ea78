package claude

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"claude-supervise/e2e/messagesapi"
	"claude-supervise/examples"
)

// An agent is one of the two programs that must be alike.
type agent string

const (
	standIn agent = "stand-in"
	realCLI agent = "real CLI"
)

// A session is one conversation with an agent, in a folder of its own, over as many processes as it takes.
type session struct {
	t        *testing.T
	agent    agent
	program  string // the real CLI, "" for the pinned one
	scenario examples.Scenario
	source   string // of the scenario: its name, or a file
	api      string // address of the Messages API that plays it to the real CLI
	id       string
	home     string
	cwd      string
	logs     *logs // the shape of all that was said and kept
	serves   bool  // the supervisor's tools
	// asksForTools says that their calls need leave.
	asksForTools bool
	cutOff       bool // a process ended in the middle of a call: what the transcript holds of it is a matter of luck

	mu      sync.Mutex
	process *process // the living one
}

// newSession makes a session that plays a built-in scenario, or one given as YAML from its turns on.
func newSession(t *testing.T, a agent, scenario string) *session {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	noError(t, err)
	s := &session{
		t: t, agent: a, source: scenario, logs: newLogs(), id: uuid.NewString(),
		home: filepath.Join(dir, "home"), cwd: filepath.Join(dir, "work"),
	}
	for _, d := range []string{s.home, s.cwd} {
		noError(t, os.Mkdir(d, 0o700))
	}
	if strings.Contains(scenario, "\n") {
		s.source = filepath.Join(dir, "scenario.yaml")
		text := "name: case\nabout: a case\nprompt: do it\nexpect: {status: succeeded}\nturns:\n" + scenario
		noError(t, os.WriteFile(s.source, []byte(text), 0o600))
	}
	if s.scenario, err = examples.Load(s.source); err != nil {
		t.Fatal(err)
	}
	outlast(s.scenario)
	s.serves = serves(s.scenario)
	if a == realCLI {
		api := messagesapi.Serve(s.scenario, func(r messagesapi.Request) {
			if r.Reply.Crash != 0 {
				s.signal(syscall.SIGKILL)
			}
		})
		t.Cleanup(api.Close)
		s.api = api.URL
	}
	return s
}

// A process is one launch of a session.
type process struct {
	s      *session
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr strings.Builder
	ending bool // it was sent a signal; under the session's lock
	closed bool // its input
}

// start launches the agent with the flags that the supervisor gives, and these.
func (s *session) start(flags ...string) *process {
	s.t.Helper()
	args := append([]string{
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--permission-prompt-tool", "stdio", "--replay-user-messages",
	}, flags...)
	if s.program == "" { // older ones refuse it
		args = append(args, "--forward-subagent-text")
	}
	if s.serves {
		args = append(args, `--mcp-config={"mcpServers":{"supervise":{"type":"sdk","name":"supervise"}}}`)
		if !s.asksForTools {
			args = append(args, "--allowedTools=mcp__supervise")
		}
	}
	args = append(args, s.scenario.ClaudeFlags...)
	fmt.Fprintf(s.logs.main(), "$ claude %s\n", s.plain(strings.Join(flags, " ")))
	p := &process{s: s}
	if s.agent == realCLI {
		p.cmd = exec.Command(cmp.Or(s.program, Program(s.t)), args...)
		p.cmd.Env = append(Environment(s.home, s.api), "CLAUDE_CODE_QUESTION_EXTENDED=1")
	} else {
		p.cmd = exec.Command(os.Args[0], args...)
		p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, playVariable + "=" + s.source}
	}
	p.cmd.Dir, p.cmd.Stderr = s.cwd, &p.stderr
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	noError(s.t, err)
	p.stdout = bufio.NewReaderSize(stdout, 1<<20)
	s.mu.Lock()
	defer s.mu.Unlock()
	noError(s.t, p.cmd.Start())
	s.process = p
	s.t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// begin starts a conversation with its task; resume goes on with it.
func (s *session) begin() *process {
	p := s.start("--session-id", s.id)
	p.initialize()
	p.say("task", s.task())
	return p
}

func (s *session) resume() *process {
	p := s.start("--resume", s.id)
	p.initialize()
	return p
}

func (s *session) task() string {
	return "## EXECUTION CONTEXT\n\nYour agent id: a-7Qm2xK9fWb4T\n\n## YOUR TASK\n\n" + s.scenario.Prompt
}

// settled blocks until the transcript holds the call that the agent waits in: the CLI writes it up to 100 ms late, and
// what is not yet there is lost with the process. subagents says how many subagents wait in calls of their own.
func (s *session) settled(subagents int) {
	session := filepath.Join(s.home, ".claude", "projects", "*", s.id)
	for holding(session+".jsonl", `"tool_use"`) < 1 ||
		holding(filepath.Join(session, "subagents", "*.jsonl"), `"input":{"questions"`) < subagents {
		time.Sleep(5 * time.Millisecond) // the agent needs the processor
	}
}

// holding counts the files that hold a text.
func holding(pattern, text string) int {
	n := 0
	found, _ := filepath.Glob(pattern)
	for _, path := range found {
		if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), text) {
			n++
		}
	}
	return n
}

// signal sends a signal to the living process. What that still prints is a matter of luck, and not written down.
func (s *session) signal(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.ending = true
	_ = s.process.cmd.Process.Signal(sig)
}

func (p *process) send(doc map[string]any) {
	data, err := json.Marshal(doc)
	noError(p.s.t, err)
	p.raw(string(data))
}

// raw writes a line. That the process may be gone is what some cases are about: its exit tells.
func (p *process) raw(line string) { _, _ = io.WriteString(p.stdin, line+"\n") }

// uuid makes that of a session's message from a name: the same name gives the same one.
func (s *session) uuid(name string) string {
	return uuid.NewSHA1(uuid.MustParse(s.id), []byte(name)).String()
}

// say sends a message of a person under a name that stands for its uuid.
func (p *process) say(name, text string) {
	p.send(map[string]any{"type": "user", "uuid": p.s.uuid(name),
		"message": map[string]any{"role": "user", "content": text}})
}

// goesOn plays the scenario's next turn, from what a person says to its end.
func (p *process) goesOn() {
	p.s.t.Helper()
	p.say("next", "## NEXT")
	p.finish("next")
}

func (p *process) initialize() {
	body := map[string]any{
		"hooks": map[string]any{"Stop": []any{map[string]any{"matcher": nil, "hookCallbackIds": []string{"stop"}}}},
	}
	if p.s.serves {
		body["sdkMcpServers"] = []string{"supervise"}
	}
	p.control("initialize", body)
}

// control sends a control request, whose id is its subtype.
func (p *process) control(subtype string, body map[string]any) {
	if body == nil {
		body = map[string]any{}
	}
	body["subtype"] = subtype
	p.send(map[string]any{"type": "control_request", "request_id": subtype, "request": body})
}

// respond answers a control request.
func (p *process) respond(to line, body map[string]any) {
	p.send(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": to.text("request_id"), "response": body,
	}})
}

// next reads the next line and writes down its shape; false at the end of the stream.
func (p *process) next() (line, bool) {
	p.s.t.Helper()
	data, err := p.stdout.ReadBytes('\n')
	if err != nil {
		return nil, false
	}
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		p.s.t.Fatalf("the agent printed a line that is not JSON: %q", data)
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	// A hook that is asked just as the input ends gets no answer: whether it is asked is a matter of luck.
	if !p.ending && !(p.closed && l.kind() == "control_request/hook_callback") {
		p.s.note(l)
	}
	p.greet(l)
	return l, true
}

// until reads up to the next line of one of these kinds.
func (p *process) until(kinds ...string) line {
	p.s.t.Helper()
	for {
		l, ok := p.next()
		if !ok {
			p.s.t.Fatalf("the stream ended before %s; stderr: %s", strings.Join(kinds, " or "), p.stderr.String())
		}
		for _, k := range kinds {
			if l.kind() == k {
				return l
			}
		}
	}
}

// finish lets the turn end: it lets the Stop hook pass and reads up to the last receipt after the result.
func (p *process) finish(last string) {
	p.s.t.Helper()
	for {
		l := p.until("control_request/hook_callback", "command_lifecycle")
		switch {
		case l.kind() == "control_request/hook_callback":
			p.respond(l, map[string]any{})
		case l.text("command_uuid") == p.s.uuid(last) && (l.text("state") == "completed" || l.text("state") == "cancelled"):
			return
		}
	}
}

// end reads the process to its end and writes down how it ended.
func (p *process) end() {
	p.s.t.Helper()
	for {
		if _, ok := p.next(); !ok {
			break
		}
	}
	_ = p.cmd.Wait() // the state tells
	code := p.cmd.ProcessState.ExitCode()
	if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		code = 128 + int(ws.Signal()) // a stand-in that crashes exits so
	}
	p.s.cutOff = p.s.cutOff || code == 137
	outcome := fmt.Sprintf("exit %d", code)
	if text := p.s.plain(strings.TrimSpace(p.stderr.String())); text != "" {
		outcome += ", stderr: " + text
	}
	fmt.Fprintf(p.s.logs.main(), "%s\n", outcome)
}

// leave closes the input of the process, and reads it to its end.
func (p *process) leave() {
	p.s.t.Helper()
	p.close()
	p.end()
}

func (p *process) close() {
	p.closed = true
	_ = p.stdin.Close()
}

// noError ends a test that cannot go on.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
