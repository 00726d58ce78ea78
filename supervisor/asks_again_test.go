package supervisor

import (
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
)

// What an agent asks again before the conversation has the answer is the same question; afterwards it is a new one,
// also in the turn that the answer has begun.
func TestTheSameAskedAgainAfterItsAnswerHasBegunIsANewQuestion(t *testing.T) {
	asks := map[string]func(s *Story, id string) SignalRead{
		"a question": func(s *Story, id string) SignalRead { return s.clarification(id, "Continue with the next file?") },
		"a blocker": func(s *Story, id string) SignalRead {
			e := s.clarification(id, "")
			e.Named.Signal = signals.Signal{Kind: signals.Stop, Dialect: signals.Block, AgentID: Root,
				Fields: []signals.Field{{Name: "stop_reason", Value: "blocker"}, {Name: "details", Value: "no key"}}}
			return e
		},
		"a delegation": func(s *Story, id string) SignalRead {
			e := s.clarification(id, "")
			e.Named.Child = "a-child0000000"
			e.Named.Signal = signals.Signal{Kind: signals.Delegate, Dialect: signals.Block, AgentID: Root,
				Fields: []signals.Field{{Name: "new_task_description", Value: "Write tests"}}}
			return e
		},
	}
	for name, ask := range asks {
		for _, parked := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				s := Begin(t, nil)
				s.Do(ask(s, "q-1"))
				if s.try(ask(s, "q-2")) {
					t.Fatal("asked twice while it is open, it is two questions")
				}
				s.turnEnds()
				if parked {
					s.Do(HoldEnded{Agent: Root, Launch: 1})
					s.Ends()
					s.Rests(true)
				}
				s.Answers("q-1", "deny no")
				if name == "a blocker" {
					s.Do(Prepared{Question: "q-1"})
				}
				if parked {
					s.plans("launch " + Root + " 2")
					s.Do(Started{Agent: Root, Launch: 2, PID: 9, StartTicks: 9})
				}
				if s.try(ask(s, "q-2")) {
					t.Fatal("asked again before the conversation has the answer, it is two questions")
				}
				s.Delivers(s.State.Launch(Root).N)
				s.Do(TurnBegun{Agent: Root, Launch: s.State.Launch(Root).N})
				s.Do(ask(s, "q-2"))
				if s.try(ask(s, "q-3")) {
					t.Fatal("asked twice after its answer, it is two new questions")
				}
				s.turnEnds()
				s.is(checkpoints.Waiting)
				if q := s.State.Questions.Get("q-2"); q.State != checkpoints.QuestionOpen {
					t.Fatalf("the new question is %s", q.State)
				}
			})
		}
	}
}

// A crash in that turn: the transcript shows what was asked after the answer, and what was saved of it is not doubled.
func TestWhatWasAskedAgainInALostTurnIsAskedOnce(t *testing.T) {
	for name, saved := range map[string]bool{"it was saved": true, "it was not": false} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			s.Asks("q-1", "Continue?")
			s.Answers("q-1", "SQLite")
			answer := s.Delivers(1)
			s.Do(TurnBegun{Agent: Root, Launch: 1})
			if saved {
				s.Do(s.clarification("q-2", "Continue?"))
			}
			s.dies(crash())
			again := s.clarification("q-3", "Continue?").Named
			s.plans("survey")
			s.Do(Surveyed{Agent: Root, Launch: 1, After: answer.UUID, Unread: []Named{again}, Whole: true})
			s.Rests(true)
			open := s.State.Open(Root)
			if len(open) != 1 || saved != (open[0].ID == "q-2") {
				t.Fatalf("%d questions are open: %+v", len(open), open)
			}
			s.is(checkpoints.Parked)
		})
	}
}
