package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"claude-supervise/e2e/machine"
)

// A home is a machine for one measurement, and the folder to work in.
type home struct {
	*bench
	machine.Machine
	cwd string
}

func (b *bench) home(name string) (home, error) {
	dir := filepath.Join(b.dir, name)
	h := home{bench: b, cwd: filepath.Join(dir, "work")}
	if err := os.MkdirAll(h.cwd, 0o700); err != nil {
		return h, err
	}
	var err error
	h.Machine, err = machine.New(dir)
	return h, err
}

// command is one of the programs in this home.
func (h home) command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = h.cwd, h.Env
	return cmd
}

// A supervised is a `run --json` whose agent asks.
type supervised struct {
	cmd    *exec.Cmd
	events *bufio.Scanner
	stderr bytes.Buffer
}

// An event is a line of --json, and when it was read.
type event struct {
	read     int64
	Type     string
	ExitCode *int `json:"exit_code"`
	Question struct{ ID, Run, Context string }
}

// questions makes the program itself an agent that asks n of them.
func (h home) questions(n int) home {
	h.Env = append(slices.Clip(h.Env), envAgent+"="+strconv.Itoa(n))
	return h
}

// start starts a run of an agent that asks.
func (h home) start(ctx context.Context, agent string, flags ...string) (*supervised, error) {
	args := append([]string{"run", "--json", "--on-question", "ask", "--claude", agent}, flags...)
	s := &supervised{cmd: h.command(ctx, h.program, append(args, task)...)}
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.events = bufio.NewScanner(out)
	s.events.Buffer(nil, 16<<20)
	return s, s.cmd.Start()
}

// until reads up to the next event of a type.
func (s *supervised) until(kind string) (event, error) {
	for s.events.Scan() {
		e := event{read: clock()}
		if err := json.Unmarshal(s.events.Bytes(), &e); err != nil {
			return e, err
		}
		if e.Type == kind {
			return e, nil
		}
	}
	ended := errors.Join(s.events.Err(), s.cmd.Wait())
	return event{}, fmt.Errorf("no event %q came (%w): %s", kind, ended, &s.stderr)
}

// finish reads the rest, and expects success.
func (s *supervised) finish() error {
	if _, err := s.until("run_done"); err != nil {
		return err
	}
	for s.events.Scan() { // the pipe must not fill
	}
	return s.cmd.Wait()
}
