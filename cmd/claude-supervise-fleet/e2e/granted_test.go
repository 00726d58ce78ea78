package e2e

import (
	"strings"
	"syscall"
	"testing"

	"claude-supervise/examples"
	"claude-supervise/supervisor/exit"
)

// dear is work that needs a permission and asks, and whose every request costs half a dollar.
const dear = `
name: dear
about: a permission, a question, and more than the budget bears
prompt: |-
  Make two files.
  Done when: two.txt exists.
claude_flags: [--allowedTools, "Write,Read,Edit"]
turns:
  - when: "## YOUR TASK"
    replies:
      - tools:
          - {name: Bash, input: {command: "touch one.txt", description: begin}}
        usage: {input: 100000, output: 5000}
      - text: |-
          [CLARIFICATION_NEEDED]
          agent_id: {{agent}}
          timestamp: 2026-01-11T08:45:00Z
          blocked_at: the second file
          reason: it may have either name
          questions:
            - question_id: Q1
              text: Which name should the second file have?
              options:
                - label: two
                  description: as the first
          can_resume_with: the name
          current_state: the first file is there
          [/CLARIFICATION_NEEDED]
        usage: {input: 100000, output: 5000}
  - when: "## CLARIFICATION RESPONSE"
    replies:
      - tools:
          - {name: Bash, input: {command: "touch two.txt", description: continue}}
        usage: {input: 100000, output: 5000}
      - {text: "What now?", usage: {input: 100000, output: 5000}}
expect: {status: over_budget, exit_code: 4}
`

// What a person has granted the run, and what it may cost, hold for it wherever it is.
func TestGrantsAndBudgetsGoWithTheRun(t *testing.T) {
	t.Parallel()
	scenario, err := examples.Parse([]byte(dear))
	if err != nil {
		t.Fatal(err)
	}
	s, _ := realSitePlaying(t, scenario, nil)
	one := s.worker("one")
	run := s.plays(scenario, "--lease", "3s", "--max-cost-usd", "1.8")
	s.must("answer", s.asks(run, "one"), "allow-run", "Bash(touch:*)")
	l := s.until(run, "asking for the name", func(l listed) bool {
		return len(l.Questions) == 1 && strings.Contains(l.Questions[0].Question, "Which name")
	})
	one.signal(syscall.SIGKILL)
	s.worker("two")
	s.must("answer", l.Questions[0].ID, "two")
	s.ends(run, exit.Budget)
	l = s.until(run, "asking for more", func(l listed) bool { return len(l.Questions) == 1 && l.Epoch == 2 })
	if code, _, said := s.says("resume", run); code != exit.Budget || !strings.Contains(said, l.Questions[0].ID) {
		t.Errorf("resume exits %d: %s", code, said)
	}
	if q := l.Questions[0].Question; !strings.HasPrefix(q, "The cost budget of the run is used up: $2.0") {
		t.Errorf("it asks %s", q)
	}
	if said := s.must("logs", run); strings.Count(said, "Allow Bash") > 2 { // asked, and answered
		t.Errorf("it was asked for again: %s", said)
	}
}
