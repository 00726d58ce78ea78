package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"claude-supervise/checkpoints"
	"claude-supervise/e2e/usage"
	"claude-supervise/examples"
	"claude-supervise/supervisor/client"
)

// Long sessions: many questions in a row, and many at once, each in one process. The stand-in plays them; make long
// lets the real CLI (CLAUDE_SUPERVISE_TEST_AGENT=real).

// mayGrow is what the supervisor may have grown by, in bytes, while 90 questions, each with so long a context, were
// asked and answered.
const (
	contextSize = 600
	mayGrow     = 3 << 20
)

func TestAHundredQuestionsInARowHaveTheirAnswersAndMemoryStaysFlat(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, plainProgram) // the race detector's memory is none of the program's
	run := w.start(w.long(inARow(100))...)
	c, last := w.client(), "nothing"
	memory := map[int]int64{}
	for i := 1; i <= 100; i++ {
		q := run.until("question").Question
		if want := fmt.Sprintf("Question %d: what comes after %s?", i, last); q.Question != want {
			t.Fatalf("it asks %q, want %q", q.Question, want)
		}
		memory[i] = w.memory(run)
		last = fmt.Sprintf("%08x", rand.Uint32())
		noError(t, c.Answer(t.Context(), q.ID, client.Answer{Text: last, By: "test"}))
	}
	if report := run.until("report"); report.Summary != "the last was "+last {
		t.Errorf("it reports %q, and was told %q", report.Summary, last)
	}
	w.endsWell(run)
	t.Logf("the supervisor holds %d KiB after 10 questions, %d KiB after 100", memory[10]>>10, memory[100]>>10)
	if grown := memory[100] - memory[10]; grown > mayGrow {
		t.Errorf("it grew by %d KiB while 90 questions were asked and answered", grown>>10)
	}
}

func TestTwentySubagentsThatAskAtOnceHaveEachItsOwnAnswer(t *testing.T) {
	t.Parallel()
	const subagents = 20
	w := newWorld(t)
	run := w.start(w.long(besideEachOther(subagents))...)
	asked := map[string]string{} // ids by texts
	for len(asked) < subagents {
		q := run.until("question").Question
		asked[q.Question] = q.ID
	}
	c, names := w.client(), map[int]string{}
	for _, n := range rand.Perm(subagents) {
		names[n] = fmt.Sprintf("%08x", rand.Uint32())
		id := asked[fmt.Sprintf("What is part %d called?", n)]
		noError(t, c.Answer(t.Context(), id, client.Answer{Text: names[n], By: "test"}))
	}
	w.endsWell(run)
	log := w.must("logs", "--raw", w.ps().Agents[0].ID)
	for n, name := range names {
		if said := fmt.Sprintf("Part %d is called %s.", n, name); !strings.Contains(log, said) {
			t.Errorf("no subagent says %q", said)
		}
	}
}

// long returns the command line of a run that asks for long, played by the stand-in or by the real CLI.
func (w *world) long(s examples.Scenario) []string {
	w.t.Helper()
	if os.Getenv("CLAUDE_SUPERVISE_TEST_AGENT") == "real" {
		w.real(s, nil)
	} else {
		text, err := yaml.Dump(s)
		noError(w.t, err)
		s.Name = w.scenario(string(text))
		w.standIn(s)
	}
	return w.runArgs(s, "--hold", "forever", "--on-question", "ask")
}

// client is a person's, in the test's own process: a command for each of many answers would take long.
func (w *world) client() client.Client {
	w.t.Helper()
	dirs := checkpoints.Dirs{State: filepath.Join(w.Home, ".local", "state", "claude-supervise"), Runtime: w.t.TempDir()}
	store, err := checkpoints.Open(dirs)
	noError(w.t, err)
	client := client.Client{Dirs: dirs, Store: store}
	w.t.Cleanup(func() {
		if err := client.Close(); err != nil {
			w.t.Error(err)
		}
	})
	return client
}

func (w *world) memory(run *supervised) int64 {
	w.t.Helper()
	bytes, err := usage.Memory(run.cmd.Process.Pid)
	noError(w.t, err)
	return bytes
}

// endsWell waits for the end of a run, which must be a success in its first process.
func (w *world) endsWell(run *supervised) {
	w.t.Helper()
	run.exits(0)
	if n := w.ps().Agents[0].Launches; n != 1 {
		w.t.Errorf("it took %d processes", n)
	}
}

// calls is a reply that calls one tool.
func calls(name string, input map[string]any) examples.Reply {
	return examples.Reply{Tools: []examples.ToolCall{{Name: name, Input: input}}}
}

// asks is a reply that asks a person one question.
func asks(text, context string) examples.Reply {
	return calls("mcp__supervise__ask_user",
		map[string]any{"questions": []any{map[string]any{"text": text, "context": context}}})
}

// reports are the replies that end a run well.
func reports(summary string) []examples.Reply {
	return []examples.Reply{
		calls("mcp__supervise__report_completion", map[string]any{"status": "success", "summary": summary}),
		{Text: "All is done."},
	}
}

// inARow is a scenario of n questions, each of which says what was answered to the one before.
func inARow(n int) examples.Scenario {
	var replies []examples.Reply
	last := "nothing"
	for i := range n {
		replies = append(replies, asks(fmt.Sprintf("Question %d: what comes after %s?", i+1, last),
			strings.Repeat("why ", contextSize/4)))
		last = "{{A1}}"
	}
	return examples.Scenario{
		Name: "in-a-row", About: "many questions, one after the other",
		Prompt: "Ask what is to be asked.\nGoal: all is asked.",
		Turns:  []examples.Turn{{When: "## YOUR TASK", Replies: append(replies, reports("the last was "+last)...)}},
		Expect: examples.Expect{Status: "succeeded"},
	}
}

// besideEachOther is a scenario of n subagents in the background, each of which asks a question of its own.
func besideEachOther(n int) examples.Scenario {
	s := examples.Scenario{
		Name: "beside-each-other", About: "many subagents ask at once",
		Prompt: "Name the parts, each by a subagent.\nGoal: all have names.",
		Expect: examples.Expect{Status: "succeeded"},
	}
	var start examples.Reply
	for i := range n {
		heading := fmt.Sprintf("## PART %d OF THE WORK", i)
		start.Tools = append(start.Tools, calls("Agent", map[string]any{
			"description": fmt.Sprintf("part %d", i), "subagent_type": "general-purpose", "run_in_background": true,
			"prompt": heading + "\nName it.",
		}).Tools...)
		s.Turns = append(s.Turns, examples.Turn{When: heading, Replies: []examples.Reply{
			asks(fmt.Sprintf("What is part %d called?", i), "It has none."), {Text: fmt.Sprintf("Part %d is called {{A1}}.", i)},
		}})
	}
	done := reports("all have names") // at each end of one; the last report counts
	s.Turns = append(s.Turns,
		examples.Turn{When: "## YOUR TASK", Replies: append([]examples.Reply{start, {Text: "All ask."}}, done...)},
		examples.Turn{When: "<task-notification>", Replies: done})
	return s
}
