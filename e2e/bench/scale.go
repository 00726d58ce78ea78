package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"claude-supervise/e2e/usage"
)

// The sizes at which -scale looks for the bend: agents of one supervisor, and supervisors on one database.
var (
	manyAgents      = []int{1, 10, 100, 1000, 3000, 10_000}
	manySupervisors = []int{1, 10, 100, 300, 1000}
)

// A size that the machine cannot hold is printed as such and ends the series: it is one of the answers.
func (b *bench) series(ctx context.Context, what string, sizes []int, one func(context.Context, int) error) error {
	for _, n := range sizes {
		if err := one(ctx, n); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			_, _ = fmt.Fprintf(b.table.out, "%d %s: %.600s\n", n, what, err)
			return nil
		}
	}
	return nil
}

// scaleAgents measures what an agent costs, and what one waits for, beside up to 10,000 others in one run.
func (b *bench) scaleAgents(ctx context.Context) error {
	return b.series(ctx, "agents", manyAgents, func(ctx context.Context, n int) error {
		var c crowdTimes
		if err := b.crowdOf(ctx, b.programs[0], n, &c); err != nil {
			return err
		}
		b.addCrowd(n, []crowdTimes{c})
		name := fmt.Sprintf("%d agents: ", n)
		b.table.add(figure{name: name + "started, each", unit: "ms", values: []samples{c.started}})
		b.table.add(figure{name: name + "all end, each", unit: "ms", values: []samples{c.ended}})
		return nil
	})
}

// startersAtOnce is how many supervisors start at the same time.
const startersAtOnce = 8

// scaleSupervisors measures the same of up to 1,000 supervisors with one agent each, which share one database.
func (b *bench) scaleSupervisors(ctx context.Context) error {
	return b.series(ctx, "supervisors", manySupervisors, b.supervisors)
}

// supervisors starts n runs in one home, lets the last one's agent speak, and ends them all at once.
func (b *bench) supervisors(ctx context.Context, n int) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	h, err := b.home(fmt.Sprintf("supervisors %d", n), b.programs[0])
	if err != nil {
		return err
	}
	began := clock()
	runs := make([]*supervised, n)
	starts, startContext := errgroup.WithContext(ctx)
	starts.SetLimit(startersAtOnce)
	for i := range runs {
		starts.Go(func() (err error) {
			if startContext.Err() != nil {
				return startContext.Err()
			}
			runs[i], err = h.startWaiting(ctx, i, n-1)
			return err
		})
	}
	err = starts.Wait()
	defer func() { // without an error they have ended
		end()
		for _, run := range runs {
			if run != nil && run.Cmd.ProcessState == nil {
				_ = run.Cmd.Wait()
			}
		}
	}()
	if err != nil {
		return err
	}
	started := clock()
	var cpu time.Duration
	var memory int64
	for _, run := range runs {
		c, err := usage.CPU(run.Cmd.Process.Pid)
		if err != nil {
			return err
		}
		m, err := usage.Shared(run.Cmd.Process.Pid)
		if err != nil {
			return err
		}
		cpu, memory = cpu+c, memory+m
	}
	speaker := h
	speaker.Cwd = h.folder(n - 1)
	begin, err := speaker.open("go", 1)
	if err != nil {
		return err
	}
	defer func() { _ = begin.Close() }()
	told, asked, err := runs[n-1].latencies()
	if err != nil {
		return err
	}
	ending := clock()
	if err := h.endAll(runs); err != nil {
		return err
	}
	per := func(ms float64) []samples { return []samples{{ms / float64(n)}} }
	name := fmt.Sprintf("%d supervisors: ", n)
	b.table.add(figure{name: name + "CPU, each", unit: "ms", values: per(cpu.Seconds() * 1000)})
	b.table.add(figure{name: name + "PSS, each", unit: "MiB", values: per(float64(memory) / (1 << 20))})
	b.table.add(figure{name: name + "a signal is told", unit: "ms", values: []samples{told}})
	b.table.add(figure{name: name + "a question is told", unit: "ms", values: []samples{asked}})
	b.table.add(figure{name: name + "started, each", unit: "ms", values: per(since(began, started).Seconds() * 1000)})
	b.table.add(figure{name: name + "all end, each", unit: "ms", values: per(since(ending, clock()).Seconds() * 1000)})
	return nil
}

func (h home) folder(i int) string { return filepath.Join(h.Cwd, fmt.Sprint(i)) }

// startWaiting starts the i-th supervisor, in a folder of its own, and waits until its agent runs.
func (h home) startWaiting(ctx context.Context, i, speaker int) (*supervised, error) {
	h.Cwd = h.folder(i)
	if err := h.gates(); err != nil {
		return nil, err
	}
	h.Env = append(h.Env[:len(h.Env):len(h.Env)], fmt.Sprintf("SPEAKER=%d", speaker))
	s, err := supervise(h.command(ctx, h.program.path, "run", "--json", "--quiet", "--check", "off",
		"--exec", "sh agent {}", fmt.Sprintf("Wait as number %d.", i)))
	if err != nil {
		return nil, err
	}
	_, err = s.until("agent_started")
	return s, err
}

// endAll lets all agents go home at once, and waits for the supervisors.
func (h home) endAll(runs []*supervised) (err error) {
	var all errgroup.Group
	for i, run := range runs {
		at := h
		at.Cwd = h.folder(i)
		gate, err := at.open("over", 1)
		if err != nil {
			return err
		}
		defer func() { _ = gate.Close() }()
		all.Go(func() error {
			return ignoreExit(run.Drain())
		})
	}
	return all.Wait()
}

// gates makes the folder of a crowd: its agent's script, and the gates that it waits at.
func (h home) gates() error {
	if err := os.MkdirAll(h.Cwd, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(h.Cwd, "agent"), []byte(crowdAgent), 0o600); err != nil {
		return err
	}
	for _, gate := range []string{"go", "over"} {
		if err := unix.Mkfifo(filepath.Join(h.Cwd, gate), 0o600); err != nil {
			return err
		}
	}
	return nil
}
