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
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/questions"
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

func TestACallWaitsForThePersonAndReturnsTheAnswer(t *testing.T) {
	s := Begin(t, nil)
	s.calls("r1", "ask_user",
		`{"questions":[{"text":"Which database?","options":[{"label":"PostgreSQL"},{"label":"SQLite"}]}]}`, nil, "q-1")
	s.is(checkpoints.Waiting)
	s.plans("hold")
	if s.try(Called{Agent: Root, Launch: 1,
		Call: checkpoints.ToolCall{Launch: 1, Request: "r1", Name: "ask_user", Input: raw("x"), Served: true}}) {
		t.Error("the same call opens its question again")
	}
	s.Answers("q-1", "SQLite")
	if got := s.returned(); got != "SQLite" {
		t.Errorf("the call returns %q", got)
	}
	if q := s.State.Questions.Get("q-1"); q.State != checkpoints.QuestionDelivered {
		t.Errorf("the question is %s", q.State)
	}
	s.is(checkpoints.Running)
}

func TestAStopByToolWaitsForWhatThePersonDecides(t *testing.T) {
	s := Begin(t, nil)
	s.calls("r1", "stop_work",
		`{"blocker_type":"external_dependency","details":"npm is missing","resume_requirements":"run: npm install"}`,
		nil, "q-1")
	s.is(checkpoints.Waiting)
	s.Answers("q-1", questions.RunCommand+": npm install")
	s.Do(Prepared{Question: "q-1", Naming: Naming{IDs: []string{"q-2"}}})
	s.is(checkpoints.Waiting) // in the same call, for the leave to run it
	s.Answers("q-2", questions.RunIt)
	s.plans("run q-2")
	s.Do(RanCommand{Question: "q-2",
		Ran: checkpoints.Ran{Epoch: 1, Done: true, Exit: "exit 0", Output: "added 3 packages"}})
	if got := s.returned(); !strings.Contains(got, "## BLOCKER RESOLVED") || !strings.Contains(got, "added 3 packages") {
		t.Errorf("the call returns:\n%s", got)
	}
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

func TestAReportByToolEndsTheWork(t *testing.T) {
	s := Begin(t, nil)
	s.calls("r1", "report_completion", `{"status":"success","summary":"Chose it.","deliverables":["schema.sql"]}`, nil)
	s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g1"})
	if block := s.State.Launch(Root).Gate.Block; block != "" {
		t.Errorf("the gate sends a reported agent on: %s", block)
	}
	s.Do(GateReplied{Agent: Root, Launch: 1, Request: "g1"})
	s.reply("r1")
	s.turnEnds()
	s.Do(Checked{Agent: Root})
	s.Ends()
	s.is(checkpoints.Succeeded)
}

func TestProgressIsSaidAsWhatTheAgentDoes(t *testing.T) {
	s := Begin(t, nil)
	s.calls("r1", "report_progress", `{"percent":40,"step":"migrating","eta":"10 min"}`, nil)
	if got, want := s.State.Agents.Get(Root).Reason, "at work, 40 %: migrating (ready in 10 min)"; got != want {
		t.Errorf("the reason is %q, want %q", got, want)
	}
}

func TestACallThatIsWithdrawnIsRepliedNoMore(t *testing.T) {
	s := Begin(t, nil)
	s.calls("r1", "check_work", `{}`, nil)
	s.Do(AskCancelled{Agent: Root, Launch: 1, Request: "r1"})
	s.plansNot("reply")
	s.calls("r2", "ask_user", `{"questions":[{"text":"Which?"}]}`, nil, "q-1")
	s.Do(AskCancelled{Agent: Root, Launch: 1, Request: "r2"})
	if q := s.State.Questions.Get("q-1"); q.State != checkpoints.QuestionWithdrawn {
		t.Errorf("the question is %s", q.State)
	}
	s.is(checkpoints.Running)
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

// A day of waiting is a matter of records: no timer of the wait survives its supervisor, and nothing ends by it.
func TestAnAnswerAfterADayReturnsInTheSameCall(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Hold = conf.Forever })
	s.calls("r1", "ask_user", `{"questions":[{"text":"Which?"}]}`, nil, "q-1")
	s.plansNot("hold")
	s.At = s.At.Add(24 * time.Hour)
	s.Answers("q-1", "this one")
	if got := s.returned(); got != "this one" {
		t.Errorf("the call returns %q", got)
	}
}

func TestAServerInTheBackgroundKeepsNoProcessWaitingForEver(t *testing.T) {
	s := Begin(t, nil)
	s.Do(BackgroundChanged{Agent: Root, Launch: 1, Tasks: []checkpoints.Task{{ID: "b1", Name: "shell: npm run dev"}}})
	s.calls("r1", "ask_user", `{"questions":[{"text":"Which?"}]}`, nil, "q-1")
	s.is(checkpoints.Waiting)
	s.plans("hold")
}

// The CLI begins a turn by itself for background work that ends too late to be told of in the turn under way.
func TestWorkThatEndsWithItsTurnIsWaitedFor(t *testing.T) {
	tasks := []checkpoints.Task{{ID: "sub1", Name: "subagent: look", Subagent: true}}
	for name, ends := range map[string]func(*Story){
		"before the gate": func(s *Story) {
			s.Do(BackgroundChanged{Agent: Root, Launch: 1})
			s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g1", Report: true, EndUnreported: true})
		},
		"after the gate": func(s *Story) {
			s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g1", Background: tasks})
			s.Do(BackgroundChanged{Agent: Root, Launch: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			s.Do(BackgroundChanged{Agent: Root, Launch: 1, Tasks: tasks})
			ends(s)
			s.turnEnds()
			s.is(checkpoints.Blocked)
			s.plansNot("end")
			s.Do(TurnBegun{Agent: Root, Launch: 1})
			s.turnEnds()
			s.plans("end")
		})
	}
}

// A line that is too long to be read, or a subagent that was ended just then: the result of an answered call may never
// be seen.
func TestAnAnswerWhoseReceiptIsMissingHoldsNoEndUp(t *testing.T) {
	s := Begin(t, nil)
	s.Do(Received{UUID: s.State.FindDeliveries(Root, undelivered)[0].UUID, State: checkpoints.DeliveryDelivered})
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
