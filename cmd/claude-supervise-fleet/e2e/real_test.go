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
	program := claude.Program(t)
	s := newSite(t)
	scenario, err := examples.Load("ask")
	if err != nil {
		t.Fatal(err)
	}
	api := messagesapi.Serve(scenario, nil)
	t.Cleanup(api.Close)
	s.more = func(home string) []string {
		return append(claude.Environment(home, api.URL), "CLAUDE_SUPERVISE_CLAUDE="+program)
	}
	one := s.worker("one")
	args := []string{"run", "--lease", "3s", "--hold", "forever"}
	if scenario.Task != nil {
		args = append(args, "-f", s.file("task.yaml", scenario.Task))
	} else {
		args = append(args, scenario.Prompt)
	}
	run := s.must(append(append(args, "--"), scenario.ClaudeFlags...)...)
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

// endsInPart waits for the end of a run that has moved. The scripted model writes to the folder that it began in, for it
// does not move with the run: its report lacks a file.
func (s *site) endsInPart(run string) {
	s.t.Helper()
	for range 3 { // it may be parked on its way
		code, out, said := s.says("wait", run, "--timeout", patience.String())
		if code == 3 {
			return
		}
		if code != 75 {
			s.t.Fatalf("it ends with %d: %s%s", code, out, said)
		}
	}
}
