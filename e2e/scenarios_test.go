package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/e2e/messagesapi"
	"claude-supervise/examples"
)

// Every scenario has one expected outcome, whether the stand-in plays it or the real CLI; and whether its process is
// held for an answer, or parked and relaunched.
func TestEveryScenarioComesOutTheSameOnTheStandInAndOnTheRealCLI(t *testing.T) {
	for _, name := range examples.Names() {
		s := load(t, name)
		for _, hold := range holds(s) {
			title := name + "/hold " + hold
			t.Run(title+"/stand-in", func(t *testing.T) {
				t.Parallel()
				play(newWorld(t).standIn(s), s, hold)
			})
			t.Run(title+"/real CLI", func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.real(s, func(r messagesapi.Request) { w.crash(r) })
				play(w, s, hold)
			})
		}
	}
}

// holds gives the ways in which a scenario is played: a question makes two of it.
func holds(s examples.Scenario) []string {
	if len(s.Answers) == 0 {
		return []string{"forever"}
	}
	return []string{"forever", "0"}
}

// crash kills the agent's process where the scenario wants it to die: the stand-in does so by itself.
func (w *world) crash(r messagesapi.Request) {
	if r.Reply.Crash == 0 {
		return
	}
	p, err := os.FindProcess(w.ps().Agents[0].PID)
	if err != nil {
		w.t.Error(err)
		return
	}
	if err := p.Kill(); err != nil {
		w.t.Error(err)
	}
}

// play plays a scenario to its end: every question is answered from another process. Then all that can be seen of the
// run is held against what the scenario expects.
func play(w *world, s examples.Scenario, hold string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.cwd, "go"), nil, 0o600); err != nil { // what long work waits for
		w.t.Fatal(err)
	}
	run := w.start(w.runArgs(s, "--hold", hold, "--on-question", "ask")...)
	for e := range run.events {
		run.seen = append(run.seen, e)
		if e.Type == "question" {
			w.must("answer", e.Question.ID, answerTo(w.t, s, e.Question.Question))
		}
	}
	code := run.wait()
	var done, report event
	for _, e := range run.seen {
		switch e.Type {
		case "run_done":
			done = e
		case "report":
			report = e
		}
	}
	if code != s.Expect.ExitCode || done.Status != s.Expect.Status || report.Summary != s.Expect.Summary {
		w.t.Errorf("exit %d, status %q, summary %q; want %+v\nreason: %s\nstderr:\n%s\nevents: %s",
			code, done.Status, report.Summary, s.Expect, done.Reason, run.stderr, run.types())
	}
	for name, want := range s.Expect.Files {
		got, err := os.ReadFile(filepath.Join(w.cwd, name))
		if err != nil || string(got) != want {
			w.t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
		}
	}
	for _, q := range w.questions() {
		w.t.Errorf("question %s is still open", q.ID)
	}
	if left := marked(w.t, done.Run); len(left) > 0 {
		w.t.Errorf("processes %v are left", left)
	}
	if n := run.count("question"); n != len(s.Answers) {
		w.t.Errorf("%d questions for %d answers", n, len(s.Answers))
	}
}

func answerTo(t *testing.T, s examples.Scenario, question string) string {
	t.Helper()
	for _, a := range s.Answers {
		if strings.Contains(question, a.Question) {
			return a.Answer
		}
	}
	t.Fatalf("the scenario has no answer to %q", question)
	return ""
}
