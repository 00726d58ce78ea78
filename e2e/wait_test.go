package e2e

import (
	"cmp"
	"os"
	"strings"
	"testing"
	"time"

	"claude-supervise/e2e/usage"
	"claude-supervise/examples"
)

// A person takes their time: a subagent in the background waits for them in a call of ask_user, and the main
// conversation in one of AskUserQuestion, both in one process of the real CLI. Each has its answer as the result of
// that same call.
//
// By itself the test does not wait for long. make wait lets both wait for WAIT (CLAUDE_SUPERVISE_TEST_WAIT), and says
// what that took of the machine.
func TestAPersonTakesTheirTimeAndBothCallsThatWaitedHaveTheirAnswers(t *testing.T) {
	t.Parallel()
	wait := personTakes(t)
	s := twoWait()
	w := newWorldWith(t, plainProgram) // what it takes of the machine is the program's, not the race detector's
	w.real(s, nil)
	run := w.start(w.runArgs(s, "--hold", "forever", "--on-question", "ask")...)
	asked := map[string]string{}
	for len(asked) < len(s.Answers) {
		q := run.until("question").Question
		asked[answerTo(t, s, q.Question)] = q.ID
	}
	agent := w.ps().Agents[0]
	waiting := map[string]int{"the supervisor": run.cmd.Process.Pid, "the agent": agent.PID}
	before := spent(t, waiting)
	lines := strings.Count(w.must("logs", "--raw", agent.ID), "\n")
	if wait > 0 {
		select {
		case <-time.After(wait):
		case e, more := <-run.events: // for as long as nobody answers there is nothing to tell
			t.Fatalf("in the middle of the wait: %+v (more may come: %t)\n%s", e, more, run.stderr)
		}
	}
	after := spent(t, waiting)
	for who, pid := range waiting {
		memory, err := usage.Memory(pid)
		noError(t, err)
		t.Logf("%s waited %v: %v of processor time, %d MiB", who, wait, after[who]-before[who], memory>>20)
	}
	said := strings.Split(w.must("logs", "--raw", agent.ID), "\n")[lines:]
	t.Logf("the CLI said %d lines meanwhile:\n%s", len(said)-1, strings.Join(said[:min(len(said), 20)], "\n"))

	// The main conversation first: its turn ends, and the process lives on for the subagent's sake.
	for _, a := range s.Answers {
		w.must("answer", asked[a.Answer], a.Answer)
	}
	run.exits(0)
	if n := w.ps().Agents[0].Launches; n != 1 {
		t.Errorf("it took %d processes", n)
	}
	for _, result := range []string{`"Which ground colour?"="Black"`, "ledger"} {
		if !w.API.Received(result) {
			t.Errorf("no call has the result %q", result)
		}
	}
}

func TestWaitOnATerminalSaysOnceThatARunAsks(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run := strings.TrimSpace(w.must("run", "--detach", "--cwd", ".", "--demo", "ask", "--hold", "forever"))
	w.must("wait", "--question", run)
	question := w.questions()[0].ID
	s := w.sit(nil, "wait", run)
	s.sees(run + " waits for an answer: claude-supervise answer " + question)
	w.must("answer", question, "1")
	if seen := s.sees(run + " succeeded: "); strings.Contains(seen, "waits for an answer") {
		t.Errorf("it says so again:\n%s", seen)
	}
	if code := s.ends(); code != 0 {
		t.Errorf("it exits %d", code)
	}
}

// personTakes is for how long the person of the test keeps everybody waiting.
func personTakes(t *testing.T) time.Duration {
	t.Helper()
	wait, err := time.ParseDuration(cmp.Or(os.Getenv("CLAUDE_SUPERVISE_TEST_WAIT"), "0s"))
	noError(t, err)
	return wait
}

// spent returns the processor time of processes so far.
func spent(t *testing.T, pids map[string]int) map[string]time.Duration {
	t.Helper()
	times := map[string]time.Duration{}
	for who, pid := range pids {
		var err error
		if times[who], err = usage.CPU(pid); err != nil {
			t.Fatal(err)
		}
	}
	return times
}

// twoWait is a scenario in which the main conversation and a subagent in the background wait for a person at once.
func twoWait() examples.Scenario {
	return examples.Scenario{
		Name:    "two-wait",
		Prompt:  "Choose a ground colour, and a name by a subagent in the background.\nGoal: both are chosen.",
		Answers: []examples.Answer{{Question: "ground colour", Answer: "Black"}, {Question: "called", Answer: "ledger"}},
		Turns: []examples.Turn{
			// Where the subagent has ended before the turn has, the gate asks for the report in that turn.
			{When: "## YOUR TASK", Replies: append([]examples.Reply{
				calls("Agent", map[string]any{
					"description": "find a name", "subagent_type": "general-purpose", "run_in_background": true,
					"prompt": "## THE NAME\nAsk for it.",
				}),
				calls("AskUserQuestion", map[string]any{"questions": []any{map[string]any{
					"question": "Which ground colour?", "header": "Ground", "multiSelect": false,
					"options": []any{
						map[string]any{"label": "White", "description": "plain paper"},
						map[string]any{"label": "Black", "description": "for the night"},
					},
				}}}),
				{Text: "The ground is black. I continue when the subagent has ended."},
			}, reports("both are chosen")...)},
			{When: "## THE NAME", Replies: []examples.Reply{asks("What is the service called?", "It has no name."),
				{Text: "It has a name."}}},
			{When: "<task-notification>", Replies: reports("both are chosen")},
		},
	}
}
