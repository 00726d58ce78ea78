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
	"strings"
	"syscall"
	"time"
)

// maxWords bounds what of a failed command's output its error repeats, in bytes.
const maxWords = 300

// Send runs a command with an event as JSON on its stdin, and waits for its end; when ctx is done it is killed with all
// it has started. The error says how it failed, with the last it has printed.
func Send(ctx context.Context, command []string, event any) error {
	doc, err := json.Marshal(event)
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(append(doc, '\n')), &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // not a session: those of our children are agents
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay), errors.Is(err, os.ErrProcessDone), errors.Is(err, syscall.EPIPE):
		err = nil // it has ended well; it need not have read, nor have closed its output
	}
	if err == nil {
		return nil
	}
	if words := strings.TrimSpace(said.String()); words != "" {
		return fmt.Errorf("%s: %w: %s", command[0], err, words[max(0, len(words)-maxWords):])
	}
	return fmt.Errorf("%s: %w", command[0], err)
}
