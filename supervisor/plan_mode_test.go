package supervisor

import (
	"encoding/json"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

func (s *Story) asksAboutPlan(id, plan string, launch int) {
	s.T.Helper()
	input, err := json.Marshal(map[string]string{"plan": plan, "planFilePath": "/h/p.md"})
	if err != nil {
		s.T.Fatal(err)
	}
	s.Do(Asked{Agent: Root, Launch: launch, Kind: questions.AskPlan, Questions: []signals.Question{ask.Plan(input, "")},
		Call: checkpoints.ToolCall{Launch: launch, Request: "r-" + id, Name: ask.ExitPlanMode, Input: input,
			ToolUse: "toolu-" + id, Line: "line-" + id},
		Naming: Naming{IDs: []string{id}}})
}

// A conversation that begins again knows nothing of a plan but what it is told.
func TestAConversationThatBeginsAgainIsToldItsPlan(t *testing.T) {
	q := &Question{Kind: questions.AskPlan}
	q.Text, q.Context, q.Answer = "Approve the plan: Add?", "# Add\n\n1. a", questions.Approve
	want := "- Approve the plan: Add?\n  → approve\n  The plan, which you carry out:\n  | # Add\n  | \n  | 1. a"
	of := func(*Question) *Agent { return nil }
	if got := prompts.Told([]*Question{q}, of); got != want {
		t.Errorf("it is told %q", got)
	}
	if q.Answer = "one is enough"; prompts.Told([]*Question{q}, of) != "- Approve the plan: Add?\n  → one is enough" {
		t.Errorf("of another it is told %q", prompts.Told([]*Question{q}, of))
	}
}
