package main

import (
	"strings"
	"testing"
	"time"

	"claude-supervise/supervisor/view"
)

func TestARunWhoseAgentsWaitForOneThatAsksSaysWhatIsAsked(t *testing.T) {
	run := view.RunView{ID: "r-3f9a2c1b", Status: "blocked", Reason: "waits for a-000000000001",
		OpenQuestions: []string{"q-7kq2mx"}, Agents: []view.AgentView{
			{ID: "a-7Qm2xK9fWb4T", Status: "blocked", Reason: "waits for a-000000000001"},
			{ID: "a-000000000001", Status: "waiting", Reason: "asks: On which day?",
				OpenQuestions: []string{"q-7kq2mx"}},
		}}
	if list := runTable(80, []view.RunView{run}, time.Now()); !strings.Contains(list, "asks: On which day?") {
		t.Errorf("it shows:\n%s", list)
	}
	run.Agents = run.Agents[:1]
	if list := runTable(80, []view.RunView{run}, time.Now()); !strings.Contains(list, "waits for a-000000000001") {
		t.Errorf("with nothing asked it shows:\n%s", list)
	}
}
