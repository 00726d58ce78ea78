package main

import (
	"context"
	"fmt"
	"os"
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
	return b.beside(ctx, "run of the stand-in", homes, b.self, runTimes, outfit{})
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
	if err := b.beside(ctx, "run of the real CLI", homes, path, realTimes, outfit{}); err != nil {
		return err
	}
	return b.beside(ctx, overSame, homes, path, realTimes, whole)
}

// overSame is the name of a figure whose floor is the CLI with all that the program asks of it, and nobody around it.
const overSame = "  over the CLI asked for the same"

// beside compares an agent under each program with one that nobody supervises, of which an outfit is asked.
func (b *bench) beside(ctx context.Context, name string, homes []home, agent string, times int, o outfit) error {
	return b.compare(figure{name: name, unit: "ms", target: 15, bound: overFloor}, homes, times,
		func(h home) error { return h.supervised(ctx, agent) },
		func(h home) error {
			_, _, err := h.alone(ctx, agent, o)
			return err
		})
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
