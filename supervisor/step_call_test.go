package supervisor

import (
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
)

func askUser(id string) Asked {
	return Asked{
		Agent: Root, Launch: 1, Kind: questions.AskClarification,
		Call: checkpoints.ToolCall{Launch: 1, Request: "req-1", ToolUse: "toolu_1", Name: ask.AskUserQuestion,
			Input: raw(map[string]any{"questions": []map[string]string{{"question": "Which database?"}}})},
		Questions: []signals.Question{{ID: "Q1", Text: "Which database?"}}, Naming: Naming{IDs: []string{id}},
	}
}

// delivered starts launch n and gives what it is told first.
func (s *Story) delivered(n int) string {
	s.T.Helper()
	s.Do(Started{Agent: Root, Launch: n, PID: 100 + n})
	return s.Delivers(n).Text
}

func TestAPermissionGivenWhileParkedIsGoodForOneCallOfThatInput(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Hold = 0 })
	ask := func(launch int, request, id, file string) Asked {
		return Asked{
			Agent: Root, Launch: launch, Kind: questions.AskPermission,
			Call: checkpoints.ToolCall{Launch: launch, Request: request, ToolUse: "toolu_" + request, Name: "Write",
				Input: raw(map[string]string{"file_path": file})},
			Questions: []signals.Question{{ID: "Write", Text: "Allow Write?",
				Options: []signals.Option{{Label: Allow}, {Label: Deny}}}}, Naming: Naming{IDs: []string{id}},
		}
	}
	s.Do(ask(1, "r1", "q-1", "/a"))
	s.Ends()
	s.Rests(true)
	s.Answers("q-1", Allow)
	s.Launches(2)
	s.Do(ask(2, "r2", "q-2", "/a"))
	if s.State.Questions.Get("q-2") != nil {
		t.Fatal("what was allowed is asked again")
	}
	d := s.Delivers(2)
	if !strings.Contains(string(d.Reply), `"behavior":"allow"`) {
		t.Fatalf("the reply is %s", d.Reply)
	}
	s.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	s.Do(ask(2, "r3", "q-3", "/a"))
	if s.State.Questions.Get("q-3") == nil {
		t.Fatal("a permission was used twice")
	}
}

// Several short turns may end before the transcript is on the disk, and be lost together; one long ago is not looked
// up again.
func TestWhatWasReadTurnsAgoIsLookedUpAfterACrashUnlessThatIsLongAgo(t *testing.T) {
	for name, since := range map[string]struct {
		pause time.Duration
		turns int
		asked bool
	}{
		"just now": {0, unwrittenTurns + 2, true}, "before the machine slept": {2 * unwritten, 2, true},
		"long ago": {2 * unwritten, unwrittenTurns + 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			s.Do(askUser("q-1"))
			s.Answers("q-1", "SQLite")
			d := s.Delivers(1)
			s.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
			s.Do(BackgroundChanged{Agent: Root, Launch: 1, Tasks: []checkpoints.Task{{ID: "t1"}, {ID: "t2"}, {ID: "t3"}}})
			s.turnEnds()
			s.At = s.At.Add(since.pause)
			for range since.turns {
				s.Do(TurnBegun{Agent: Root, Launch: 1, Version: "2.1.329"})
				s.says("go on")
				s.Delivers(1)
				s.turnEnds()
			}
			s.dies(crash())
			uncertain := s.State.Deliveries.Get(d.UUID).State == checkpoints.DeliverySent
			if uncertain != since.asked {
				t.Fatalf("whether it has read the answer %v is asked: %v", name, uncertain)
			}
			for _, v := range s.State.FindDeliveries(Root, (*Delivery).WaitsForReceipt) {
				s.Do(Confirmed{UUID: v.UUID, Found: v.UUID != d.UUID})
			}
			s.Rests(true)
			s.Do(RetryDue{Agent: Root})
			if text := s.delivered(2); uncertain != strings.Contains(text, "A1: SQLite") {
				t.Errorf("the agent reads:\n%s", text)
			}
		})
	}
}
