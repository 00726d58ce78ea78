package supervisor

import (
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/task"
)

// crowd begins a story of several agents at work at once.
func crowd(t *testing.T, parallel, agents int) *Story {
	s := &Story{T: t, At: time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)}
	created := Created{Run: RunID, Cwd: "/work", Agent: Root, Task: "All of it", Group: true,
		Config: conf.Config{Hold: conf.DefaultHold, MaxHeld: -1, Relaunch: conf.Resume, MaxParallel: parallel}}
	for i := range agents {
		id := "a-" + string(rune('a'+i))
		created.Children = append(created.Children, task.Child{Agent: id, Work: task.Work{Task: "part " + id}})
	}
	s.Do(created)
	s.Do(Opened{PID: 1, Policy: conf.Ask})
	return s
}

func (s *Story) parallels(want int) {
	s.T.Helper()
	if got := s.State.parallel(); got != want {
		s.T.Fatalf("%d may be at work, want %d", got, want)
	}
}

func TestUnderPressureHalfAsManyAreAtWorkAndThenOneMoreAtATime(t *testing.T) {
	s := crowd(t, 4, 6)
	s.parallels(4)
	s.Do(Throttled{By: MemoryShort})
	s.parallels(2)
	if n := s.State.working(); n != 4 {
		t.Errorf("%d are at work: nothing that runs is ended", n)
	}
	if s.try(Throttled{By: MemoryShort}) {
		t.Error("it shrinks again before that has had an effect")
	}
	s.At = s.At.Add(PressAgain)
	s.Do(Throttled{By: MemoryShort})
	s.parallels(1)
	s.plans("ease")
	for _, want := range []int{2, 3, 4} {
		s.Do(Unthrottled{})
		s.parallels(want)
	}
	s.plansNot("ease")
	if s.State.Run.Pressure != nil {
		t.Error("the pressure stays")
	}
}

func TestOneAgentAloneIsNotSlowedDown(t *testing.T) {
	s := crowd(t, 4, 1)
	if s.try(Throttled{By: MemoryShort}) {
		t.Error("fewer than one cannot be at work")
	}
	unlimited := crowd(t, 0, 6)
	unlimited.Do(Throttled{By: MemoryShort})
	unlimited.parallels(3)
}

func TestSlotsAreGivenUnderTheShrunkLimit(t *testing.T) {
	s := crowd(t, 4, 6)
	s.Do(Throttled{By: MemoryShort})
	s.Do(Ended{Agent: "a-a", Launch: 1, Outcome: "exit 0"})
	s.Do(Surveyed{Agent: "a-a", Launch: 1})
	if n := s.State.working(); n != 3 {
		t.Errorf("%d are at work after one of four has ended, and two may be", n)
	}
	if a := s.State.Agents.Get("a-e"); a.Status != checkpoints.Queued {
		t.Errorf("the next is %s", a.Status)
	}
}

func TestSeveralAgentsHaveToBeRefusedForTheAPIToBePressed(t *testing.T) {
	at := time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)
	s := Backpressure{}
	if s.Refused("a-1", at) || s.Refused("a-1", at.Add(time.Second)) {
		t.Error("one agent alone presses the API")
	}
	if !s.Refused("a-2", at.Add(2*time.Second)) {
		t.Error("two do not")
	}
	if s.Refused("a-3", at.Add(time.Hour)) {
		t.Error("what was refused an hour ago counts")
	}
}
