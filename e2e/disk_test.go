//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"claude-supervise/e2e/smalldisk"
	"claude-supervise/examples"
)

// smallDisk tells a story in a world whose state is on a disk of 4 MiB.
func smallDisk(t *testing.T, story func(*testing.T, *world, disk)) {
	t.Helper()
	if !smalldisk.May(t) {
		return
	}
	w := newWorld(t)
	d := disk{w, smalldisk.Mount(t, "4m")}
	w.Env = append(w.Env, "XDG_STATE_HOME="+d.Dir)
	story(t, w, d)
}

// A disk is the one that a world's state is on.
type disk struct {
	*world
	smalldisk.Disk
}

// plays makes a program of the person's own the agent, whose conversation is in the home, on a disk with room.
func (d disk) plays(nameOrFile string, s examples.Scenario) {
	d.t.Helper()
	agent := filepath.Join(d.Home, "claude")
	if err := os.WriteFile(agent, []byte("#!/bin/sh\nexec claude-supervise stand-in "+nameOrFile+" \"$@\"\n"),
		0o700); err != nil {
		d.t.Fatal(err)
	}
	d.agent = []string{"--claude", agent, s.Prompt}
}

// The disk runs full while a question is held. An answer is refused, and says so; when the agent dies its end cannot be
// saved. With room again nothing is missing, and the answer is delivered once.
func TestAQuestionOutlivesAFullDisk(t *testing.T) {
	t.Parallel()
	smallDisk(t, func(t *testing.T, w *world, d disk) {
		s := load(t, "ask")
		d.plays(s.Name, s)
		run := w.start(w.runArgs(s, "--hold", "forever", "--on-question", "ask")...)
		q := run.until("question").Question
		now := w.becomes("waiting")
		d.Fill(t)

		code, stdout, stderr := w.run("answer", q.ID, "JWT")
		if code != 1 || stdout != "" || !strings.Contains(stderr, "disk full") ||
			!strings.Contains(stderr, "is safe: make room") {
			t.Fatalf("answer exits %d: %s%s", code, stdout, stderr)
		}
		if open := w.questions(); len(open) != 1 || open[0].State != "open" || open[0].Answer != nil {
			t.Errorf("an answer that was refused is shown: %+v", open)
		}
		noError(t, syscall.Kill(now.Agents[0].PID, syscall.SIGKILL))
		if said := run.waitsFor("cannot save the state"); !strings.Contains(said, "disk full") ||
			!strings.Contains(said, "Nothing acknowledged is lost") {
			t.Errorf("it does not say what is safe: %s", said)
		}

		d.MakeRoom(t)
		run.waitsFor("the state can be saved again")
		run.until("parked")
		w.must("answer", q.ID, "JWT")
		finishes(t, w, s, run)
		if !strings.Contains(run.stderr.String(), "! cannot save the state: ") {
			t.Errorf("stderr does not say it:\n%s", run.stderr)
		}
		w.deliveredOnce("## CLARIFICATION RESPONSE")

		d.Fill(t) // with nobody who has the database open: no index of it is there, and none can be made
		if v := w.ps(); v.Status != "succeeded" {
			t.Errorf("ps says %s", v.Status)
		}
		d.MakeRoom(t)
	})
}

// A call that says more than fits into what is left of a page, once it may.
const talks = `
name: talks
about: a command that prints much
prompt: Print what there is.
claude_flags: [--allowedTools, Bash]
turns:
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Bash, input: {command: "touch started; while [ ! -e go ]; do sleep 0.1; done; yes it is | head -n 2500", description: print it}}]
      - text: |-
          [COMPLETION_REPORT]
          agent_id: {{agent}}
          timestamp: 2026-01-11T12:00:00Z
          status: success
          summary: all is printed
          [/COMPLETION_REPORT]
expect: {status: succeeded, exit_code: 0, summary: all is printed, files: {go: ""}}
`

// The disk runs full while the agent works: it waits to be heard. What it printed meanwhile may be missing in its log,
// which is told; what it did is not.
func TestAnAgentAtWorkOutlivesAFullDisk(t *testing.T) {
	t.Parallel()
	smallDisk(t, func(t *testing.T, w *world, d disk) {
		path := w.scenario(talks)
		s := load(t, path)
		d.plays(path, s)
		run := w.start(w.runArgs(s)...)
		waitFor(t, filepath.Join(w.Cwd, "started"))
		d.Fill(t)
		noError(t, os.WriteFile(filepath.Join(w.Cwd, "go"), nil, 0o600))
		run.waitsFor("cannot save the state")
		d.MakeRoom(t)
		finishes(t, w, s, run)
		if !strings.Contains(run.stderr.String(), "cannot save the state") {
			t.Errorf("stderr does not say it:\n%s", run.stderr)
		}
		now := w.ps()
		a := now.Agents[0]
		if a.Launches != 1 {
			t.Errorf("it took %d launches", a.Launches)
		}
		// There may have been room again before it printed.
		log, err := os.ReadFile(filepath.Join(d.Dir, "claude-supervise", "runs", now.ID, a.ID+".jsonl"))
		whole := err == nil && strings.Count(string(log), `it is\n`) >= 2500
		if told := strings.Contains(run.stderr.String(), "the agent's log is not complete"); !whole && !told {
			t.Errorf("what is missing in the log of %d bytes is not told:\n%s", len(log), run.stderr)
		}
	})
}
