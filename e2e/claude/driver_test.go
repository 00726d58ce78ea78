package claude

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"claude-supervise/examples"
)

// An agent is a program that speaks the CLI's streams: how it is started, and in which environment.
type agent struct {
	name string
	argv []string
	env  []string
}

// A session is one conversation with an agent in a folder of its own, over as many processes as it takes.
type session struct {
	t        *testing.T
	agent    agent
	scenario examples.Scenario
	id       string
	home     string
	cwd      string
	kill     func()
	tee string
}

// baseArgs are the flags that the supervisor gives to every launch.
var baseArgs = []string{
	"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
	"--permission-prompt-tool", "stdio", "--replay-user-messages", "--forward-subagent-text",
}

func newSession(t *testing.T, a agent, s examples.Scenario) *session {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ses := &session{t: t, agent: a, scenario: s, id: uuid.NewString(), home: filepath.Join(dir, "home"), cwd: filepath.Join(dir, "work")}
	for _, d := range []string{ses.home, ses.cwd} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return ses
}

// A process is one launch of a session. Its lines are those that it has printed, decoded.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr strings.Builder
	lines  []line
	tee string
}

// A line is one message of the stream.
type line map[string]any

// at follows keys into a line; nil where there is none.
func (l line) at(keys ...string) any {
	var v any = map[string]any(l)
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

func (l line) text(keys ...string) string {
	s, _ := l.at(keys...).(string)
	return s
}

// kind names a message by its type and, where that says too little, its subtype.
func (l line) kind() string {
	if l.text("type") == "control_request" {
		return "control_request/" + l.text("request", "subtype")
	}
	if sub := l.text("subtype"); sub != "" && l.text("type") == "system" {
		return l.text("type") + "/" + sub
	}
	return l.text("type")
}

func (s *session) start(args ...string) *process {
	s.t.Helper()
	argv := append(append([]string{}, s.agent.argv...), baseArgs...)
	argv = append(append(argv, args...), s.scenario.ClaudeFlags...)
	p := &process{tee: s.tee, t: s.t, cmd: exec.Command(argv[0], argv[1:]...)}
	p.cmd.Dir = s.cwd
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home}, s.agent.env...)
	p.cmd.Stderr = &p.stderr
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	p.stdout = bufio.NewReaderSize(stdout, 1<<20)
	if err := p.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.kill = func() { _ = p.cmd.Process.Kill() }
	s.t.Cleanup(s.kill)
	return p
}

func (p *process) send(doc any) {
	p.t.Helper()
	data, err := json.Marshal(doc)
	if err != nil {
		p.t.Fatal(err)
	}
	p.raw(string(data))
}

func (p *process) raw(text string) {
	if _, err := io.WriteString(p.stdin, text+"\n"); err != nil {
		p.t.Logf("send: %v", err)
	}
}

func (p *process) say(uuid, text string) {
	p.send(map[string]any{"type": "user", "uuid": uuid, "message": map[string]any{"role": "user", "content": text}})
}

func (p *process) initialize() {
	p.send(map[string]any{"type": "control_request", "request_id": "init", "request": map[string]any{
		"subtype": "initialize",
		"hooks":   map[string]any{"Stop": []any{map[string]any{"matcher": nil, "hookCallbackIds": []string{"stop"}}}},
	}})
}

func (p *process) respond(request string, body any) {
	p.send(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": request, "response": body,
	}})
}

// next reads the next line; false at the end of the stream.
func (p *process) next() (line, bool) {
	p.t.Helper()
	data, err := p.stdout.ReadBytes('\n')
	if err != nil {
		return nil, false
	}
	if p.tee != "" { f,_ := os.OpenFile(p.tee, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); f.Write(data); f.Close() }
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		p.t.Fatalf("a line that is not JSON: %q", data)
	}
	p.lines = append(p.lines, l)
	return l, true
}

// until reads up to a line of that kind.
func (p *process) until(kind string) line {
	p.t.Helper()
	for {
		l, ok := p.next()
		if !ok {
			p.t.Fatalf("the stream ended before %s; stderr: %s", kind, p.stderr.String())
		}
		if l.kind() == kind {
			return l
		}
	}
}

// wait reads to the end and gives the exit status, -1 for a signal.
func (p *process) wait() int {
	for {
		if _, ok := p.next(); !ok {
			break
		}
	}
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

const agentID = "a-7Qm2xK9fWb4T"

func (s *session) task() string {
	return fmt.Sprintf("## EXECUTION CONTEXT\n\nYour agent id: %s\n\n## YOUR TASK\n\n%s", agentID, s.scenario.Prompt)
}
