package e2e

import (
	"os"
	"strings"
	"testing"

	"claude-supervise/examples"
)

func TestALimitedRunGoesOnByItselfThoughItsSupervisorDied(t *testing.T) {
	t.Parallel()
	limit, err := os.ReadFile("../examples/scenarios/limit.yaml")
	noError(t, err)
	agentsOn(t, strings.Replace(string(limit), "lasts: 2s", "lasts: 4s", 1),
		func(t *testing.T, w *world, s examples.Scenario) {
			run := w.start(w.runArgs(s, "--on-question", "park")...)
			reason := run.until("limited").Reason
			if !strings.Contains(reason, "hit your limit") || !strings.Contains(reason, "; resumes at ") {
				t.Errorf("the person reads %q", reason)
			}
			if a := w.ps().Agents[0]; a.Status != "limited" || a.PID != 0 {
				t.Errorf("it is %s, with process %d", a.Status, a.PID)
			}
			run.kill9()
			finishes(t, w, s, w.start("resume", w.ps().ID))
			if n := w.ps().Agents[0].Launches; n != 2 {
				t.Errorf("it was launched %d times for one limit", n)
			}
		})
}
