package supervisor

import (
	"testing"
	"time"

	"claude-supervise/checkpoints"
)

// crowd begins a story of several agents at work at once.
func crowd(t *testing.T, parallel, agents int) *story {
	s := &story{t: t, at: time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)}
	created := Created{Run: runID, Cwd: "/work", Agent: root, Task: "All of it", Group: true,
		Config: Config{Hold: DefaultHold, MaxHeld: -1, Relaunch: Resume, MaxParallel: parallel}}
	for i := range agents {
		id := "a-" + string(rune('a'+i))
		created.Children = append(created.Children, Child{Agent: id, Work: Work{Task: "part " + id}})
	}
	s.do(created)
	s.do(Opened{PID: 1, Policy: Ask})
	return s
}

func (s *story) parallels(want int) {
	s.t.Helper()
	if got := s.state.parallel(); got != want {
		s.t.Fatalf("%d may be at work, want %d", got, want)
	}
}

func TestUnderPressureHalfAsManyAreAtWorkAndThenOneMoreAtATime(t *testing.T) {
	s := crowd(t, 4, 6)
	s.parallels(4)
	s.do(Pressed{By: memoryShort})
	s.parallels(2)
	if n := s.state.working(); n != 4 {
		t.Errorf("%d are at work: nothing that runs is ended", n)
	}
	if s.try(Pressed{By: memoryShort}) {
		t.Error("it shrinks again before that has had an effect")
	}
	s.at = s.at.Add(pressAgain)
	s.do(Pressed{By: memoryShort})
	s.parallels(1)
	s.plans("ease")
	for _, want := range []int{2, 3, 4} {
		s.do(Eased{})
		s.parallels(want)
	}
	s.plansNot("ease")
	if s.state.Run.Pressure != nil {
		t.Error("the pressure stays")
	}
}

func TestOneAgentAloneIsNotSlowedDown(t *testing.T) {
	s := crowd(t, 4, 1)
	if s.try(Pressed{By: memoryShort}) {
		t.Error("fewer than one cannot be at work")
	}
	unlimited := crowd(t, 0, 6)
	unlimited.do(Pressed{By: memoryShort})
	unlimited.parallels(3)
}

func TestSlotsAreGivenUnderTheShrunkLimit(t *testing.T) {
	s := crowd(t, 4, 6)
	s.do(Pressed{By: memoryShort})
	s.do(Ended{Agent: "a-a", Launch: 1, Outcome: "exit 0"})
	s.do(Surveyed{Agent: "a-a", Launch: 1})
	if n := s.state.working(); n != 3 {
		t.Errorf("%d are at work after one of four has ended, and two may be", n)
	}
	if a := s.state.Agents["a-e"]; a.Status != checkpoints.Queued {
		t.Errorf("the next is %s", a.Status)
	}
}

func TestSeveralAgentsHaveToBeRefusedForTheAPIToBePressed(t *testing.T) {
	at := time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)
	s := strain{}
	if s.refused("a-1", at) || s.refused("a-1", at.Add(time.Second)) {
		t.Error("one agent alone presses the API")
	}
	if !s.refused("a-2", at.Add(2*time.Second)) {
		t.Error("two do not")
	}
	if s.refused("a-3", at.Add(time.Hour)) {
		t.Error("what was refused an hour ago counts")
	}
}
