package e2e

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/examples"
)

// inTheBackground is what the agent of an interactive session does on /supervise: it starts the work, is told of the
// question, asks the person, hands the answer over, and tells what came of it.
const inTheBackground = `
name: interactive
about: the agent of an interactive session has work done in the background
prompt: none
turns:
  - when: "# Have this done in the background: Add a login to the web service"
    replies:
      - tools:
          - name: Bash
            input: {command: "claude-supervise run --detach --quiet --name login --demo ask --cwd . --check off"}
      - tools: [{name: Bash, input: {command: "claude-supervise wait --question login"}}]
      - tools: [{name: Bash, input: {command: "claude-supervise questions --json"}}]
      - tools:
          - name: AskUserQuestion
            input:
              questions:
                - question: Which way of login should the service use?
                  header: Login
                  multiSelect: false
                  options:
                    - {label: JWT, description: a signed token that the browser keeps}
                    - {label: Sessions, description: an id that the server looks up}
      - tools: [{name: Bash, input: {command: "claude-supervise answer JWT"}}]
      - tools: [{name: Bash, input: {command: "claude-supervise wait --question login"}}]
      - tools: [{name: Bash, input: {command: "claude-supervise show login"}}]
      - text: "The login is in place."
expect: {status: succeeded}
`

// The scenario of the documents that have a main agent: it stays with the person, who is asked by AskUserQuestion, and
// what the background asks waits however long that takes. The session is the real CLI as an application drives it; what
// init's command permits by itself runs unasked, and starting work and answering does not.
func TestTheAgentOfAnInteractiveSessionHasWorkDoneInTheBackground(t *testing.T) {
	t.Parallel()
	program := claude.Program(t)
	w := newWorld(t)
	w.must("init")
	s, err := examples.Load(w.scenario(inTheBackground))
	noError(t, err)
	api := messagesapi.Serve(s, nil)
	t.Cleanup(api.Close)
	cmd := exec.Command(program, "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--permission-prompt-tool", "stdio")
	cmd.Dir, cmd.Env = w.Cwd, append(claude.Environment(w.Home, api.URL), w.Env...)
	stdin, err := cmd.StdinPipe()
	noError(t, err)
	stdout, err := cmd.StdoutPipe()
	noError(t, err)
	noError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	say := func(doc map[string]any) {
		line, err := json.Marshal(doc)
		noError(t, err)
		if _, err := stdin.Write(append(line, '\n')); err != nil {
			t.Error(err)
		}
	}
	say(map[string]any{"type": "control_request", "request_id": "init", "request": map[string]any{"subtype": "initialize"}})
	say(map[string]any{"type": "user", "message": map[string]any{"role": "user",
		"content": "/supervise Add a login to the web service"}})
	var asked, permitted []string
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var m struct {
			Type      string
			RequestID string `json:"request_id"`
			Result    string
			Request   struct {
				ToolName string `json:"tool_name"`
				Input    map[string]any
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		switch {
		case m.Type == "control_request" && m.Request.ToolName == "AskUserQuestion":
			asked = append(asked, "Which way of login should the service use?")
			m.Request.Input["answers"] = map[string]string{asked[0]: "JWT"}
		case m.Type == "control_request":
			permitted = append(permitted, m.Request.Input["command"].(string))
		case m.Type == "result":
			if m.Result != "The login is in place." {
				t.Errorf("the session ends with %s", lines.Text())
			}
			_ = stdin.Close() // the end of the session
			continue
		default:
			continue
		}
		say(map[string]any{"type": "control_response", "response": map[string]any{"subtype": "success",
			"request_id": m.RequestID, "response": map[string]any{"behavior": "allow", "updatedInput": m.Request.Input}}})
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	w.written("auth.txt", "login by JWT\n")
	if len(asked) != 1 || len(permitted) != 2 || !strings.HasPrefix(permitted[0], "claude-supervise run ") ||
		permitted[1] != "claude-supervise answer JWT" {
		t.Errorf("the person was asked %q and permitted %q", asked, permitted)
	}
	for _, read := range []string{`"question":"Which way of login should the service use?"`, "login by JWT was set up"} {
		if !api.Received(strings.ReplaceAll(read, `"`, `\"`)) && !api.Received(read) {
			t.Errorf("the session's agent has not read %s", read)
		}
	}
}
