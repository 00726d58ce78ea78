package news

import (
	"testing"
	"time"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/view"
)

func TestTheStatusLineSumsUpWhatAgentsDoAndSpend(t *testing.T) {
	var w Working
	began, later := time.Unix(1, 0), time.Unix(2, 0)
	state := func(id string, tokens int64) *supervisor.Agent {
		a := &supervisor.Agent{ID: id}
		a.OutputTokens, a.CostUSD = tokens, float64(tokens)
		return a
	}
	for i, step := range []struct {
		n    notice.Notification
		want terminal.Status
	}{
		{notice.Notification{Type: notice.AgentStarted, Who: "one", Time: began, State: state("a-1", 1)},
			terminal.Status{Text: "one: starting", Since: began, Tokens: 1, CostUSD: 1, Keys: keysMeanwhile}},
		{notice.Notification{Type: notice.AgentStarted, Who: "two", Time: later, State: state("a-2", 2)},
			terminal.Status{Text: "two: starting", Since: began, Tokens: 3, CostUSD: 3, Keys: keysMeanwhile}},
		{notice.Notification{Type: notice.TextSaid, Who: "one", Time: later, State: state("a-1", 4)},
			terminal.Status{Text: "one: thinking", Since: began, Tokens: 6, CostUSD: 6, Keys: keysMeanwhile}},
		{notice.Notification{Type: notice.ParkedNow, Who: "two", Time: later},
			terminal.Status{Text: "one: thinking", Since: began, Tokens: 6, CostUSD: 6, Keys: keysMeanwhile}},
		{notice.Notification{Type: notice.RunDone, Time: later}, terminal.Status{}},
	} {
		if got := w.Line(step.n, true); got != step.want {
			t.Errorf("after %d: %+v, want %+v", i, got, step.want)
		}
	}
}

func TestTheLineOfARunThatIsLookedAtMovesWhileItWorks(t *testing.T) {
	since := time.Unix(1, 0)
	var run view.RunView
	run.Agents = []view.AgentView{{ID: "a-1", Status: "running", Since: since, OutputTokens: 2},
		{ID: "a-2", Status: "waiting", Since: since, OutputTokens: 3}}
	run.Status, run.StartedAt, run.SupervisorPID = "running", since, 1
	var seen Seen
	said := view.Snapshot{Run: run, News: []notice.Notification{{Type: notice.TextSaid}}}
	if got, want := seen.Line(said, ""), (terminal.Status{Text: "thinking", Since: since, Tokens: 5,
		Keys: keysMeanwhile}); got != want {
		t.Errorf("of the run: %+v, want %+v", got, want)
	}
	if got, want := seen.Line(view.Snapshot{Run: run}, "a-1"), (terminal.Status{Text: "thinking", Since: since,
		Tokens: 2, Keys: keysMeanwhile}); got != want {
		t.Errorf("of an agent, later: %+v, want %+v", got, want)
	}
	if got, want := seen.Line(view.Snapshot{Run: run}, "a-2"), (terminal.Status{Text: "waiting",
		Keys: keysMeanwhile}); got != want {
		t.Errorf("of one that waits: %+v, want %+v", got, want)
	}
}
