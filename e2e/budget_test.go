package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"claude-supervise/e2e/messagesapi"
	"claude-supervise/examples"
)

// dear is work whose every request costs half a dollar, at what claude takes its tokens to cost.
const dear = `
name: dear
about: three requests at half a dollar each
prompt: |-
  Write the text hello into hello.txt.
  Done when: hello.txt exists.
claude_flags: [--allowedTools, "Bash,Write,Read,Edit"]
turns:
  - when: "## YOUR TASK"
    replies:
      - tools:
          - {name: Bash, input: {command: "echo begun >> begun.txt", description: begin}}
        usage: {input: 100000, output: 5000}
      - tools:
          - {name: Bash, input: {command: "echo again >> begun.txt", description: continue}}
        usage: {input: 100000, output: 5000}
      - {text: "What now?", usage: {input: 100000, output: 5000}}
  - when: "## GO ON"
    replies:
      - tools:
          - {name: Bash, input: {command: "echo hello > hello.txt", description: write it}}
        usage: {input: 100000, output: 5000}
      - text: |-
          [COMPLETION_REPORT]
          agent_id: {{agent}}
          timestamp: 2026-01-11T12:00:00Z
          status: success
          deliverables:
            - hello.txt
          summary: hello.txt is written
          [/COMPLETION_REPORT]
        usage: {input: 100000, output: 5000}
expect:
  status: succeeded
  exit_code: 0
  files: {hello.txt: "hello\n"}
`

const request = 0.51 // what one costs at most, with what claude asks beside it

// reported is work whose second request reports it.
const reported = `
name: reported
about: two requests, of which the second reports
prompt: |-
  Write the text hello into hello.txt.
  Done when: hello.txt exists.
claude_flags: [--allowedTools, "Bash,Write,Read,Edit"]
turns:
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: Write, input: {file_path: "{{cwd}}/hello.txt", content: "hello\n"}}]
      - tools:
          - name: mcp__supervise__report_completion
            input: {status: success, summary: hello.txt is written, deliverables: [hello.txt]}
      - text: All is done.
expect:
  status: succeeded
  exit_code: 0
  summary: hello.txt is written
  files: {hello.txt: "hello\n"}
`

// An agent that has reported in the last request that it may make has nothing left to do: nobody is asked for another.
func TestAReportInTheLastRequestOfABudgetIsTheEnd(t *testing.T) {
	t.Parallel()
	agentsOn(t, reported, func(t *testing.T, w *world, s examples.Scenario) {
		run := w.start(w.runArgs(s, "--max-turns", "2", "--on-question", "park")...)
		run.exits(0)
		if p := w.ps(); p.Status != "succeeded" || p.Reason != "reported success" {
			t.Errorf("ps says %s: %s", p.Status, p.Reason)
		}
	})
}

func TestAtItsBudgetARunStopsWith4AsksAndRaisedGoesOn(t *testing.T) {
	t.Parallel()
	agentsOn(t, dear, func(t *testing.T, w *world, s examples.Scenario) {
		run := w.start(w.runArgs(s, "--delegate", "deny", "--max-cost-usd", "0.8", "--on-question", "park")...)
		run.exits(4)
		p := w.ps()
		if a := p.Agents[0]; a.Status != "over_budget" || a.CostUSD <= 0.8 || a.CostUSD > 0.8+request {
			t.Errorf("it is %s (%s) at $%v", a.Status, a.Reason, a.CostUSD)
		}
		if code, _, _ := w.run("wait", p.ID); code != 4 {
			t.Errorf("wait exits %d", code)
		}
		q := w.questions()[0]
		if q.Kind != "budget" || !strings.HasPrefix(q.Question, "The cost budget of the run is used up: $1.0") {
			t.Errorf("the question is of kind %s: %s", q.Kind, q.Question)
		}
		if code, _, stderr := w.run("answer", q.ID, "raise", "0.9"); code != 2 ||
			!strings.Contains(stderr, "is used already") {
			t.Errorf("a bound that is used up already: exit %d\n%s", code, stderr)
		}
		w.must("answer", q.ID, "raise", "5")
		finishes(t, w, s, w.start("resume", p.ID))
		if a := w.ps().Agents[0]; a.CostUSD < 2-0.01 || a.CostUSD > 4*request || a.Launches != 2 {
			t.Errorf("four requests have cost $%v in %d launches", a.CostUSD, a.Launches)
		}
	})
}

// The real CLI halts subagents in the background at --max-budget-usd, and revives none of them afterwards. Another does
// the work once the budget is raised.
func TestTheWorkOfASubagentHaltedAtTheBudgetIsDoneOnceItIsRaised(t *testing.T) {
	t.Parallel()
	s, err := examples.Load("background-subagent-asks")
	noError(t, err)
	w := newWorld(t).real(s, func(messagesapi.Request) {})
	code, _, said := w.run(w.runArgs(s, "--on-question", "park", "--max-cost-usd", "0.004", "--answer",
		"service called=ledger")...)
	run := regexp.MustCompile(`r-[a-z0-9]{8}`).FindString(said)
	asked := w.questions()
	if code != 4 || len(asked) != 1 || asked[0].Kind != "budget" {
		t.Fatalf("it exits %d, asks %+v and says\n%s", code, asked, said)
	}
	w.must("answer", asked[0].ID, "raise", "5")
	code, _, said = w.run("resume", run, "--on-question", "park")
	if written, _ := os.ReadFile(filepath.Join(w.Cwd, "name.txt")); code != 0 || string(written) != "ledger\n" {
		t.Errorf("resumed it exits %d, name.txt is %q\n%s", code, written, said)
	}
}
