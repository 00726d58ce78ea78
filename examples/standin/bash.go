package standin

import (
	"claude-supervise/examples"

	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxOutput bounds what of a command's output the model sees, in bytes.
const maxOutput = 30000

// tasksOf finds the tasks that a notification is about.
var tasksOf = examples.Lazily(`^<task-notification>\n(<task-id>.*</task-id>\n?)+`)

// A task is a command that runs: in the background, or the one that the turn waits for.
type task struct {
	id, description, command, call string
	output                         *os.File
	cmd                            *exec.Cmd
	err                            error         // of its end
	over                           chan struct{} // closed then
}

// start begins a command in a session of its own, as the CLI does: a killed agent leaves it behind.
func (a *agent) start(made call, output *os.File) (*task, error) {
	t := &task{
		id: taskID(), description: made.text("description"), command: made.text("command"), call: made.id,
		output: output, cmd: exec.Command("/bin/sh", "-c", made.text("command")), over: make(chan struct{}),
	}
	t.cmd.Dir, t.cmd.Env = a.cwd, slices.Concat(a.env, []string{"CLAUDECODE=1"})
	t.cmd.Stdout, t.cmd.Stderr = output, output
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := t.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a command: %w", err)
	}
	// Not waited for: a command of the background outlives the agent, as the CLI's own do.
	go func() {
		t.err = t.cmd.Wait()
		close(t.over)
		select {
		case a.ended <- t:
		case <-a.done:
		}
	}()
	return t, nil
}

// kill ends the command and all in its session's first group, and waits for it.
func (t *task) kill() {
	_ = syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL) // it may have ended by itself
	<-t.over
}

func (t *task) isOver() bool {
	select {
	case <-t.over:
		return true
	default:
		return false
	}
}

// status is the exit status of a command that has ended, as a shell tells it.
func (t *task) status() int {
	var exit *exec.ExitError
	if !errors.As(t.err, &exit) {
		return 0
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return exit.ExitCode()
}

// bash runs a command and waits for it. When the turn or the process is to end first, the command is killed.
func (c *conversation) bash(made call) (result, error) {
	if background, _ := made.input["run_in_background"].(bool); background {
		return c.inBackground(made)
	}
	output, err := os.CreateTemp("", "stand-in-bash-*")
	if err != nil {
		return result{}, fmt.Errorf("keep a command's output: %w", err)
	}
	defer func() { _ = output.Close() }()
	if err := os.Remove(output.Name()); err != nil { // the open file is enough, and a crash leaves none behind
		return result{}, fmt.Errorf("keep a command's output: %w", err)
	}
	t, err := c.start(made, output)
	if err != nil {
		return result{}, err
	}
	var cut error
	for !t.isOver() && cut == nil {
		cut = c.wait()
	}
	if cut != nil {
		t.kill()
	}
	text, err := t.text()
	switch {
	case errors.Is(cut, errInterrupted):
		return brokenOff(stoppedCall), cut
	case err != nil:
		return result{}, fmt.Errorf("read a command's output: %w", err)
	case t.status() != 0:
		return failure(strings.TrimSuffix(fmt.Sprintf("Exit code %d\n%s", t.status(), text), "\n")), cut
	}
	shown := text
	if text == "" {
		shown = "(Bash completed with no output)"
	}
	return result{text: shown, data: bashData(text)}, cut
}

func bashData(stdout string) doc {
	return doc{"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false}
}

// text returns the command's output, bounded.
func (t *task) text() (string, error) {
	data, err := io.ReadAll(io.NewSectionReader(t.output, 0, maxOutput+1))
	if err != nil {
		return "", err
	}
	text := string(data)
	if len(text) > maxOutput {
		text = text[:maxOutput] + "\n… [output truncated]"
	}
	return strings.TrimRight(text, "\n"), nil
}

// taskID makes an id of the CLI's form.
func taskID() string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	id := []byte("b00000000")
	for i := range id[1:] {
		id[i+1] = letters[rand.IntN(len(letters))]
	}
	return string(id)
}

// outputPath is where the output of a background task is kept for the model to read. The CLI keeps it under /tmp.
func (a *agent) outputPath(id string) string {
	return filepath.Join(strings.TrimSuffix(a.main.transcript.path, ".jsonl"), "tasks", id+".output")
}
