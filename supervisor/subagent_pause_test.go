package supervisor

import (
	"fmt"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/listen"
)

const pause = "I need a decision.\n\nAWAITING_USER_INPUT\n{\"questions\": [{\"id\": \"q1\", \"question\": \"Which?\"}]}\n"

// A subagent has ended with the result of its call, or once it lives in the background no more.
func TestAPauseOfASubagentIsReadWhenItEnds(t *testing.T) {
	lives := procs.Background{Tasks: []procs.Task{{ID: "sub1", Subagent: true}}}
	for name, c := range map[string]struct {
		result string
		then   []procs.Message
		want   int
	}{
		"in the foreground":                {"[Subagent hand-back]", nil, 1},
		"in the background, at work":       {"Async agent launched successfully.", []procs.Message{lives}, 0},
		"in the background, when it ended": {"Async agent launched successfully.", []procs.Message{lives, procs.Background{}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := listen.NewSignalReader(Root, nil, nil)
			talk, found := listen.Conversation{}, []signals.Signal(nil)
			for _, m := range append([]procs.Message{
				procs.ToolUse{ID: "t1", Name: "Agent", Input: []byte(`{"description":"settle it","subagent_type":"Plan"}`)},
				procs.Text{ID: "m1", Parent: "t1", Agent: "sub1", Text: pause},
				procs.ToolResult{ToolUse: "t1", Text: c.result}}, c.then...) {
				talk.Read(m)
				found = append(found, r.Read(m)...)
			}
			if len(found) != c.want {
				t.Fatalf("read is %+v", found)
			}
			for _, sig := range found {
				if by := talk.From(sig); by == nil || by.ID != "sub1" || by.Task != "settle it" || by.Type != "Plan" {
					t.Errorf("it is said by %+v", by)
				}
			}
		})
	}
}

// One that an earlier process has started can be reached all the same: its lines name it.
func TestASubagentThatWasRevivedIsKnownByItsID(t *testing.T) {
	talk := listen.Conversation{}
	talk.Read(procs.Text{ID: "m1", Parent: "t1", Agent: "sub1", Text: pause})
	if by := talk.From(signals.Signal{By: "t1"}); by == nil || by.ID != "sub1" || by.ToolUse != "t1" {
		t.Errorf("it is said by %+v", by)
	}
}

// The answer goes to the main conversation, which is told for whom it is; in the form in which it was asked.
func TestAnAnswerToWhatASubagentSaysGoesToItByTheAgent(t *testing.T) {
	by := &checkpoints.Subagent{ID: "sub1", ToolUse: "t1", Task: "settle it", Prompt: "Settle which.", Depth: 1}
	for name, c := range map[string]struct {
		version string
		lost    bool // its process has ended, and so has the conversation
		says    string
	}{
		"in the same process": {"2.1.332", false, `with to "sub1" and the answer above`},
		"of an old release":   {"2.1.7", false, "Start a subagent with its task again"},
		"in a new one":        {"2.1.332", true, "Its task was:\nSettle which."},
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, func(cfg *conf.Config) {
				if c.lost {
					cfg.Relaunch = conf.Fresh
				}
			})
			s.Do(TurnBegun{Agent: Root, Launch: 1, Version: c.version})
			asked := s.clarification("q-1", "Which?")
			asked.From, asked.Signal.Inside, asked.Signal.By = by, true, "t1"
			s.Do(asked)
			s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g1"})
			if block := s.State.Launch(Root).Gate.Block; block != "" {
				t.Errorf("the agent is sent on, though its subagent asks: %s", block)
			}
			s.turnEnds()
			s.is(checkpoints.Waiting)
			if q := s.State.Questions.Get("q-1"); q.From == nil || q.From.ID != "sub1" {
				t.Errorf("it is asked by %+v", q.From)
			}
			if c.lost {
				s.Do(HoldEnded{Agent: Root, Launch: 1})
				s.Ends()
				s.Rests(true)
			}
			s.Answers("q-1", "SQLite")
			if c.lost {
				s.Do(Started{Agent: Root, Launch: 2, PID: 9, StartTicks: 9})
			}
			read := s.Delivers(s.State.Launch(Root).N).Text
			for _, want := range []string{"Your subagent sub1 (settle it) had asked", "A1: SQLite", c.says} {
				if !strings.Contains(read, want) {
					t.Errorf("without %q the agent reads:\n%s", want, read)
				}
			}
		})
	}
}

func TestTheGateNamesAPauseThatNobodyWasAsked(t *testing.T) {
	s := Begin(t, nil)
	s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g1", Unheard: []string{"sub1 (settle it)"}})
	block, want := s.State.Launch(Root).Gate.Block, fmt.Sprintf("Your subagent %s ended with a question", "sub1 (settle it)")
	if !strings.Contains(block, want) || !strings.Contains(block, "on its behalf") {
		t.Errorf("the agent is told: %s", block)
	}
}
