// Package notify tells a person who is not looking at the terminal that something has happened, through a command of
// the person's own.
//
// It decides nothing: when there is something to tell, and what, is the supervisor's.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxWords bounds what of a failed command's output its error repeats, in bytes.
const maxWords = 300

// Send is Pipe of an event as JSON.
func Send(ctx context.Context, command []string, event any) error {
	doc, err := json.Marshal(event)
	if err != nil {
		return err
	}
	return Pipe(ctx, command, append(doc, '\n'))
}

// Pipe runs a command with a text on its stdin, and waits for its end; when ctx is done it is killed with all it has
// started. The error says how it failed, with the last it has printed.
func Pipe(ctx context.Context, command []string, text []byte) error {
	cmd := prepare(ctx, command)
	cmd.Stdin = bytes.NewReader(text)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	_, err := run(ctx, cmd)
	return err
}

// Ask is Send for what has buttons: it gives the number of the one that was pressed, -1 if none was. It stands for as
// long as the command's stdin is open. That ends when ctx is done, and when this process dies.
func Ask(ctx context.Context, command []string, event any) (int, error) {
	doc, err := json.Marshal(event)
	if err != nil {
		return -1, err
	}
	from, to, err := os.Pipe()
	if err != nil {
		return -1, err
	}
	defer func() { _ = errors.Join(from.Close(), to.Close()) }() // it may be closed already
	if _, err := to.Write(append(doc, '\n')); err != nil {       // a pipe holds more than a banner has
		return -1, err
	}
	cmd := prepare(ctx, command)
	cmd.Stdin, cmd.Cancel = from, to.Close
	said, err := run(ctx, cmd)
	if err != nil {
		return -1, err
	}
	pressed, err := strconv.Atoi(strings.TrimSpace(said))
	if err != nil {
		return -1, nil //nolint:nilerr // it was closed, or the desktop has no buttons
	}
	return pressed, nil
}

func prepare(ctx context.Context, command []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // not a session: those of our children are agents
	cmd.WaitDelay = time.Second
	return cmd
}

// run returns what the command has printed.
func run(ctx context.Context, cmd *exec.Cmd) (string, error) {
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay), errors.Is(err, os.ErrProcessDone), errors.Is(err, syscall.EPIPE):
		err = nil // it has ended well; it need not have read, nor have closed its output
	}
	if err == nil {
		return said.String(), nil
	}
	if words := strings.TrimSpace(said.String()); words != "" {
		return "", fmt.Errorf("%s: %w: %s", cmd.Args[0], err, words[max(0, len(words)-maxWords):])
	}
	return "", fmt.Errorf("%s: %w", cmd.Args[0], err)
}
