package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"claude-supervise/e2e/machine"
	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
)

// agents tells a story with the stand-in and with the real CLI, or in a short run with the one that the seed chooses.
// The scenario is built in, or a file.
func agents(t *testing.T, scenario string, story func(*testing.T, *world, examples.Scenario)) {
	t.Helper()
	s := load(t, scenario)
	eachAgent(t, map[string]func(*world) *world{
		"stand-in": func(w *world) *world {
			if filepath.IsAbs(scenario) {
				w.agent = []string{"--demo", scenario}
				return w
			}
			return w.standIn(s)
		},
		"real CLI": func(w *world) *world { return w.real(s, nil) },
	}, func(t *testing.T, in func(*world) *world) { story(t, in(newWorld(t)), s) })
}

// eachAgent is agents where the story makes the world: in puts the agent into it. A play of the real CLI takes twenty
// times the processor of the stand-in's: a short run has it in one of five stories, and each is among five seeds.
func eachAgent[Agent any](t *testing.T, all map[string]Agent, story func(t *testing.T, in Agent)) {
	t.Helper()
	names := slices.Sorted(maps.Keys(all)) // the stand-in is the last
	for _, name := range slices.Compact(sample.Pick(t.Name(), append(names, slices.Repeat(names[len(names)-1:], 3)...))) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story(t, all[name])
		})
	}
}

// The supervisor is killed with its question held; the answer is given while nobody is alive; resume delivers it once.
func TestAKilledSupervisorsHeldQuestionIsAnsweredMeanwhileAndDeliveredOnce(t *testing.T) {
	t.Parallel()
	agents(t, "ask", func(t *testing.T, w *world, s examples.Scenario) {
		run := w.start(w.runArgs(s, "--hold", "forever", "--on-question", "ask")...)
		q := run.until("question").Question
		w.becomes("waiting")
		run.kill9()
		orphan := w.ps()
		if orphan.Status != "orphaned" || !strings.Contains(orphan.Reason, "claude-supervise resume "+orphan.ID) {
			t.Fatalf("ps says %s: %s", orphan.Status, orphan.Reason)
		}
		said := w.must("answer", q.ID, answerTo(t, s, q.Question))
		if !strings.Contains(said, "claude-supervise resume "+orphan.ID) {
			t.Errorf("answer does not say how to continue:\n%s", said)
		}
		if open := w.questions(); len(open) != 0 {
			t.Errorf("the question is still shown as open: %+v", open)
		}
		finishes(t, w, s, w.start("resume", orphan.ID))
		w.deliveredOnce("## CLARIFICATION RESPONSE")
	})
}

func TestASupervisorKilledWhileTheAgentWorksIsResumedWithoutASecondProcess(t *testing.T) {
	t.Parallel()
	agents(t, "work", func(t *testing.T, w *world, s examples.Scenario) {
		run := w.start(w.runArgs(s)...)
		waitForText(t, filepath.Join(w.Cwd, "started.txt"))
		run.kill9()
		id := w.ps().ID
		finishes(t, w, s, w.start("resume", id))
		if started, err := os.ReadFile(filepath.Join(w.Cwd, "started.txt")); err != nil || string(started) != "started\n" {
			t.Errorf("the work was begun again: %q (%v)", started, err)
		}
	})
}

// The process is killed while it waits for the person: the question is kept, and the answer goes by a relaunch.
func TestAKilledProcessLeavesItsQuestionAndTheAnswerRelaunchesIt(t *testing.T) {
	t.Parallel()
	agents(t, "ask", func(t *testing.T, w *world, s examples.Scenario) {
		run := w.start(w.runArgs(s, "--hold", "forever", "--on-question", "ask")...)
		q := run.until("question").Question
		p := w.becomes("waiting")
		noError(t, syscall.Kill(p.Agents[0].PID, syscall.SIGKILL))
		run.until("parked")
		w.must("answer", q.ID, answerTo(t, s, q.Question))
		finishes(t, w, s, run)
		w.deliveredOnce("## CLARIFICATION RESPONSE")
	})
}

func TestWhenTheHoldEndsTheProcessIsParkedAndNothingIsLeftOfIt(t *testing.T) {
	t.Parallel()
	agents(t, "tool-ask", func(t *testing.T, w *world, s examples.Scenario) {
		run := w.start(w.runArgs(s, "--hold", "1s", "--on-question", "ask")...)
		first := run.until("question").Question
		run.until("parked")
		if left := machine.Marked(first.Run); len(left) > 0 {
			t.Fatalf("processes %v are left", left)
		}
		for _, q := range w.questions() {
			w.must("answer", q.ID, answerTo(t, s, q.Question))
		}
		finishes(t, w, s, run)
	})
}

// Claude's own budget flags end the run as over budget.
func TestClaudesOwnLimitOfTurnsIsABudget(t *testing.T) {
	t.Parallel()
	s := load(t, "ask")
	s.ClaudeFlags = append([]string{"--max-turns", "1"}, s.ClaudeFlags...)
	w := newWorld(t).real(s, nil)
	run := w.start(w.runArgs(s)...)
	run.exits(4)
	if p := w.ps(); p.Status != "failed" || !strings.Contains(p.Reason, "turns") {
		t.Fatalf("ps says %s: %s", p.Status, p.Reason)
	}
}

func TestAnInterruptSavesEverythingAndResumeGoesOn(t *testing.T) {
	t.Parallel()
	agents(t, "work", func(t *testing.T, w *world, s examples.Scenario) {
		run := w.start(w.runArgs(s)...)
		waitForText(t, filepath.Join(w.Cwd, "started.txt"))
		run.interrupt()
		run.exits(130)
		p := w.ps()
		if p.Status != "interrupted" || !strings.Contains(run.stderr.String(), "claude-supervise resume "+p.ID) {
			t.Fatalf("ps says %s: %s\n%s", p.Status, p.Reason, run.stderr)
		}
		if left := machine.Marked(p.ID); len(left) > 0 {
			t.Fatalf("processes %v are left", left)
		}
		finishes(t, w, s, w.start("resume", p.ID))
	})
}

func TestAConversationThatIsGoneIsBegunAgainFromTheCheckpoint(t *testing.T) {
	t.Parallel()
	agents(t, "ask", losesItsConversation)
}

// losesItsConversation parks a question, loses the conversation, and answers the question.
func losesItsConversation(t *testing.T, w *world, s examples.Scenario) {
	run := w.start(w.runArgs(s, "--hold", "0", "--on-question", "park")...)
	q := run.until("question").Question
	run.exits(75)
	w.forget()
	w.must("answer", q.ID, answerTo(t, s, q.Question))
	resumed := w.start("resume", q.Run)
	finishes(t, w, s, resumed)
	told := false
	for _, e := range resumed.seen {
		told = told || e.Type == "resumed" && strings.Contains(e.Text, "new conversation")
	}
	if !told {
		t.Errorf("the person was not told: %+v", resumed.seen)
	}
}

// A program that reads --json and goes away, as head does, does not end the run.
func TestAReaderThatGoesAwayDoesNotEndTheRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shell := exec.Command("sh", "-c", "claude-supervise run --demo ask --json | head -n 1")
	shell.Dir, shell.Env = w.Cwd, w.Env
	out, err := shell.Output()
	if err != nil || strings.Count(string(out), "\n") != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	p := w.ps()
	for ; p.ExitCode == nil && p.Status != "orphaned"; p = w.ps() { // head has gone; the run goes on
	}
	if p.Status != "succeeded" {
		t.Fatalf("the run is %s: %s", p.Status, p.Reason)
	}
}

func TestTwoSupervisorsCannotOwnARun(t *testing.T) {
	t.Parallel()
	s := load(t, "ask")
	w := newWorld(t).standIn(s)
	run := w.start(w.runArgs(s, "--hold", "0", "--on-question", "park")...)
	q := run.until("question").Question
	run.wait()
	codes := make([]int, 2)
	says := make([]string, 2)
	first := w.start("resume", q.Run, "--on-question", "ask")
	first.until("question")
	var both sync.WaitGroup
	for i := range codes {
		both.Go(func() { codes[i], _, says[i] = w.run("resume", q.Run) })
	}
	both.Wait()
	for i, code := range codes {
		if code != 1 || !strings.Contains(says[i], "supervises") {
			t.Errorf("the other resume exits %d: %s", code, says[i])
		}
	}
	w.must("answer", q.ID, answerTo(t, s, q.Question))
	finishes(t, w, s, first)
}

func TestWhoAnswersSecondIsToldWhoWon(t *testing.T) {
	t.Parallel()
	s := load(t, "ask")
	w := newWorld(t).standIn(s)
	run := w.start(w.runArgs(s, "--hold", "0", "--on-question", "park")...)
	q := run.until("question").Question
	run.wait()
	w.must("answer", q.ID, "Sessions")
	code, _, stderr := w.run("answer", q.ID, "JWT")
	if code != 1 || !strings.Contains(stderr, "Sessions") || !strings.Contains(stderr, "--change") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	w.must("answer", q.ID, "--change", "JWT")
	finishes(t, w, s, w.start("resume", q.Run))
}

// finishes lets a run end as its scenario expects, with one notice for a question at most, and nothing left.
func finishes(t *testing.T, w *world, s examples.Scenario, run *supervised) {
	t.Helper()
	if code := run.wait(); code != s.Expect.ExitCode {
		t.Fatalf("exit %d, want %d\n%s\nevents: %s", code, s.Expect.ExitCode, run.stderr, run.types())
	}
	for name, want := range s.Expect.Files {
		if got, err := os.ReadFile(filepath.Join(w.Cwd, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
		}
	}
	if left := machine.Marked(w.ps().ID); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

// deliveredOnce checks in the agent's own transcript that what has one of these forms reached it once.
func (w *world) deliveredOnce(forms ...string) {
	w.t.Helper()
	w.delivered(1, forms...)
}

// delivered checks in the agent's own transcript how often what has one of these forms reached it.
func (w *world) delivered(times int, forms ...string) {
	w.t.Helper()
	n, seen := 0, map[string]bool{}
	for _, line := range w.conversation() {
		var said struct {
			Type, UUID string
			Attachment struct{ Type string }
		}
		_ = json.Unmarshal([]byte(line), &said)                                 // the last line may be torn
		took := said.Type == "user" || said.Attachment.Type == "queued_command" // into a turn that was under way
		if took && !seen[said.UUID] &&                                          // the same again is told in place of what was cut off
			slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(line, form) }) {
			n, seen[said.UUID] = n+1, true
		}
	}
	if n != times {
		w.t.Errorf("%q is %d times in the conversation, want %d", forms, n, times)
	}
}

// conversation returns the lines of the agent's transcripts.
func (w *world) conversation() (lines []string) {
	w.t.Helper()
	for _, path := range w.transcripts() {
		text, err := os.ReadFile(path)
		noError(w.t, err)
		lines = slices.AppendSeq(lines, strings.Lines(string(text)))
	}
	return lines
}

// transcripts finds the conversations that the agent keeps, its subagents' included.
func (w *world) transcripts() []string {
	w.t.Helper()
	var all []string
	for _, root := range []string{w.Home, filepath.Join(w.Home, ".local", "state")} {
		for _, pattern := range []string{".claude/projects/*/*.jsonl", ".claude/projects/*/*/subagents/*.jsonl",
			"claude-supervise/runs/*/claude/projects/*/*.jsonl",
			"claude-supervise/runs/*/claude/projects/*/*/subagents/*.jsonl"} {
			found, err := filepath.Glob(filepath.Join(root, pattern))
			noError(w.t, err)
			all = append(all, found...)
		}
	}
	return all
}

// forget removes the agent's conversations.
func (w *world) forget() {
	w.t.Helper()
	for _, path := range w.transcripts() {
		noError(w.t, os.Remove(path))
	}
	kept, err := filepath.Glob(filepath.Join(w.Home, ".local/state/claude-supervise/runs/*/conversations"))
	noError(w.t, err)
	for _, folder := range kept {
		noError(w.t, os.RemoveAll(folder))
	}
}

// What could be the start of an id is an answer, unless it says by its q- that it is an id.
func TestWhatIsTypedAloneIsAnAnswerAndNotTheStartOfAnID(t *testing.T) {
	t.Parallel()
	s := load(t, "ask")
	w := newWorld(t).standIn(s)
	run := w.start(w.runArgs(s, "--hold", "0", "--on-question", "park")...)
	q := run.until("question").Question
	run.wait()
	code, _, stderr := w.run("answer", q.ID[2:6])
	if code != 2 || !strings.Contains(stderr, "free text needs the id") &&
		!strings.Contains(stderr, "not one of the options") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	w.must("answer", q.ID[:4], "JWT")
}
