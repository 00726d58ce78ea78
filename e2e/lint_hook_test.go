package e2e

import (
	"os/exec"
	"strings"
	"testing"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
)

// The Stop hook, as the help of `claude-supervise lint` says to set it up, sends the model on when a signal has a
// fault, and once only.
func TestLintAsAStopHook(t *testing.T) {
	t.Parallel()
	cli := claude.Program(t)
	const (
		faulty = "[STOP_WORK]\nagent_id: bg-task-1\nstop_reason: stuck\nblocker_type: error\ndetails: no key\n[/STOP_WORK]"
		mended = "[STOP_WORK]\nagent_id: bg-task-1\nstop_reason: blocker\nblocker_type: error\ndetails: no key\n[/STOP_WORK]"
		fault  = `- line 3: bad_value: stop_reason is "stuck", not one of blocker, error, completion`
	)
	for name, c := range map[string]struct {
		first, then string
		sentOn      int
		last        string
	}{
		"a faulty signal is mended":       {faulty, mended, 1, "stop_reason: blocker"},
		"a fault that stays holds nobody": {faulty, faulty, 1, "stop_reason: stuck"},
		"a good signal passes":            {mended, "sent on", 0, "stop_reason: blocker"},
		"talk passes":                     {"I would print [STOP_WORK].", "sent on", 0, "I would print"},
	} {
		if !sample.Has("hook "+name, 2) { // the script lint_hook has all of them, without the CLI
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Plays(cli, examples.Scenario{Turns: []examples.Turn{
				replies("## YOUR TASK", saying(c.first)), replies("Stop hook feedback:", saying(c.then)),
			}}, nil)
			t.Cleanup(w.API.Close)
			w.put(".claude/settings.json",
				`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"`+w.Program+` lint --hook"}]}]}}`)
			cmd := exec.Command(cli, "-p", "## YOUR TASK")
			cmd.Dir, cmd.Env = w.Cwd, w.Env
			said, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(said), c.last) {
				t.Errorf("the turn ended with %q (%v), without %q", said, err, c.last)
			}
			asked := 0
			for _, r := range w.API.Requests() {
				if !r.Side {
					asked++
				}
			}
			if asked != 1+c.sentOn {
				t.Errorf("the hook sent the model on %d times, not %d", asked-1, c.sentOn)
			}
			if c.sentOn > 0 && !w.API.Received(fault) {
				t.Error("the model was not told of the fault")
			}
		})
	}
}
