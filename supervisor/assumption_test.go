package supervisor

import (
	"fmt"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
)

const whichDatabase = `{"wait":false,"assumption":"SQLite","affects":["schema.sql","/etc/passwd","../other"],` +
	`"questions":[{"text":"Which database?","options":[{"label":"PostgreSQL"},{"label":"SQLite"}]}]}`

// assumes is an agent that has asked q-1, and works on under its assumption.
func assumes(t *testing.T, change func(*conf.Config)) *Story {
	t.Helper()
	s := Begin(t, change)
	s.Do(TurnBegun{Agent: Root, Launch: 1, Version: "2.1.332"})
	s.calls("r1", "ask_user", whichDatabase, nil, "q-1")
	return s
}

// looks plays the look for what was made under the assumption of q-1.
func (s *Story) looks(made ...string) {
	s.T.Helper()
	s.plans("prepare q-1")
	s.plansNot("deliver")
	s.Do(Prepared{Question: "q-1", Made: made, Unknown: "Deleted files are not listed."})
	s.plansNot("prepare")
}

func TestAnAnswerInAdvanceIsTheResultOfTheCall(t *testing.T) {
	s := Begin(t, nil)
	sig, _ := signals.Served("ask_user", []byte(whichDatabase))
	s.Do(Called{Agent: Root, Launch: 1,
		Named: Named{Signal: sig, Naming: Naming{IDs: []string{"q-1"}, Presets: []conf.Preset{{Key: "Q1", Value: "PostgreSQL"}}}},
		Call: checkpoints.ToolCall{Launch: 1, Request: "r1", ToolUse: "toolu_r1", Name: "ask_user", Served: true,
			Input: []byte(whichDatabase)}})
	if got := s.returned(); !strings.Contains(got, "A1: PostgreSQL\n\nAssume nothing") {
		t.Errorf("the call returns %q", got)
	}
}

func TestAnotherAnswerKeepsItsPlaceBesideThatToAnAssumption(t *testing.T) {
	s := assumes(t, func(c *conf.Config) { c.Hold = 0 })
	s.reply("r1")
	sig, _ := signals.Served("ask_user", []byte(`{"questions":[{"text":"When?"}]}`))
	s.Do(Called{Agent: Root, Launch: 1, Named: Named{Signal: sig, Naming: Naming{IDs: []string{"q-2"}}},
		Call: checkpoints.ToolCall{Launch: 1, Request: "r2", ToolUse: "t2", Name: "ask_user", Served: true, Line: "l2",
			Input: []byte("{}")}})
	s.Ends()
	s.Rests(true)
	s.is(checkpoints.Parked)
	s.Answers("q-1", "SQLite")
	s.plansNot("launch") // the other blocks
	s.Answers("q-2", "now")
	s.Do(MomentKept{Question: "q-2", Moment: "moment-q-2"})
	s.plans("launch " + Root + " 2")
	s.Do(Started{Agent: Root, Launch: 2, PID: 102, At: "l2"})
	if d := s.Delivers(2); len(d.Results) != 1 || d.Results[0].Text != "now" {
		t.Fatalf("it begins with %+v", d)
	}
	s.Do(TurnBegun{Agent: Root, Launch: 2, Version: "2.1.332"})
	if d := s.Delivers(2); !d.Now || !strings.Contains(d.Text, "This confirms") {
		t.Errorf("the agent reads:\n%s", d.Text)
	}
}

func TestManyAgentsThatAskTheSameCanHaveOneAnswer(t *testing.T) {
	s := assumes(t, nil)
	for i := range 9 {
		s.calls(fmt.Sprintf("r2%d", i), "ask_user", strings.Replace(whichDatabase, "etc", fmt.Sprint("etc", i), 1), nil,
			fmt.Sprintf("q-1%d", i))
	}
	s.Notes(InboxEntry{Kind: EntryAnswer, Question: "q-1", Value: "SQLite", AllLike: true})
	if open := s.State.Assuming(Root); len(open) > 0 {
		t.Errorf("%d of 10 stay open", len(open))
	}
	s.reply("r1")
	if d := s.Delivers(1); strings.Count(d.Text, "## CLARIFICATION RESPONSE") != 10 { // all in one message
		t.Errorf("the agent reads:\n%s", d.Text)
	}
}
