package supervisor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/text"
)

// A signal of a megabyte may hold a hundred questions.
func TestAGroupOfQuestionsHoldsWhereItCameFromOnce(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Hold = conf.Forever })
	sig := signals.Signal{
		Kind: signals.Clarification, Dialect: signals.Block, Raw: strings.Repeat("x", signals.MaxRaw),
		Fields: []signals.Field{{Name: "current_state", Value: strings.Repeat("y", 1<<19)},
			{Name: "quick_wait", Value: "3s"}},
	}
	var ids []string
	for i := range 100 {
		ids = append(ids, fmt.Sprintf("q-%03d", i))
		sig.Questions = append(sig.Questions,
			signals.Question{ID: fmt.Sprint("Q", i+1), Text: "Which? " + strings.Repeat("z", 3000)})
	}
	s.Do(SignalRead{Agent: Root, Launch: 1, Named: Named{Signal: sig, Naming: Naming{IDs: ids}}})
	s.turnEnds()
	bytes := 0
	for q := range s.State.Questions.Values() {
		bytes += len(text.JSON(q))
	}
	if bytes > 2<<20 {
		t.Errorf("the records of a signal of one megabyte have %d bytes", bytes)
	}
	if q := s.State.Questions.Get("q-099"); ask.QuickWait(q) != 3*time.Second {
		t.Errorf("the last question waits %v", ask.QuickWait(q))
	}
	for _, id := range ids {
		s.Answers(id, "this")
	}
	if text := s.Delivers(1).Text; !strings.Contains(text, "Current state: yyyy") ||
		!strings.Contains(text, "A100: this\n") {
		t.Errorf("%d bytes are said", len(text))
	}
}

func TestLostNoticeChangesNothingForTheNextSupervisor(t *testing.T) {
	sent := NotificationSent{Question: "q-1"}
	if !MayBeLost(State{}, State{}, Happened{Event: sent}, nil) {
		t.Error("the disk is waited for")
	}
	for _, lost := range []bool{false, true} {
		s := Begin(t, nil)
		s.Asks("q-1", "Which?")
		if !lost {
			s.Do(sent)
			s.plansNot("notify q-1")
		}
		s.Do(Opened{PID: 2, Waker: "/tmp/wake-up", Policy: conf.Ask})
		s.plans("notify q-1")
	}
}

// What a person has said goes to the agent as its turn ends: nobody is told of that end, but a power cut may leave the
// words in claude's transcript. So the record that they were on their way waits for the disk.
func TestWordsThatGoToAnAgentWaitForTheDisk(t *testing.T) {
	for name, c := range map[string]struct {
		says    bool
		mayLose bool
	}{"with a message": {says: true}, "with nothing to say": {mayLose: true}} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			if c.says {
				s.says("use the old names")
			}
			before, ends := s.State, TurnEnded{Agent: Root, Launch: 1}
			s.Do(ends)
			if got := MayBeLost(before, s.State, Happened{Event: ends}, nil); got != c.mayLose {
				t.Errorf("it may be lost: %v", got)
			}
		})
	}
	t.Run("with a message that was not read by a process that is gone", func(t *testing.T) {
		s := Begin(t, nil)
		s.Do(TurnBegun{Agent: Root, Launch: 1, Version: "2.1.329"})
		s.says("use the old names")
		said := s.Delivers(1)
		s.Do(Opened{PID: 2, Waker: "/tmp/wake-up", Policy: conf.Ask})
		s.dies(crash())
		s.Rests(false)
		s.Do(Started{Agent: Root, Launch: 2, PID: 102})
		s.Delivers(2)
		again := TurnBegun{Agent: Root, Launch: 2, Version: "2.1.329"}
		before := s.State
		s.Do(again)
		if v := s.State.Deliveries.Get(said.UUID); v.State != checkpoints.DeliveryPending {
			t.Fatalf("it is %s", v.State)
		}
		if MayBeLost(before, s.State, Happened{Event: again}, nil) {
			t.Error("that it is said again may be lost")
		}
	})
}
