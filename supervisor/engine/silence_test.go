package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/table"
)

// While it lasts a hold looks at no wall clock, so that none can end it.
func TestAHoldLastsAsLongAsItWasToBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := (&engine{Supervisor: Supervisor{Now: checkpoints.Now}}).hold(
			effect.Effect{Do: effect.Hold, Agent: Root, Launch: 1,
				Until: checkpoints.Now().Add(5 * time.Minute)})
		begun := time.Now()
		if r := wait(t.Context()); r.event != (supervisor.HoldEnded{Agent: Root, Launch: 1}) ||
			time.Since(begun) != 5*time.Minute {
			t.Errorf("after %v it gives %+v", time.Since(begun), r.event)
		}
	})
}

func TestARestIsOverWhenEitherClockSaysSo(t *testing.T) {
	due := time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		wall         time.Time
		steady, want time.Duration
	}{
		"on time":                         {due, 0, 0},
		"in the middle":                   {due.Add(-time.Minute), time.Minute, time.Minute},
		"the machine slept":               {due.Add(time.Hour), time.Minute, -time.Hour},
		"the clock was put back":          {due.Add(-24 * time.Hour), time.Minute, time.Minute},
		"and the rest is over by the way": {due.Add(-24 * time.Hour), -time.Second, -time.Second},
	} {
		if got := waitLeft(due, c.wall, c.steady); got != c.want {
			t.Errorf("%s: %v are left, want %v", name, got, c.want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		until := checkpoints.Now().Add(90 * time.Second)
		wait := (&engine{Supervisor: Supervisor{Now: checkpoints.Now}}).awaitRetry(
			effect.Effect{Do: effect.Retry, Agent: Root, Until: until})
		begun := time.Now()
		if r := wait(t.Context()); r.event != (supervisor.RetryDue{Agent: Root, Until: until}) ||
			time.Since(begun) != 90*time.Second {
			t.Errorf("after %v it gives %+v", time.Since(begun), r.event)
		}
	})
}

func TestAPulseKnowsTheCallsUnderWay(t *testing.T) {
	e := &engine{Supervisor: Supervisor{Now: checkpoints.Now},
		state: supervisor.State{Records: records.Records{Launches: table.Of(map[string][]*supervisor.Launch{Root: {{Agent: Root, N: 1,
			Phase: checkpoints.LaunchTurn}}})}}}
	c := &child{Listener: listen.Listener{Agent: Root, Launch: 1}}
	hear := func(m procs.Message) {
		t.Helper()
		if err := e.recordActivity(t.Context(), c, m); err != nil {
			t.Fatal(err)
		}
	}
	says := func(want string) {
		t.Helper()
		if got := e.doing(c); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	says("waits for the API")
	hear(procs.ToolUse{ID: "1", Name: "Bash", Input: []byte(`{"command":"npm test"}`)})
	hear(procs.ToolUse{ID: "2", Name: "Read", Input: []byte(`{"file_path":"a.txt"}`)})
	says("Read: a.txt")
	hear(procs.ToolResult{ToolUse: "2"})
	says("Bash: npm test")
	hear(procs.Result{})
	says("waits for the API")
}
