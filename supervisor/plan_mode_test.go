package supervisor

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

// plans is an agent in plan mode whose plan waits for a person.
func plans(t *testing.T, change func(*conf.Config)) *Story {
	t.Helper()
	s := Begin(t, func(c *conf.Config) {
		c.Flags = []string{"--permission-mode", "plan", "--effort=high"}
		if change != nil {
			change(c)
		}
	})
	s.Do(TurnBegun{Agent: Root, Launch: 1, Version: "2.1.332"})
	s.asksAboutPlan("q-1", "# Add it", 1)
	return s
}

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

func TestAPlanIsAnsweredByWhoHasReadIt(t *testing.T) {
	s := plans(t, func(c *conf.Config) {
		c.Allow, c.Permissions = []string{"ExitPlanMode"}, conf.DenyPermissions
	})
	if q := s.State.Questions.Get("q-1"); q == nil || !q.IsOpen() {
		t.Fatalf("a rule, a policy or an answer in advance has decided: %+v", q)
	}
	s.Answers("q-1", "Use SQLite")
	if r := s.replied("q-1"); !strings.HasPrefix(r, `{"behavior":"deny"`) || !strings.Contains(r, `:\nUse SQLite\n`) {
		t.Errorf("the call gets %s", r)
	}
	s.asksAboutPlan("q-2", "# Add it", 1)
	if !s.State.Questions.Get("q-2").IsOpen() {
		t.Error("what was changed before changes the next plan")
	}
	s.Answers("q-2", Approve)
	if r := s.replied("q-2"); !strings.HasPrefix(r, `{"behavior":"allow"`) || !strings.Contains(r, "# Add it") {
		t.Errorf("the call gets %s", r)
	}
	s.asksAboutPlan("q-3", "# Add it", 1)
	if !s.State.Questions.Get("q-3").IsOpen() {
		t.Error("an approval is good for another call")
	}
}

// An agent whose plan was approved is not put back into plan mode by the flags of its run; one that has yet to make the
// call again still is in it.
func TestPlanModeIsLeftForGood(t *testing.T) {
	in, out := []string{"--permission-mode", "plan", "--effort=high"}, []string{"--effort=high"}
	s := plans(t, func(c *conf.Config) { c.Hold = 0 })
	s.Ends()
	s.Rests(true)
	s.Answers("q-1", Approve)
	if got := s.State.FlagsOf(Root); !slices.Equal(got, in) {
		t.Errorf("approved, and not let through: %q", got)
	}
	s.Do(Started{Agent: Root, Launch: 2, PID: 102, StartTicks: 2})
	d := s.Delivers(2)
	if d.Results != nil || !strings.Contains(d.Text, "The person approves the plan") {
		t.Errorf("the agent reads %+v\n%s", d.Results, d.Text)
	}
	s.asksAboutPlan("q-2", "# Add more", 2)
	if !s.State.Questions.Get("q-2").IsOpen() || !slices.Equal(s.State.FlagsOf(Root), in) {
		t.Error("the approval is good for another plan")
	}
	s.asksAboutPlan("q-3", "# Add it", 2)
	if s.State.Questions.Get("q-3") != nil || !s.State.Questions.Get("q-1").GrantSpent {
		t.Error("what was approved is asked about again")
	}
	if got := s.State.FlagsOf(Root); !slices.Equal(got, out) || !slices.Equal(s.State.Config.Flags, in) {
		t.Errorf("let through: %q", got)
	}
}

func TestAPlanThatIsApprovedWhileItsProcessWaitsLeavesPlanMode(t *testing.T) {
	s := plans(t, nil)
	s.Answers("q-1", Approve)
	for _, v := range s.State.FindDeliveries(Root, func(v *Delivery) bool { return v.Tool != nil }) {
		s.Do(Sent{UUID: v.UUID, Launch: 1})
		s.Do(Received{UUID: v.UUID, State: checkpoints.DeliveryDelivered})
	}
	if got := s.State.FlagsOf(Root); !slices.Equal(got, []string{"--effort=high"}) {
		t.Errorf("it is started anew with %q", got)
	}
}

// What a person wants changed is the result of the call, as if the process had waited.
func TestWhatAPlanLacksIsToldInPlace(t *testing.T) {
	s := plans(t, func(c *conf.Config) { c.Hold = 0 })
	s.Ends()
	s.Rests(true)
	s.Answers("q-1", "Use SQLite")
	s.Do(Started{Agent: Root, Launch: 2, PID: 102, StartTicks: 2, At: "line-q-1"})
	d := s.Delivers(2)
	if len(d.Results) != 1 || !d.Results[0].IsError || !strings.Contains(d.Results[0].Text, "Use SQLite") {
		t.Errorf("it is told %+v", d)
	}
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
