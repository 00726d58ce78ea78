package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"claude-supervise/e2e/claude"
)

// asksByMCP is an agent that asks the person by our MCP server, as one of the host's own. Its prompt stands in no id that
// is made by chance: a handle that has it would begin all again.
const asksByMCP = `
name: asks-by-mcp
about: asks by the MCP server
prompt: none
turns:
  - when: "## BEGIN"
    replies:
      - tools:
          - name: mcp__person__ask_user
            input: {question: "Which database?", options: [{label: PostgreSQL}, {label: SQLite}]}
      - text: "TASK_COMPLETE\nsummary: All is done."
expect: {status: succeeded}
`

// person is the config of a host that has our MCP server.
func (w *world) person(flags ...string) string {
	w.t.Helper()
	doc, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"person": map[string]any{"type": "stdio", "command": w.Program, "args": append([]string{"mcp"}, flags...)}}})
	noError(w.t, err)
	return string(doc)
}

// An ordinary claude -p asks by it, its process is killed, asks the same again, and has the answer that came meanwhile.
func TestAHostAsksThePersonByMCP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.real(load(t, w.scenario(asksByMCP)), nil)
	host := func() *exec.Cmd {
		cmd := exec.Command(claude.Program(t), "-p", "## BEGIN", "--mcp-config="+w.person(), "--allowedTools=mcp__person",
			"--permission-mode=default")
		cmd.Dir, cmd.Env = w.Cwd, w.Env
		return cmd
	}
	one := host()
	noError(t, one.Start())
	waitUntil(t, "it asks", func() bool { return len(w.questions()) == 1 })
	q := w.questions()[0]
	if q.Run != "" || q.Question != "Which database?" || len(q.Options) != 2 {
		t.Errorf("it asks %+v", q)
	}
	noError(t, one.Process.Signal(syscall.SIGKILL))
	_ = one.Wait()
	w.must("answer", q.ID, "2")
	out, err := host().CombinedOutput()
	if err != nil || !strings.Contains(string(out), "All is done.") || !w.API.Received("SQLite") {
		t.Errorf("it says %s, %v", out, err)
	}
	if open := w.must("questions"); !strings.Contains(open, "No question is open") {
		t.Errorf("open are\n%s", open)
	}
}

// Where a call does not wait as long as the person takes, the agent is told by which handle to ask again.
func TestAHostIsAskedToAskAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.real(load(t, w.scenario(strings.Replace(asksByMCP, "      - text:", `      - tools:
          - name: mcp__person__ask_user
            input: {question: "And which port?"}
      - text:`, 1))), nil)
	cmd := exec.Command(claude.Program(t), "-p", "## BEGIN", "--mcp-config="+w.person("--wait", "200ms"),
		"--allowedTools=mcp__person", "--permission-mode=default")
	cmd.Dir, cmd.Env = w.Cwd, w.Env
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "All is done.") {
		t.Errorf("it says %s, %v", out, err)
	}
	open := w.questions()
	if len(open) != 2 || !w.API.Received("There is no answer yet") || !w.API.Received(open[0].ID) {
		t.Errorf("open are %+v", open)
	}
}

// In a run it is the agent's own question.
func TestAnAgentThatAsksByMCPAsksInItsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.real(load(t, w.scenario(asksByMCP)), nil)
	run := strings.TrimSpace(w.must("run", "## BEGIN", "--detach", "--", "--mcp-config="+w.person(), "--allowedTools=mcp__person"))
	waitUntil(t, "it asks in its run", func() bool {
		qs := w.questions()
		return len(qs) == 1 && qs[0].Run == run
	})
	w.must("answer", w.questions()[0].ID, "2")
	w.run("wait", run)
	if !w.API.Received("SQLite") {
		t.Error("the agent has no answer")
	}
	if open := w.must("questions"); !strings.Contains(open, "No question is open") {
		t.Errorf("open are\n%s", open)
	}
}

// hasOurServer plays how the pages have the server made known to claude, and checks that claude finds it.
func hasOurServer(t *testing.T, command string) {
	t.Helper()
	w := newWorld(t)
	w.real(load(t, w.scenario(asksByMCP)), nil)
	bin := t.TempDir()
	noError(t, os.Symlink(w.Program, filepath.Join(bin, "claude-supervise")))
	for _, args := range [][]string{strings.Fields(command)[1:], {"mcp", "list"}} {
		cmd := exec.Command(claude.Program(t), args...)
		cmd.Dir, cmd.Env = w.Cwd, append(slices.Clone(w.Env), "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil || args[1] == "list" && !strings.Contains(string(out), "Connected") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}
