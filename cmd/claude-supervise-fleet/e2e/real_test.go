package e2e

import (
	"strings"
	"syscall"
	"testing"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/examples"
)

// The real CLI asks on one worker, which is killed with the process waiting. It is answered, and the same conversation
// goes on with the answer on a worker with another home.
func TestTheConversationOfTheRealCLIGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	s, scenario, api := realSite(t, nil)
	one := s.worker("one")
	run := s.plays(scenario, "--lease", "3s")
	q := s.asks(run, "one")
	one.signal(syscall.SIGKILL)
	s.worker("two")
	s.must("answer", q, "JWT")
	s.endsInPart(run)
	asked := 0
	for _, r := range api.Requests() {
		if !r.Side && strings.Contains(r.Reply.Text, "CLARIFICATION_NEEDED") {
			asked++
		}
	}
	if asked != 1 || !api.Received("JWT") {
		t.Errorf("it was asked %d times, and received: %t", asked, api.Received("JWT"))
	}
	s.workerIn(one.home, "one")
	nothingIsLeft(t, run)
}

// realSite returns a fleet whose agents are the real CLI, the scenario that they play, and the model, of which
// onRequest is told each request before it is answered.
func realSite(t *testing.T, onRequest func(messagesapi.Request)) (*site, examples.Scenario, *messagesapi.API) {
	t.Helper()
	scenario, err := examples.Load("ask")
	if err != nil {
		t.Fatal(err)
	}
	s, api := realSitePlaying(t, scenario, onRequest)
	return s, scenario, api
}

func realSitePlaying(t *testing.T, scenario examples.Scenario, onRequest func(messagesapi.Request)) (*site,
	*messagesapi.API) {
	t.Helper()
	program := claude.Program(t)
	s := newSite(t)
	api := messagesapi.Serve(scenario, onRequest)
	t.Cleanup(api.Close)
	s.more = func(home string) []string {
		return append(claude.Environment(home, api.URL), "CLAUDE_SUPERVISE_CLAUDE="+program)
	}
	return s, api
}

// plays hands in a run that plays a scenario, and whose questions are held.
func (s *site) plays(scenario examples.Scenario, flags ...string) string {
	s.t.Helper()
	args := append([]string{"run", "--hold", "forever"}, flags...)
	if scenario.Task != nil {
		args = append(args, "-f", s.file("task.yaml", scenario.Task))
	} else {
		args = append(args, scenario.Prompt)
	}
	return s.must(append(append(args, "--"), scenario.ClaudeFlags...)...)
}

// endsInPart waits for the end of a run that has moved. The scripted model writes to the folder that it began in, for it
// does not move with the run: its report lacks a file.
func (s *site) endsInPart(run string) {
	s.t.Helper()
	s.ends(run, 3)
}
