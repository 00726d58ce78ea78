package supervisor

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/listen"
)

// calls lets the agent, or a subagent of it, call a tool of ours. ids are for the questions.
func (s *Story) calls(request, tool, input string, from *checkpoints.Subagent, ids ...string) {
	s.T.Helper()
	sig, _ := signals.Served(tool, []byte(input))
	n := s.State.Launch(Root).N
	s.Do(Called{
		Agent: Root, Launch: n, Named: Named{Signal: sig, Naming: Naming{IDs: ids}},
		Call: checkpoints.ToolCall{
			Launch: n, Request: request, ToolUse: "toolu_" + request, Name: tool, Input: []byte(input), Served: true, From: from,
		},
	})
}

// reply returns what a call is told at once.
func (s *Story) reply(request string) checkpoints.Reply {
	s.T.Helper()
	s.plans("reply " + request)
	for _, r := range s.State.Launch(Root).Replies {
		if r.Request == request {
			s.Do(Replied{Agent: Root, Launch: s.State.Launch(Root).N, Request: request})
			s.plansNot("reply " + request)
			return r
		}
	}
	s.T.Fatalf("no reply to %s", request)
	return checkpoints.Reply{}
}

// returned returns the text that a call which waited for a person returns.
func (s *Story) returned() string {
	s.T.Helper()
	d := s.Delivers(s.State.Launch(Root).N)
	if d.Tool == nil {
		s.T.Fatalf("the answer is said by a prompt:\n%s", d.Text)
	}
	var r ask.Reply
	if err := json.Unmarshal(d.Reply, &r); err != nil {
		s.T.Fatal(err)
	}
	s.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	return r.Message
}

func TestWhatNeedsNobodyIsRepliedAtOnce(t *testing.T) {
	sub := &checkpoints.Subagent{ID: "sub1", ToolUse: "toolu_agent", Task: "look", Depth: 1}
	for name, c := range map[string]struct {
		tool, input string
		from        *checkpoints.Subagent
		refused     bool
		says        string
	}{
		"a report": {"report_completion", `{"status":"success","summary":"done"}`, nil, false, "recorded"},
		"a report of a subagent": {"report_completion", `{"status":"success","summary":"done"}`,
			sub, false, Root + " reports on the whole task itself"},
		"a delegation to a type that is unknown": {"delegate_work",
			`{"new_task_description":"Write tests","subagent_type":"tester"}`, nil, true, "Known are: Explore, general-purpose."},
		"a look at delegated work":   {"check_work", `{}`, nil, false, "nothing"},
		"progress":                   {"report_progress", `{"percent":40,"step":"migrating"}`, nil, false, "Noted"},
		"a message to the person":    {"send_message", `{"to":"user","text":"halfway"}`, nil, false, "The person sees it"},
		"a message to nobody":        {"send_message", `{"to":"a-nobody","text":"hello"}`, nil, true, Root},
		"a message to itself":        {"send_message", fmt.Sprintf(`{"to":%q,"text":"hello"}`, Root), nil, true, "you"},
		"a call that cannot be read": {"ask_user", `[]`, nil, true, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			s.Do(TurnBegun{Agent: Root, Launch: 1, Types: []string{"Explore", "general-purpose"}})
			s.calls("r1", c.tool, c.input, c.from)
			s.is(checkpoints.Running)
			if r := s.reply("r1"); r.IsError != c.refused || !strings.Contains(r.Text, c.says) {
				t.Errorf("the reply is %+v", r)
			}
			if reported := s.State.Agents.Get(Root).Report != nil; reported != (c.tool == "report_completion" && c.from == nil) {
				t.Errorf("reported: %v", reported)
			}
		})
	}
}

func TestASubagentDelegatesInTheAgentsName(t *testing.T) {
	s := Begin(t, nil)
	sub := &checkpoints.Subagent{ID: "sub1", ToolUse: "toolu_1", Depth: 1}
	sig, _ := signals.Served("delegate_work", []byte(`{"new_task_description":"Write tests"}`))
	s.Do(Called{Agent: Root, Launch: 1, Named: Named{Signal: sig, Naming: Naming{IDs: []string{"q-1"},
		Child: "a-childchildch"}},
		Call: checkpoints.ToolCall{Launch: 1, Request: "r1", ToolUse: "toolu_r1", Name: "delegate_work", Served: true,
			Input: []byte(`{"new_task_description":"Write tests"}`), From: sub}})
	s.Answers("q-1", "approve")
	d := s.Delivers(1)
	if c := s.State.Agents.Get("a-childchildch"); c == nil || c.Parent != Root {
		t.Fatalf("the child is %+v", c)
	}
	if reply := string(d.Reply); !strings.Contains(reply, "in whose name you asked") {
		t.Errorf("the subagent reads %s", reply)
	}
}

func TestAProcessIsHeldFromTheMomentInWhichAllOfItWaits(t *testing.T) {
	sub := &checkpoints.Subagent{ID: "sub1", ToolUse: "toolu_agent", Task: "look", Depth: 1}
	other := checkpoints.Task{ID: "sub2", Name: "subagent: test", Subagent: true}
	s := Begin(t, nil)
	s.Do(BackgroundChanged{Agent: Root, Launch: 1,
		Tasks: []checkpoints.Task{{ID: "sub1", Name: "subagent: look", Subagent: true}, other}})
	s.calls("r1", "ask_user", `{"questions":[{"text":"Which?"}]}`, sub, "q-1")
	s.turnEnds()
	s.is(checkpoints.Waiting)
	s.plansNot("hold") // the other subagent works
	s.calls("r2", "ask_user", `{"questions":[{"text":"And which?"}]}`,
		&checkpoints.Subagent{ID: "sub2", ToolUse: "toolu_2", Depth: 1}, "q-2")
	s.plans("hold")
	s.Do(BusyElsewhere{Agent: Root, Launch: 1, AtWork: true})
	s.plansNot("hold")
	s.Do(BusyElsewhere{Agent: Root, Launch: 1})
	s.plans("hold")
	if got := s.State.Agents.Get(Root).HoldUntil.Sub(s.At); got != 8*time.Minute { // two texts are to be written
		t.Errorf("it is held for %v more", got)
	}
	s.Do(HoldEnded{Agent: Root, Launch: 1})
	s.plans("end")
}

// The call of a stop waits on while the person is asked about the command that its answer wants.
func TestACallThatWaitsForACommandIsNoWorkBesideIt(t *testing.T) {
	sub := &checkpoints.Subagent{ID: "sub1", ToolUse: "toolu_agent", Task: "look", Depth: 1}
	s := Begin(t, nil)
	s.Do(BackgroundChanged{Agent: Root, Launch: 1,
		Tasks: []checkpoints.Task{{ID: "sub1", Name: "subagent: look", Subagent: true}}})
	s.turnEnds()
	s.calls("r1", "stop_work", `{"blocker_type":"missing_info","details":"No schema."}`, sub, "q-1")
	s.Answers("q-1", "run: make schema")
	s.Do(Prepared{Question: "q-1", Naming: Naming{IDs: []string{"q-2"}}})
	s.is(checkpoints.Waiting)
	s.plans("hold") // and is parked after it
	c := &listen.Listener{Agent: Root, Launch: 1}
	c.Talk.Read(procs.ToolUse{ID: "toolu_r1", Parent: "toolu_agent", Name: "stop_work"})
	if b, changed := CheckBusyElsewhere(s.State, c); b.AtWork || changed {
		t.Errorf("its own call counts as work: %+v", b)
	}
	c.Talk.Read(procs.ToolUse{ID: "toolu_sh", Parent: "toolu_agent", Name: "Bash"})
	if b, _ := CheckBusyElsewhere(s.State, c); !b.AtWork {
		t.Error("its command beside the call is not seen: it is parked, and loses it")
	}
}

// A subagent that waits is not asked to wait less because the process is held for the main conversation, too.
func TestAnAnswerInACallLeavesTheOthersWaiting(t *testing.T) {
	s := Begin(t, nil)
	for i := range 20 {
		from := &checkpoints.Subagent{ID: fmt.Sprint("sub", i), ToolUse: fmt.Sprint("toolu_sub", i), Depth: 1}
		s.calls(fmt.Sprint("r", i), "ask_user", `{"questions":[{"text":"Which?"}]}`, from, fmt.Sprint("q-", i))
	}
	for i := 19; i >= 0; i-- {
		s.Answers(fmt.Sprint("q-", i), fmt.Sprint("answer ", i))
		if got := s.returned(); got != fmt.Sprint("answer ", i) {
			t.Fatalf("call %d returns %q", i, got)
		}
		if open := len(s.State.Open(Root)); open != i {
			t.Fatalf("%d questions are open", open)
		}
	}
	s.is(checkpoints.Running)
}

// A line that is too long to be read, or a subagent that was ended just then: the result of an answered call may never
// be seen.
func TestAnAnswerWhoseReceiptIsMissingHoldsNoEndUp(t *testing.T) {
	s := Begin(t, nil)
	s.Do(Received{UUID: s.State.FindDeliveries(Root, (*checkpoints.Delivery).Undelivered)[0].UUID,
		State: checkpoints.DeliveryDelivered})
	s.calls("r1", "ask_user", `{"questions":[{"text":"Which?"}]}`, nil, "q-1")
	s.Answers("q-1", "this one")
	answer := s.Delivers(1)
	s.calls("r2", "report_completion", `{"status":"success","summary":"done"}`, nil)
	s.reply("r2")
	s.Do(TurnEnded{Agent: Root, Launch: 1})
	s.plans("check")
	s.Do(Checked{Agent: Root})
	s.plans("end")
	s.Do(Ended{Agent: Root, Launch: 1, Outcome: "exit 0"})
	s.plans("confirm " + answer.UUID)
	s.Do(Confirmed{UUID: answer.UUID, Found: true})
	s.is(checkpoints.Succeeded)
}
