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
	"time"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/messagesapi"
)

// How often a whole run is made.
const (
	runTimes  = 40
	realTimes = 10
)

// run measures what supervision adds to the time of an agent that works and reports: the stand-in. It is more than the
// target, of which the start of a program of this size takes a third to a half (version). The rest is five waits for
// the disk, eight transactions of a millisecond of processor each, the tools and the gate, which the floor does
// without, and the looks at what the agent has left.
func (b *bench) run(ctx context.Context) error {
	homes, err := b.homes("run")
	if err != nil {
		return err
	}
	for i := range homes {
		homes[i].Env = append(homes[i].Env, envAgent+"=0")
	}
	return b.runs(ctx, "run of the stand-in", homes, b.self, runTimes)
}

// real measures the same with the real CLI, where claude.Variable names one; then beside the CLI that is asked for the
// same, for most of what it takes longer is its own doing (flags).
func (b *bench) real(ctx context.Context) error {
	path := os.Getenv(claude.Variable)
	if path == "" {
		return nil
	}
	api := messagesapi.Serve(scenario(0), nil)
	defer api.Close()
	homes, err := b.homes("real")
	if err != nil {
		return err
	}
	for i := range homes {
		homes[i].Reaches(api.URL)
	}
	if err := b.runs(ctx, "run of the real CLI", homes, path, realTimes); err != nil {
		return err
	}
	return b.compare(figure{name: overSame, unit: "ms", target: 15, bound: overFloor}, homes,
		realTimes, func(h home) error { return h.supervised(ctx, path) },
		func(h home) error {
			_, _, err := h.alone(ctx, path, whole)
			return err
		})
}

// overSame is the name of a figure whose floor is the CLI with all that the program asks of it, and nobody around it.
const overSame = "  over the CLI asked for the same"

// runs runs the same agent under each program and bare, in turns.
func (b *bench) runs(ctx context.Context, name string, homes []home, agent string, times int) error {
	return b.compare(figure{name: name, unit: "ms", target: 15, bound: overFloor}, homes, times,
		func(h home) error { return h.supervised(ctx, agent) }, func(h home) error { return h.bare(ctx, agent) })
}

// supervised has the home's program run an agent.
func (h home) supervised(ctx context.Context, agent string) error {
	out, err := h.command(ctx, h.program.path, "run", "--quiet", "--claude", agent, task).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// compare adds a figure: how long something takes with each program in its home, and how long its counterpart takes
// that is the floor, in turns.
func (b *bench) compare(f figure, homes []home, times int, do, floor func(home) error) error {
	f.values = make([]samples, len(homes))
	for i := range times + 1 {
		took := make([]time.Duration, len(homes))
		for _, which := range b.turn(i) {
			began := clock()
			if err := do(homes[which]); err != nil {
				return fmt.Errorf("%s: %w", homes[which].program.name, err)
			}
			took[which] = since(began, clock())
		}
		began := clock()
		if err := floor(homes[0]); err != nil {
			return err
		}
		if bare := since(began, clock()); i > 0 { // the first makes the database, and fills the caches
			f.floor.add(bare)
			for which := range homes {
				f.values[which].add(took[which])
			}
		}
	}
	b.table.add(f)
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
