package supervisor

import (
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
)

// Until what was said to a process counts as read, a turn of the process is the one that it begins.
func TestATurnIsNotBegunByItselfWhileSomethingIsSaid(t *testing.T) {
	s := &Story{T: t, At: time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)}
	says := func(want bool, when string) {
		t.Helper()
		if got := s.State.SaysTo(Root); got != want {
			t.Errorf("%s: %v", when, got)
		}
	}
	s.Do(Created{Run: "r-1", Cwd: "/work", Agent: Root, Task: "x"})
	s.Do(Opened{PID: 2, Policy: conf.Ask})
	s.Do(Started{Agent: Root, Launch: 1, PID: 101, StartTicks: 1})
	says(true, "while it is written")
	d := s.Delivers(1)
	s.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryStarted})
	says(false, "once it has begun its turn")
}
