package items

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"claude-supervise/cmd/internal/commandline"
)

// stopPatience is how long what a command has started may keep its output open once the command itself is gone.
const stopPatience = 5 * time.Second

// Command returns what a command prints that a person gives as one text (commandline.Parse), as Lines does. It runs in
// the folder, without a shell, with nothing on stdin; what it says on stderr goes to said. One that fails gives no
// items, whatever it has printed; one that prints too much is ended.
func Command(ctx context.Context, folder, line string, said io.Writer) ([]string, error) {
	command, err := commandline.Parse(line, os.Getenv)
	if err != nil {
		return nil, err
	}
	return printed(ctx, folder, command, said)
}

// printed is Command for the words of a command.
func printed(ctx context.Context, folder string, command []string, said io.Writer) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	out := &bounded{full: cancel}
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = folder, out, said, stopPatience
	if err := cmd.Run(); err != nil && !out.over() {
		return nil, fmt.Errorf("%s: %w", command[0], err)
	}
	return Lines(&out.text)
}

// bounded takes a text up to what Lines refuses, and no more.
type bounded struct {
	text bytes.Buffer
	full func() // called once that is reached
}

var errFull = errors.New("it is too much")

func (b *bounded) over() bool { return b.text.Len() > maxText }

func (b *bounded) Write(p []byte) (int, error) {
	n, _ := b.text.Write(p[:min(len(p), maxText+1-b.text.Len())])
	if b.over() {
		b.full()
		return n, errFull
	}
	return n, nil
}
