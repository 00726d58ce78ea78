package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"claude-supervise/e2e/machine"
)

// A home is a machine for one measurement of a program.
type home struct {
	*bench
	machine.Machine
	program program
}

// homes makes a home for each of the programs: a database is written by one of them only.
func (b *bench) homes(name string) ([]home, error) {
	var all []home
	for _, p := range b.programs {
		h, err := b.home(name, p)
		if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, nil
}

func (b *bench) home(name string, p program) (home, error) {
	m, err := machine.New(p.path, filepath.Join(b.dir, name+" "+p.name))
	if err != nil {
		return home{}, err
	}
	return home{bench: b, Machine: *m, program: p}, nil
}

// command is one of the programs in this home.
func (h home) command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = h.Cwd, h.Env
	return cmd
}

// A supervised is a `run --json` whose agent asks.
type supervised struct{ *machine.Run }

// An event is a line of --json, and when it was read.
type event struct {
	machine.Event
	read int64
}

// questions makes the program itself an agent that asks n of them.
func (h home) questions(n int) home {
	h.Env = append(slices.Clip(h.Env), envAgent+"="+strconv.Itoa(n))
	return h
}

// start starts a run of an agent that asks.
func (h home) start(ctx context.Context, agent string, flags ...string) (*supervised, error) {
	args := append([]string{"run", "--json", "--on-question", "ask", "--claude", agent}, flags...)
	return supervise(h.command(ctx, h.program.path, append(args, task)...))
}

// supervise starts the command of a run.
func supervise(cmd *exec.Cmd) (*supervised, error) {
	run, err := machine.Start(cmd)
	return &supervised{run}, err
}

// next reads the next event, which when says what it is waited for.
func (s *supervised) next(when string) (event, error) {
	e, err := s.Next()
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("no event %q came (%w): %s", when, s.Cmd.Wait(), &s.Stderr)
	}
	return event{e, clock()}, err
}

// until reads up to the next event of a type.
func (s *supervised) until(kind string) (event, error) {
	for {
		if e, err := s.next(kind); err != nil || e.Type == kind {
			return e, err
		}
	}
}

// asks reads up to the next question and, if its agent parks, up to that, too. The two are printed in either order: a
// question is announced beside the loop that saves what happens.
func (s *supervised) asks(parks bool) (question event, err error) {
	for asked, parked := false, !parks; !asked || !parked; {
		e, err := s.next("question or parked")
		if err != nil {
			return e, err
		}
		switch e.Type {
		case "question":
			question, asked = e, true
		case "parked":
			parked = true
		}
	}
	return question, nil
}

// finish reads the rest, and expects success.
func (s *supervised) finish() error {
	if _, err := s.until("run_done"); err != nil {
		return err
	}
	return s.Drain()
}
