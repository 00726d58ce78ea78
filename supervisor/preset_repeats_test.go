package supervisor

import (
	"fmt"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/prompts"
)

// goesRound plays turns, in each of which the agent asks the same, and gives what it has read in the last of them.
func (s *Story) goesRound(times int, ask func(id string)) (read string) {
	s.T.Helper()
	for i := range times {
		ask(fmt.Sprintf("q-%d", i))
		s.turnEnds()
		d := s.Delivers(1)
		s.Do(TurnBegun{Agent: Root, Launch: 1, Types: s.State.Launch(Root).AgentTypes})
		s.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
		read = d.Text
	}
	return read
}

func TestAnAgentThatDoesNotHeedItsPresetIsLeftToAPerson(t *testing.T) {
	s := Begin(t, nil)
	ask := func(id string) {
		e := s.clarification(id, "Which database?")
		e.Named.Presets = []conf.Preset{{Key: "database", Value: "SQLite"}}
		s.Do(e)
	}
	if read := s.goesRound(maxRepeats, ask); !strings.Contains(read, "A1: SQLite") {
		t.Fatalf("the agent reads\n%s", read)
	}
	ask("q-last")
	if q := s.State.Questions.Get("q-last"); q.State != checkpoints.QuestionOpen {
		t.Fatalf("the question is %s, by %s", q.State, q.AnsweredBy)
	}
	s.turnEnds()
	s.is(checkpoints.Waiting)
	s.Answers("q-last", "PostgreSQL")
	if read := s.Delivers(1).Text; !strings.Contains(read, "A1: PostgreSQL") {
		t.Errorf("of the person's answer the agent reads\n%s", read)
	}
}

func TestAnAgentThatAsksForTheSameDeniedDelegationForEverFails(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Delegate = conf.Delegates{conf.DenyDelegations} })
	ask := func(id string) {
		s.Do(SignalRead{Agent: Root, Launch: 1, Named: Named{Signal: signals.Signal{
			Kind: signals.Delegate, AgentID: Root,
			Fields: []signals.Field{{Name: "new_task_description", Value: "Refactor auth"}},
		}, Naming: Naming{IDs: []string{id}, Child: "a-child0000000"}}})
	}
	if read := s.goesRound(maxRepeats, ask); !strings.Contains(read, "## DELEGATION DENIED") {
		t.Fatalf("the agent reads\n%s", read)
	}
	s.is(checkpoints.Running)
	ask("q-last")
	s.turnEnds()
	s.Ends()
	s.Rests(true)
	s.is(checkpoints.Failed)
	if why := s.State.Agents.Get(Root).Reason; !strings.Contains(why, "the same delegation again and again") {
		t.Errorf("it has failed because it %s", why)
	}
}

func TestAnAgentThatAsksForTheSameUnknownTypeForEverFails(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Delegate = conf.Delegates{conf.AutoDelegations} })
	ask := func(id string) {
		s.Do(SignalRead{Agent: Root, Launch: 1, Named: Named{Signal: signals.Signal{
			Kind: signals.Delegate, AgentID: Root, Fields: []signals.Field{
				{Name: "new_task_description", Value: "Write tests"}, {Name: "subagent_type", Value: "tester"},
			},
		}, Naming: Naming{IDs: []string{id}, Child: "a-child0000000"}}})
	}
	s.Do(TurnBegun{Agent: Root, Launch: 1, Types: []string{"Explore", "general-purpose"}})
	read := s.goesRound(maxRepeats, ask)
	if !strings.Contains(read, "Known are: Explore, general-purpose.") || !strings.Contains(read, prompts.AskForAnother) {
		t.Fatalf("the agent reads\n%s", read)
	}
	s.is(checkpoints.Running)
	ask("q-last")
	s.turnEnds()
	s.Ends()
	s.Rests(true)
	s.is(checkpoints.Failed)
	if s.State.Agents.Len() != 1 {
		t.Errorf("there are %d agents", s.State.Agents.Len())
	}
}
