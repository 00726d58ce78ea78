package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/machine"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
	cli "claude-supervise/procs/claude"
)

// Every scenario has one expected outcome, whether the stand-in plays it or the real CLI; and whether its process is
// held for an answer, or parked and relaunched. A short run plays one of six with the stand-in: package engine plays
// every one each time.
func TestEveryScenarioComesOutTheSameOnTheStandInAndOnTheRealCLI(t *testing.T) {
	t.Parallel()
	for _, name := range sample.Part("stand-in", examples.Names(), 6) {
		s := load(t, name)
		for _, hold := range sample.Pick("stand-in "+name, holds(s)) {
			t.Run(name+"/hold "+hold+"/stand-in", func(t *testing.T) {
				t.Parallel()
				play(newWorld(t).standIn(s), s, hold)
			})
		}
	}
	for _, name := range sample.Part("real", examples.Names(), 16) {
		s := load(t, name)
		real := holds(s)
		if s.Task != nil && len(s.Children) > 0 {
			real = real[:1] // what its agents do when they are parked the smaller scenarios of trees show
		}
		for _, hold := range sample.Pick(name, real) {
			t.Run(name+"/hold "+hold+"/real CLI", func(t *testing.T) {
				t.Parallel()
				if strings.HasPrefix(name, "elicitation") && !releaseOf(t).Elicits {
					t.Skip("this release hands over nothing that an MCP server asks") // in CI, too
				}
				if name == "typed-questions" && !releaseOf(t).AsksTyped {
					t.Skip("this release asks for choices alone") // in CI, too
				}
				if name == "nested-subagents-ask" && !releaseOf(t).NestsSubagents {
					t.Skip("a subagent of this release starts no others") // in CI, too
				}
				w := newWorld(t)
				w.real(s, func(r messagesapi.Request) { w.crash(r) })
				play(w, s, hold)
			})
		}
	}
}

// releaseOf returns what the real CLI can.
func releaseOf(t *testing.T) cli.Release {
	t.Helper()
	version, err := cli.Version(t.Context(), claude.Program(t))
	noError(t, err)
	return cli.ReleaseOf(version)
}

// holds returns the ways in which a scenario is played: a question makes two of it. Without a hold the process ends at
// the first question; whether others that go on beside it have asked theirs by then is a matter of luck.
func holds(s examples.Scenario) []string {
	if len(s.Answers) == 0 || asksAtOnce(s) {
		return []string{"forever"}
	}
	return []string{"forever", "0"}
}

// asksAtOnce reports whether subagents work beside each other.
func asksAtOnce(s examples.Scenario) bool {
	for _, turn := range s.Turns {
		for _, r := range turn.Replies {
			if len(r.Tools) > 1 && r.Tools[0].Name == "Agent" {
				return true
			}
		}
	}
	return false
}

// crash kills the agent's process where the scenario wants it to die: the stand-in does so by itself.
func (w *world) crash(r messagesapi.Request) {
	if r.Reply.Crash == 0 {
		return
	}
	for _, a := range w.ps().Agents {
		if a.ID != r.Agent {
			continue
		}
		p, err := os.FindProcess(a.PID)
		if err != nil {
			w.t.Error(err)
			return
		}
		if err := p.Kill(); err != nil {
			w.t.Error(err)
		}
	}
}

// play plays a scenario to its end: every question is answered from another process. Then all that can be seen of the
// run is held against what the scenario expects.
func play(w *world, s examples.Scenario, hold string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.Cwd, "go"), nil, 0o600); err != nil { // what long work waits for
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
		got, err := os.ReadFile(filepath.Join(w.Cwd, name))
		if err != nil || string(got) != want {
			w.t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
		}
	}
	shown := parse[struct{ Questions []questionView }](w.t, w.must("show", done.Run, "--json"))
	for _, q := range shown.Questions {
		if q.State != "delivered" {
			w.t.Errorf("question %s is %s", q.ID, q.State)
		}
	}
	agents := w.ps().Agents
	for _, a := range agents {
		if !slices.Contains([]string{"succeeded", "partial", "failed", "unreported", "stopped"}, a.Status) {
			w.t.Errorf("agent %s is left as %s: %s", a.ID, a.Status, a.Reason)
		}
	}
	children := len(slices.DeleteFunc(slices.Clone(s.Children), func(c examples.Child) bool { return c.Optional }))
	if children > 0 && len(agents) != 1+children {
		w.t.Errorf("it took %d agents, not one for each of the scenario's %d children and their root", len(agents), children)
	}
	w.sharedIsMerged(s, done.Run)
	if left := machine.Marked(done.Run); len(left) > 0 {
		w.t.Errorf("processes %v are left", left)
	}
	if n := run.count("question"); n != len(s.Answers) {
		w.t.Errorf("%d questions for %d answers", n, len(s.Answers))
	}
}

// sharedIsMerged checks that all that the agents of a scenario, and their subagents, have shared is merged, as far as it
// is JSON.
func (w *world) sharedIsMerged(s examples.Scenario, run string) {
	w.t.Helper()
	files := w.found(filepath.Join(w.Home, ".local/state/claude-supervise/runs", run, "shared/*.jsonl"))
	if len(files) == 0 && strings.Contains(fmt.Sprint(s.Turns), "$CLAUDE_SUPERVISE_SHARED/") {
		w.t.Error("nothing is shared")
	}
	for file, lines := range files {
		var merged []struct{ Value any }
		doc, err := os.ReadFile(strings.TrimSuffix(file, ".jsonl") + ".merged.json")
		if err == nil {
			err = json.Unmarshal(doc, &merged)
		}
		whole := 0
		for line := range strings.Lines(lines) {
			if json.Valid([]byte(line)) {
				whole++
			}
		}
		if err != nil || len(merged) != whole {
			w.t.Errorf("%s is merged so (%v):\n%s", file, err, doc)
		}
	}
}

func answerTo(t *testing.T, s examples.Scenario, question string) string {
	t.Helper()
	answer, found := scriptedAnswer(s, question)
	if !found {
		t.Fatalf("the scenario has no answer to %q", question)
	}
	return answer
}

// scriptedAnswer returns the scenario's answer to a question, if it has one.
func scriptedAnswer(s examples.Scenario, question string) (answer string, found bool) {
	for _, a := range s.Answers {
		if strings.Contains(question, a.Question) {
			return a.Answer, true
		}
	}
	return "", false
}
