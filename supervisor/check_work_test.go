package supervisor

import (
	"fmt"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
)

// checksUp tells of a root that waits in a call of check_work for its child.
func checksUp(t *testing.T, change func(*conf.Config), from *checkpoints.Subagent) *Story {
	s := delegatedWork(t, change)
	s.calls("r1", checkWork, fmt.Sprintf(`{"agent_id":%q,"block":true,"timeout":5000}`, childOne), from)
	s.plans("timeout r1")
	s.plansNot("reply r1")
	s.is(checkpoints.Running)
	return s
}

// saysEnd counts the ends of the child that wait to be said to the root.
func (s *Story) saysEnd() (n int) {
	for _, say := range s.State.Agents.Get(Root).Outbox {
		if say.From == childOne {
			n++
		}
	}
	return n
}

func TestWhatASubagentReadsByACheckItsAgentIsToldAllTheSame(t *testing.T) {
	s := checksUp(t, nil, &checkpoints.Subagent{ID: "sub1", ToolUse: "toolu_agent", Task: "look", Depth: 1})
	s.childReports("success")
	if r := s.reply("r1"); !strings.Contains(r.Text, "## DELEGATED WORK ENDED") {
		t.Errorf("the call returns:\n%s", r.Text)
	}
	if n := s.saysEnd(); n != 1 {
		t.Errorf("the agent itself is told it %d times", n)
	}
}

// Should the client be killed before it has told it, a prompt does.
func TestACheckLeavesTheEndThatAClientTellsToIt(t *testing.T) {
	for name, gone := range map[string]bool{"it tells it": false, "it is killed": true} {
		t.Run(name, func(t *testing.T) {
			s := callsFor(t, conf.AutoDelegations)
			id := s.nests(Root, "count them")
			s.calls("r1", checkWork, fmt.Sprintf(`{"agent_id":%q,"block":true,"timeout":5000}`, id), nil)
			s.works(id)
			r := s.reply("r1")
			if !strings.Contains(r.Text, id) || strings.Contains(r.Text, "## DELEGATED WORK ENDED") {
				t.Errorf("the call returns:\n%s", r.Text)
			}
			s.Do(Replied{Agent: Root, Launch: 1, Request: "r1"})
			if !gone {
				s.Notes(InboxEntry{Kind: EntryNestedSeen, Agent: id})
			}
			s.reports("success", "")
			s.turnEnds()
			told := s.State.FindDeliveries(Root,
				func(d *Delivery) bool { return strings.Contains(d.Text, "## DELEGATED WORK ENDED") })
			if want := map[bool]int{true: 1}[gone]; len(told) != want {
				t.Errorf("a prompt tells it %d times, not %d", len(told), want)
			}
		})
	}
}
