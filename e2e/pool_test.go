package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"claude-supervise/e2e/usage"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/view"
)

// A pool of many tasks. make pool says how many, CLAUDE_SUPERVISE_TEST_POOL.
const fewTasks = 40

// reportsAtOnce is played by each of them.
const reportsAtOnce = `
name: pool
about: a task that is done at once
prompt: Do it.
turns:
  - when: "## YOUR TASK"
    replies:
      - text: |-
          [COMPLETION_REPORT]
          agent_id: {{agent}}
          timestamp: 2026-01-11T12:00:00Z
          status: success
          summary: it is done
          [/COMPLETION_REPORT]
expect: {status: succeeded, exit_code: 0}
`

// pooled returns the command line of a pool of so many tasks.
func (w *world) pooled(tasks int) []string {
	w.t.Helper()
	return []string{"run", "--each", "seq " + strconv.Itoa(tasks), "Do number {item}", "--check",
		"off", "--demo", w.scenario(reportsAtOnce)}
}

// done checks that each of so many tasks has succeeded, once, and gives their agents.
func (w *world) done(run string, tasks int) []notice.Row {
	w.t.Helper()
	var d view.Details
	noError(w.t, json.Unmarshal([]byte(w.must("show", run, "--json")), &d))
	if d.Tasks == nil || len(d.Tasks.Rows) != tasks || d.Tasks.Counts["succeeded"] != tasks {
		w.t.Fatalf("of %d tasks these have come to an end: %+v", tasks, d.Tasks)
	}
	for i, r := range d.Tasks.Rows {
		if r.Item != strconv.Itoa(i+1) || r.Summary != "it is done" {
			w.t.Errorf("row %d is %+v", i+1, r)
		}
	}
	return d.Tasks.Rows
}

func TestAPoolOfManyTasksIsDoneInOneRun(t *testing.T) {
	t.Parallel()
	tasks := fewTasks
	if n := os.Getenv("CLAUDE_SUPERVISE_TEST_POOL"); n != "" {
		var err error
		if tasks, err = strconv.Atoi(n); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorldWith(t, plainProgram) // the race detector's memory is none of the program's
	begun := time.Now()
	run := w.start(w.pooled(tasks)...)
	var early, last string
	for ended := 1; ended <= tasks; ended++ {
		run.until("child_done")
		memory, gone := usage.Memory(run.cmd.Process.Pid)
		cpu, err := usage.CPU(run.cmd.Process.Pid)
		if gone != nil || err != nil {
			continue // it has ended, and this is read later: the look before was the last
		}
		last = fmt.Sprintf("after %4d of %d tasks: %6.1f s, %4d KiB, %5.1f ms of the supervisor's processor a task",
			ended, tasks, time.Since(begun).Seconds(), memory>>10, cpu.Seconds()*1000/float64(ended))
		if ended <= tasks/10 {
			early = last
		}
	}
	run.exits(0)
	t.Log("\n" + early + "\n" + last)
	w.done(run.seen[0].Run, tasks)
	for _, a := range w.ps().Agents[1:] {
		if a.Launches != 1 {
			t.Errorf("%s took %d processes:\n%s%s", a.ID, a.Launches, w.must("show", a.ID), w.must("logs", "--raw", a.ID))
		}
	}
	if lines := strings.Count(w.must("ps", "-a", "--tree"), "\n"); lines > 30 {
		t.Errorf("ps --tree of a pool of %d tasks has %d lines", tasks, lines)
	}
}

func TestAPoolOutlivesItsSupervisor(t *testing.T) {
	t.Parallel()
	const tasks, parallel = 12, 3
	w := newWorld(t)
	run := w.start(append(w.pooled(tasks), "--max-parallel", strconv.Itoa(parallel))...)
	id := run.until("run_started").Run
	for range tasks / 3 {
		run.until("child_done")
	}
	noError(t, run.cmd.Process.Signal(syscall.SIGKILL))
	run.wait()
	again := w.start("resume", id)
	again.exits(0)
	w.done(id, tasks)
	more := 0
	for _, a := range w.ps().Agents[1:] {
		more += a.Launches - 1
	}
	// Each that was at work goes on in one more process; in two where the first had not begun its conversation.
	if more > 2*parallel {
		t.Errorf("%d more processes were started than tasks, though %d were at work at most when the supervisor died",
			more, parallel)
	}
}
