package e2e

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"claude-supervise/e2e/claude"
	"claude-supervise/examples"
)

const scheduled = "[COMPLETION_REPORT]\nagent_id: {{agent}}\ntimestamp: 2026-01-11T12:00:00Z\nstatus: success\n" +
	"summary: the schedule has come\n[/COMPLETION_REPORT]"

// A turn that a schedule begins on the real CLI is said to be one: nobody has asked for it. The next minute is waited
// for.
func TestATurnThatAScheduleBeginsIsSaidToBeOne(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, plainProgram)
	s := examples.Scenario{Name: "scheduled", Prompt: "## WORK", Turns: []examples.Turn{
		replies("## POKE", saying(scheduled)),
		replies("## WORK", doing(examples.ToolCall{Name: "CronCreate", Input: map[string]any{
			"cron": "* * * * *", "prompt": "## POKE", "recurring": false}}), saying("I wait.")),
	}}
	w.real(s, nil)
	run := w.start(w.runArgs(s, "--on-question", "ask", "--check", "off", "--allow", "CronCreate")...)
	run.waitsFor("claude begins a turn by itself: a schedule, of its own or of the folder")
	w.ends(run, 0)
}

// A schedule that a folder brings keeps no run from its end.
func TestAScheduleOfTheFolderKeepsNoRunFromItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, plainProgram)
	s := examples.Scenario{Name: "scheduled", Prompt: "## WORK", Turns: []examples.Turn{
		replies("## POKE", saying("Poked.")),
		replies("## WORK", saying(scheduled)),
	}}
	w.real(s, nil)
	w.put(".claude/scheduled_tasks.json", fmt.Sprintf(`{"tasks":[{"id":"643551ef","cron":"* * * * *",`+
		`"prompt":"## POKE","createdAt":%d,"recurring":true}]}`, time.Now().UnixMilli()))
	run := w.start(w.runArgs(s, "--on-question", "ask", "--check", "off")...)
	w.ends(run, 0)
	if run.said("a schedule") {
		t.Error("the run has waited for the schedule")
	}
}

// No mode lets an agent write a schedule of later sessions unasked. In bare claude it comes off.
func TestNoScheduleIsWrittenUnasked(t *testing.T) {
	t.Parallel()
	program := claude.Program(t)
	var at *site
	a := attack{
		lay: func(s *site) {
			at, s.flags = s, []string{"--permission-mode=bypassPermissions"}
			s.put(filepath.Join(s.Home, ".config", "claude-supervise", "config.yaml"), "hold: 10m\n")
		},
		calls: []examples.ToolCall{
			{Name: "Write", Input: map[string]any{"file_path": "CWD/.claude/scheduled_tasks.json", "content": "{}"}},
			bashCall(`mkdir -p .git; touch .git/x; echo x > ~/.config/claude-supervise/unasked`),
			bashCall(`mkdir -p .claude; echo '{"tasks":[]}' > .claude/sched"uled"_tasks.json`),
		},
	}
	kept := func() bool { return at.made(".claude/scheduled_tasks.json") }
	if a.bare(t, program); !kept() || configDir(at.Home) != "config.yaml unasked" {
		t.Error("bare claude writes none")
	}
	if a.supervised(t, program); kept() || configDir(at.Home) != "config.yaml" {
		t.Errorf("a run writes one: %v, %s", kept(), configDir(at.Home))
	}
}
