package view

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
)

// BenchmarkOverviewAfterOneChange measures one look at the overview of a thousand parked runs, each with its open
// question, after one of them has changed. The change itself is not in it.
func BenchmarkOverviewAfterOneChange(b *testing.B) {
	dirs := checkpoints.Dirs{State: b.TempDir(), Runtime: b.TempDir()}
	store, err := checkpoints.Open(dirs)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	save := func(c checkpoints.Change) {
		if err := store.Commit(context.Background(), c); err != nil {
			b.Fatal(err)
		}
	}
	const runs = 1000
	for i := range runs {
		c := parkedRun(fmt.Sprintf("%08d", i))
		c.Lazy = true
		save(c)
	}
	read, err := checkpoints.OpenReadOnly(dirs)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	r, before, memory := Reader{Dirs: dirs, Store: read}, Overview{}, remembered{}
	n, used := 0, time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		n++
		c := parkedRun(fmt.Sprintf("%08d", n%runs))
		c.Run.Reason = fmt.Sprint("change ", n)
		save(checkpoints.Change{Run: c.Run, Lazy: true})
		began := processor(b)
		b.StartTimer()
		if before, err = r.overview(context.Background(), before, &memory); err != nil {
			b.Fatal(err)
		}
		used += processor(b) - began
		if len(before.Runs) != runs || len(before.Questions) != runs {
			b.Fatalf("it shows %d runs and %d questions", len(before.Runs), len(before.Questions))
		}
	}
	b.ReportMetric(float64(used.Nanoseconds())/float64(b.N), "cpu-ns/op") // the same on a busy machine
}

// processor is the processor's time that this process has used.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// parkedRun is the change that saves a run as it waits, without a process, for the answer to its question.
func parkedRun(mark string) checkpoints.Change {
	at := checkpoints.Now()
	run, agent := "r-"+mark, "a-"+mark
	return checkpoints.Change{
		Run: &supervisor.Run{ID: run, Cwd: "/home/somebody/work", Root: agent, Status: checkpoints.Parked, StartedAt: at,
			Since: at, Left: "parked"},
		Agents: []*supervisor.Agent{{ID: agent, Run: run, Status: checkpoints.Parked, Since: at,
			Task: strings.Repeat("Do what is to be done. ", 20)}},
		Launches: []*supervisor.Launch{{Agent: agent, N: 1, Phase: checkpoints.LaunchEnded}},
		Questions: []*supervisor.Question{{ID: "q-" + mark, Run: run, Agent: agent, Kind: questions.AskClarification,
			State: supervisor.Open, AskedAt: at, Wording: checkpoints.Wording{Text: strings.Repeat("Which one is it? ", 20),
				Options: []checkpoints.Option{{Label: "JWT", Description: "a token"}, {Label: "OAuth"}}}}},
	}
}
