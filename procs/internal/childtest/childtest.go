// Package childtest has a test binary be the process that it tests, too.
package childtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// With this variable set, or this before its first argument, the test binary plays the part of that name.
const (
	PartVariable = "PROCS_TEST_CHILD"
	PartArgument = "part="
)

// Main plays a part of a child, or runs the tests. It does not return.
func Main(m *testing.M, parts map[string]func(*Child)) {
	name := os.Getenv(PartVariable)
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], PartArgument) {
		name = strings.TrimPrefix(os.Args[1], PartArgument)
	}
	if name != "" {
		part, ok := parts[name]
		if !ok {
			fmt.Fprintln(os.Stderr, "no such part:", name)
			os.Exit(2)
		}
		part(&Child{in: bufio.NewReader(os.Stdin)})
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A Child speaks like the CLI, in a few words.
type Child struct{ in *bufio.Reader }

// Read returns the next line of input, nil at its end. It blocks.
func (c *Child) Read() map[string]any {
	line, err := c.in.ReadBytes('\n')
	if err != nil {
		return nil
	}
	var v map[string]any
	if err := json.Unmarshal(line, &v); err != nil {
		fmt.Fprintln(os.Stderr, "not JSON:", err)
		os.Exit(1) // as the CLI does
	}
	return v
}

// Write prints a line.
func (c *Child) Write(v any) {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(line, '\n'))
}

// Text says a text.
func (c *Child) Text(text string) {
	c.Write(map[string]any{"type": "assistant", "parent_tool_use_id": nil, "message": map[string]any{
		"id": "msg_1", "role": "assistant", "content": []any{map[string]any{"type": "text", "text": text}},
	}})
}

// Init begins a turn.
func (c *Child) Init() {
	c.Write(map[string]any{"type": "system", "subtype": "init", "session_id": "s"})
}

// Again returns the command that runs this binary as another child of that part.
func Again(part string, attr *syscall.SysProcAttr, env []string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(exe)
	cmd.Env, cmd.SysProcAttr = append(env, PartVariable+"="+part), attr
	return cmd
}

// IgnoreSignals has the process be deaf to those that ask for its end.
func IgnoreSignals() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
}

// Stay waits for the end that others make.
func Stay() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGCHLD) // so that this is no deadlock
	select {}
}
