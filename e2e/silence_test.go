package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claude-supervise/e2e/machine"
	"claude-supervise/examples"
)

// An API that never replies, until the agent is sent on in a new process.
const neverReplies = `
name: never-replies
about: an API that never replies
prompt: Write the text hello into hello.txt.
claude_flags: [--allowedTools, Write]
turns:
  - when: "## YOUR TASK"
    replies: [{hang: true}]
  - when: "## GO ON"
    replies:
      - tools: [{name: Write, input: {file_path: "{{cwd}}/hello.txt", content: "hello\n"}}]
      - text: |-
          [COMPLETION_REPORT]
          agent_id: {{agent}}
          timestamp: 2026-01-11T12:00:00Z
          status: success
          summary: the text is written
          [/COMPLETION_REPORT]
expect: {status: succeeded, exit_code: 0, summary: the text is written, files: {hello.txt: "hello\n"}}
`

// A call that does nothing for longer than anybody waits.
const sleeps = `
name: sleeps
about: a command that sleeps
prompt: Do the long work.
claude_flags: [--allowedTools, Bash]
turns:
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Bash, input: {command: "touch asleep; sleep 86399", description: the long work, timeout: 600000}}]
expect: {status: stopped, exit_code: 5}
`

// agentsOn is agents for a scenario that is not built in.
func agentsOn(t *testing.T, scenario string, story func(*testing.T, *world, examples.Scenario)) {
	t.Helper()
	agents(t, newWorld(t).scenario(scenario), story)
}

// silentOf reads what ps shows of an agent's silence.
func (w *world) silentOf(run *supervised) (since time.Time, reason string) {
	w.t.Helper()
	shown := parse[[]struct {
		StartedAt time.Time `json:"started_at"`
		Agents    []struct {
			Status, Reason string
			SilentSince    *time.Time `json:"silent_since"`
		}
	}](w.t, w.must("ps", "-a", "--json"))
	a := shown[0].Agents[0]
	if a.Status != "running" || a.SilentSince == nil || a.SilentSince.Before(shown[0].StartedAt) {
		w.t.Fatalf("the agent is %s: %s, silent since %v; the run began at %v\n%s", a.Status, a.Reason,
			a.SilentSince, shown[0].StartedAt, run.stderr)
	}
	return *a.SilentSince, a.Reason
}

// silenceTold waits until the person is told of a silence, and stops the run then.
func (w *world) silenceTold(run *supervised, doing string) {
	w.t.Helper()
	told := run.until("progress")
	for !strings.Contains(told.Text, "silent since") {
		told = run.until("progress")
	}
	since, reason := w.silentOf(run)
	const why = ", no output and no processor time: "
	stored := "silent since " + since.UTC().Format(time.RFC3339) + why + doing
	if told.Text != stored || reason != stored {
		w.t.Errorf("told %q, ps says %q, want %q", told.Text, reason, stored)
	}
	want := since.Local().Format("15:04") + why + doing // behind its date, if that is yesterday's by now
	w.must("stop", w.ps().ID)
	if code := run.wait(); code != 5 || !strings.Contains(run.stderr.String(), want) {
		w.t.Errorf("exit %d; stderr, which is to say %q:\n%s", code, want, run.stderr)
	}
	if left := machine.Marked(w.ps().ID); len(left) > 0 {
		w.t.Errorf("processes %v are left", left)
	}
}

// silence is longer than the CLI is kept from the processor and the disk on the busiest machine.
const silence = "8s"

func TestAnAPIThatNeverRepliesIsToldOfAsASilence(t *testing.T) {
	t.Parallel()
	agentsOn(t, neverReplies, func(t *testing.T, w *world, s examples.Scenario) {
		run := w.start(w.runArgs(s, "--silent-after", silence)...)
		w.silenceTold(run, "waits for the API")
	})
}

func TestAnAPIThatNeverRepliesIsAskedAgainByANewProcess(t *testing.T) {
	t.Parallel()
	agentsOn(t, neverReplies, func(t *testing.T, w *world, s examples.Scenario) {
		run := w.start(w.runArgs(s, "--silent-after", silence, "--on-silence", "retry")...)
		finishes(t, w, s, run)
		if a := w.ps().Agents[0]; a.Launches != 2 {
			t.Errorf("there were %d launches\n%s", a.Launches, run.stderr)
		}
	})
}

func TestACommandThatSleepsIsToldOfByItsName(t *testing.T) {
	t.Parallel()
	agentsOn(t, sleeps, func(t *testing.T, w *world, s examples.Scenario) {
		run := w.start(w.runArgs(s, "--silent-after", silence)...)
		waitFor(t, filepath.Join(w.Cwd, "asleep"))
		w.silenceTold(run, "Bash: touch asleep; sleep 86399")
	})
}

// A person who thinks is no silence: the hold ends long after a silence would have been told of.
func TestAQuestionThatIsHeldIsNoSilence(t *testing.T) {
	t.Parallel()
	for _, scenario := range []string{"ask", "tool-ask"} {
		t.Run(scenario, func(t *testing.T) {
			agents(t, scenario, func(t *testing.T, w *world, s examples.Scenario) {
				run := w.start(w.runArgs(s, "--silent-after", "1s", "--hold", "4s", "--on-question", "ask")...)
				run.until("question")
				asked := len(run.seen)
				run.until("parked")
				for _, e := range run.seen[asked:] {
					if strings.Contains(e.Text, "silent") {
						t.Errorf("told: %s", e.Text)
					}
				}
				for _, q := range w.questions() {
					w.must("answer", q.ID, answerTo(t, s, q.Question))
				}
				finishes(t, w, s, run)
			})
		})
	}
}
