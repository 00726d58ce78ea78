package claude

import "testing"

// billed costs 0.04 USD, then 0.05 more, then 0.02. Were it much more, the CLI would take its context for full.
const billed = `
  - when: "## YOUR TASK"
    replies:
      - {tools: [{name: Bash, input: {command: "echo once >> made", description: make it}}], usage: {input: 10000}}
      - {text: made, usage: {output: 2000, cache_read: 50000}}
  - when: "## NEXT"
    replies: [{text: next, usage: {cache_write: 4000}}]
`

func TestBoundsEndATurn(t *testing.T) {
	t.Parallel()
	for name, bound := range map[string]string{
		"budget-before-a-call":   "--max-budget-usd=0.03",
		"budget-with-the-answer": "--max-budget-usd=0.07",
		"budget-that-is-enough":  "--max-budget-usd=9",
		"as-many-replies-as-may": "--max-turns=1",
	} {
		onBoth(t, name, billed, func(_ *testing.T, s *session) {
			s.scenario.ClaudeFlags = append([]string{bound}, bashIsAllowed...)
			p := s.begin()
			p.finish("task")
			p.goesOn()
			p.leave()
		})
	}
}

// A budget is that of a process: what the conversation has cost before does not count.
func TestABudgetBeginsAnewWithEachProcess(t *testing.T) {
	t.Parallel()
	onBoth(t, "budget-of-a-later-process", billed, func(_ *testing.T, s *session) {
		s.scenario.ClaudeFlags = append([]string{"--max-budget-usd=0.1"}, bashIsAllowed...)
		p := s.begin()
		p.finish("task")
		p.leave()
		p = s.resume()
		p.goesOn()
		p.leave()
	})
}

func TestAForkGoesOnUnderItsOwnIdAndLeavesTheOtherAsItIs(t *testing.T) {
	t.Parallel()
	onBoth(t, "fork", billed, func(_ *testing.T, s *session) {
		s.scenario.ClaudeFlags = bashIsAllowed
		p := s.begin()
		p.finish("task")
		fork := s.start("--resume", s.id, "--fork-session", "--session-id", s.uuid("third"))
		fork.initialize()
		fork.goesOn()
		fork.leave()
		p.leave()
	})
}
