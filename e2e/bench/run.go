package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/messagesapi"
)

// How often a whole run is made.
const (
	runTimes  = 40
	realTimes = 6
)

// run measures what supervision adds to the time of an agent that works and reports: the stand-in.
func (b *bench) run(ctx context.Context) error {
	h, err := b.home("run")
	if err != nil {
		return err
	}
	h.Env = append(h.Env, envAgent+"=0")
	return h.compare(ctx, "run of the stand-in", h.self, runTimes)
}

// real measures the same with the real CLI, where claude.Variable names one.
func (b *bench) real(ctx context.Context) error {
	path := os.Getenv(claude.Variable)
	if path == "" {
		return nil
	}
	api := messagesapi.Serve(scenario(0), nil)
	defer api.Close()
	h, err := b.home("real")
	if err != nil {
		return err
	}
	h.Env = append(claude.Environment(h.Home, api.URL), h.Env...)
	return h.compare(ctx, "run of the real CLI", path, realTimes)
}

// compare runs the same agent supervised and bare, in turns.
func (h home) compare(ctx context.Context, name, agent string, times int) error {
	var supervised, bare samples
	for i := range times + 1 {
		began := clock()
		cmd := h.command(ctx, h.program, "run", "--quiet", "--claude", agent, task)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%w: %s", err, &said)
		}
		ended := clock()
		if err := h.bare(ctx, agent); err != nil {
			return err
		}
		if i > 0 { // the first makes the database, and fills the caches
			supervised, bare = append(supervised, since(began, ended)), append(bare, since(ended, clock()))
		}
	}
	h.table.add(figure{name: name, value: supervised.median(), floor: bare.median(), unit: "ms",
		target: 15, bound: overFloor})
	return nil
}

// bare drives an agent through the same task with the least that can be: what it is told at once, and the end of its
// input when it has its result.
func (h home) bare(ctx context.Context, agent string) (err error) {
	cmd := h.command(ctx, agent, "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--permission-prompt-tool", "stdio", "--replay-user-messages")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := answerTask(in, out); err != nil {
		return errors.Join(err, cmd.Wait())
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return err
	}
	return nil
}

// answerTask says the task, waits for the result, and ends the input.
func answerTask(in io.WriteCloser, out io.Reader) error {
	_, err := io.WriteString(in, `{"type":"control_request","request_id":"init","request":{"subtype":"initialize"}}`+"\n"+
		`{"type":"user","message":{"role":"user","content":"## YOUR TASK\n\nYour agent id: a-7Qm2xK9fWb4T"}}`+"\n")
	if err != nil {
		return err
	}
	reported := false
	for r := bufio.NewReaderSize(out, 1<<20); ; {
		line, err := r.ReadBytes('\n')
		if bytes.Contains(line, []byte(`"type":"result"`)) {
			reported = true
			if err := in.Close(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			if !reported {
				return errors.New("the bare agent gave no result")
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}
