package supervisor

import (
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/table"
)

// These tables are the specification of an agent's status: of all that may be so of an agent at one time, what stands
// first in its table says what it does. Each is held against all that stand below it.

// A circumstance is one thing that is so of an agent, and the status that it has by that.
type circumstance struct {
	name   string
	set    func(*situation)
	status Status
	reason string
}

// A situation is an agent with all that its status goes by.
type situation struct {
	State
	agent  *Agent
	launch *Launch // nil: it was never launched
}

const (
	childOfIt = "a-child"
	beforeIt  = "a-before"
)

var itIs = time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)

// situated makes an agent below the root of a run, of which nothing is so yet.
func situated(launched bool) *situation {
	began := itIs.Add(-time.Hour)
	s := &situation{
		State: State{Records: records.Records{Run: &Run{ID: RunID, Cwd: "/work", Root: Root, StartedAt: began, Epoch: 1}},
			Config: conf.Config{Hold: conf.DefaultHold, MaxHeld: -1, Relaunch: conf.Resume, Policy: conf.Ask, MaxParallel: 4}},
		agent: &Agent{ID: childOne, Run: RunID, Parent: Root, Depth: 1, Seq: 1, Task: "Count.", Status: checkpoints.Queued,
			Reason: "as before", Delegated: &checkpoints.Delegated{}},
	}
	s.Agents = table.Of(map[string]*Agent{Root: {ID: Root, Run: RunID, Status: checkpoints.Running}, childOne: s.agent})
	if launched {
		s.agent.Launches = 1
		s.launch = &Launch{Agent: childOne, N: 1, Begun: true, StartedAt: &began, Turns: 1}
		s.Launches.Put(childOne, []*Launch{s.launch})
	}
	return s
}

func (s *situation) other(id, parent string, status Status) {
	s.Agents.Put(id, &Agent{ID: id, Run: RunID, Parent: parent, Depth: 2, Seq: s.Agents.Len(), Status: status,
		Delegated: &checkpoints.Delegated{}})
}

func (s *situation) asks(id string, tool *checkpoints.ToolCall) *Question {
	q := &Question{ID: id, Run: RunID, Agent: childOne, Group: id, State: checkpoints.QuestionOpen, AskedAt: itIs,
		Kind: "clarification", Wording: checkpoints.Wording{Text: "Which?"}, Origin: checkpoints.Origin{Tool: tool}}
	s.Questions.Put(id, q)
	return q
}

func (s *situation) said(uuid string, state checkpoints.DeliveryState) {
	s.Deliveries.Put(uuid, &Delivery{UUID: uuid, Agent: childOne, Key: uuid, State: state, Launch: 1, Text: "Go on."})
}

func (s *situation) exceeds() {
	s.agent.Budget, s.agent.InputTokens, s.agent.GoOn = &conf.Budget{Tokens: 10}, 20, true
}

func (s *situation) answered() {
	q := s.asks("q-answered", nil)
	at := itIs
	q.State, q.Response = checkpoints.QuestionAnswered, checkpoints.Response{Answer: "this", AnsweredAt: &at}
	q.Kept = &checkpoints.Kept{Copy: childOne + ".1.kept"}
}

// Of all agents.
var (
	stopped = circumstance{"a person stops it", func(s *situation) { s.agent.StopWanted = "a person" },
		checkpoints.Stopped, "stopped by a person"}
	interruptedRun = circumstance{"the supervisor leaves", func(s *situation) { s.Run.Leaving = records.LeavingInterrupted },
		checkpoints.Interrupted, "exit 0"}
	asksAPerson = circumstance{"a question is open", func(s *situation) { s.asks("q-open", nil) },
		checkpoints.Parked, "asks: Which?"}
	assumesSomething = circumstance{"something is assumed", func(s *situation) {
		s.asks("q-assumed", nil).Assumed = &checkpoints.Assumed{Text: "this"}
		s.agent.GoOn = false
	}, checkpoints.Parked, "asks: Which?"}
	madeReady = circumstance{"an answer is made ready", (*situation).answered,
		checkpoints.Queued, "is started again with your answer"}
	waitingForChildren = circumstance{"it waits for children", func(s *situation) {
		s.other(childOfIt, childOne, checkpoints.Running)
		s.agent.GoOn = false
	}, checkpoints.Blocked, "waits for " + childOfIt}
	exhausted = circumstance{"its budget is used up", (*situation).exceeds,
		checkpoints.OverBudget, "the token budget of " + childOne + " is used up: 20 of 10"}
	resting = circumstance{"its account has met a limit", func(s *situation) {
		until := itIs.Add(time.Hour)
		s.agent.NotBefore, s.agent.LimitedBy = &until, "usage limit"
	}, checkpoints.Limited, "usage limit; resumes at 2026-01-11T10:00:00Z"}
	failed = circumstance{"it has failed", func(s *situation) {
		s.agent.Fault, s.agent.FaultReason = "silent", "was silent"
	}, checkpoints.Failed, "was silent"}
)

// as returns the row with another status, for another table.
func (c circumstance) as(status Status, reason string) circumstance {
	c.status, c.reason = status, reason
	return c
}

func TestTheStatusOfAnAgentThatWasNeverLaunchedGoesByTheFirstOfThese(t *testing.T) {
	rows := []circumstance{
		{"its folder is made ready", func(s *situation) { s.agent.Placing = true },
			checkpoints.Starting, "its folder is made ready"},
		stopped,
		failed,
		{"what it comes after has failed", func(s *situation) {
			s.other("a-failed", Root, checkpoints.Failed)
			s.agent.Delegated.After = append(s.agent.Delegated.After, "a-failed")
		}, checkpoints.Failed, "a-failed, which it comes after, has not succeeded: failed"},
		{"it comes after another", func(s *situation) {
			s.other(beforeIt, Root, checkpoints.Running)
			s.agent.Delegated.After = append(s.agent.Delegated.After, beforeIt)
		}, checkpoints.Blocked, "comes after " + beforeIt},
		exhausted,
		interruptedRun.as(checkpoints.Queued, "not yet started"),
		resting,
		{"it waits for a slot", func(*situation) {}, checkpoints.Queued, "waits for a slot: 4 processes may be at work"},
	}
	eachBeforeAllBelow(t, rows, func() *situation { return situated(false) }, nil)
}

func TestTheStatusOfAnAgentWithoutAProcessGoesByTheFirstOfThese(t *testing.T) {
	rows := []circumstance{
		{"its folder is made ready", func(s *situation) { s.agent.Placing = true },
			checkpoints.Starting, "its folder is made ready"},
		{"its worktree is looked through", func(s *situation) { s.agent.Tidying = true }, checkpoints.Queued, "as before"},
		{"what was said may not have arrived", func(s *situation) { s.said("sent", checkpoints.DeliverySent) },
			checkpoints.Interrupted, "exit 0"},
		stopped,
		failed,
		asksAPerson,
		{"its last launch is not looked through", func(s *situation) { s.launch.Phase = checkpoints.LaunchEnded },
			checkpoints.Interrupted, "exit 0"},
		madeReady,
		waitingForChildren,
		assumesSomething,
		{"its work is done", func(s *situation) {
			s.agent.Report, s.agent.GoOn = &checkpoints.Report{Status: "success", Checked: true}, false
		}, checkpoints.Succeeded, "reported success"},
		exhausted,
		interruptedRun,
		resting,
		{"a failure passes", func(s *situation) {
			until := itIs.Add(time.Hour)
			s.agent.NotBefore = &until
		}, checkpoints.Queued, "exit 0; tried again at 2026-01-11T10:00:00Z"},
		{"it waits for a slot", func(*situation) {}, checkpoints.Queued, "waits for a slot: 4 processes may be at work"},
	}
	eachBeforeAllBelow(t, rows, func() *situation {
		s := situated(true)
		s.launch.Phase, s.launch.Outcome, s.agent.GoOn = checkpoints.LaunchSurveyed, "exit 0", true
		return s
	}, map[[2]string][2]string{
		// Until the transcript is read it is as it was.
		{"what was said may not have arrived", "a person stops it"}:  {"queued", "as before"},
		{"what was said may not have arrived", "it has failed"}:      {"queued", "as before"},
		{"what was said may not have arrived", "a question is open"}: {"parked", "asks: Which?"},
	})
}

func TestTheStatusOfAnAgentWithAProcessGoesByTheFirstOfThese(t *testing.T) {
	call := &checkpoints.ToolCall{Launch: 1, Request: "r1", ToolUse: "t1", Name: "AskUserQuestion"}
	reported := func(r *checkpoints.Report) func(*situation) {
		return func(s *situation) { s.agent.Report = r }
	}
	rows := []circumstance{
		{"its process ends", func(s *situation) { s.launch.End, s.launch.EndReason = endPark, "the hold ended" },
			checkpoints.Waiting, "is being parked: the hold ended"},
		stopped.as(checkpoints.Stopping, "stopped by a person"),
		interruptedRun.as(checkpoints.Stopping, "the supervisor was interrupted"),
		{"its process starts", func(s *situation) { s.launch.Phase = checkpoints.LaunchIntended },
			checkpoints.Starting, "launch 1"},
		exhausted.as(checkpoints.Running, exhausted.reason+"; its process ends"),
		{"it asks in a call", func(s *situation) {
			s.launch.Phase = checkpoints.LaunchTurn
			s.asks("q-call", call)
		}, checkpoints.Waiting, "asks: Which?"},
		{"it is in its turn", func(s *situation) { s.launch.Phase = checkpoints.LaunchTurn },
			checkpoints.Running, "at work"},
		{"it reads", func(s *situation) { s.said("started", checkpoints.DeliveryStarted) },
			checkpoints.Running, "reads what was said to it"},
		{"its turn is due", func(s *situation) { s.launch.Phase = checkpoints.LaunchTurnDue },
			checkpoints.Blocked, "its background work has ended; its next turn is about to begin"},
		asksAPerson.as(checkpoints.Waiting, asksAPerson.reason),
		madeReady.as(checkpoints.Running, "its answer is made ready"),
		{"something is to be said", func(s *situation) {
			s.agent.Outbox = []checkpoints.OutboxItem{{Key: "message 1", Text: "Hello.", From: childOfIt, At: itIs}}
		}, checkpoints.Running, "reads what was said to it"},
		{"something lives in the background", func(s *situation) {
			s.launch.Background = []checkpoints.Task{{Name: "shell: make"}}
		}, checkpoints.Blocked, "waits for its background work: shell: make"},
		waitingForChildren,
		assumesSomething.as(checkpoints.Waiting, assumesSomething.reason),
		{"its report is checked", reported(&checkpoints.Report{Status: "success"}),
			checkpoints.Running, "has reported; its deliverables are checked"},
		{"deliverables are missing", reported(&checkpoints.Report{Status: "success", Checked: true,
			Missing: []string{"a.md"}}), checkpoints.Running, "was told which deliverables are missing"},
		{"it has not reported", func(s *situation) { s.agent.Report, s.launch.ReportWaived = nil, true },
			checkpoints.Running, "was asked for its report"},
		{"its work is done", reported(&checkpoints.Report{Status: "success", Checked: true}),
			checkpoints.Running, "finishing"},
	}
	eachBeforeAllBelow(t, rows, func() *situation {
		s := situated(true)
		s.launch.Phase, s.launch.Version = checkpoints.LaunchIdle, "2.1.332"
		s.agent.Report = &checkpoints.Report{Status: "success", Checked: true}
		return s
	}, map[[2]string][2]string{
		{"its process ends", "it waits for children"}: {"blocked", "is being parked: the hold ended"},
		{"it asks in a call", "a question is open"}:   {"waiting", "asks 2 questions: Which?"},
		// Who waits for a person uses nothing.
		{"its budget is used up", "it asks in a call"}:  {"waiting", "asks: Which?"},
		{"its budget is used up", "a question is open"}: {"waiting", "asks: Which?"},
	})
}

// eachBeforeAllBelow holds each row of a table against all below it. but has the statuses of those pairs that come to
// another one than the first of them alone.
func eachBeforeAllBelow(t *testing.T, rows []circumstance, begin func() *situation, but map[[2]string][2]string) {
	t.Helper()
	for i, first := range rows {
		for _, second := range rows[i:] {
			s := begin()
			if second.name != first.name {
				second.set(s)
			}
			first.set(s)
			d := NewTransition(s.State, itIs)
			d.reconcileAgent(childOne)
			want := [2]string{string(first.status), first.reason}
			if other, is := but[[2]string{first.name, second.name}]; is {
				want = other
			}
			if a := d.Agents.Get(childOne); string(a.Status) != want[0] || a.Reason != want[1] {
				t.Errorf("%s, and %s: it is %s (%s), want %s (%s)", first.name, second.name, a.Status, a.Reason, want[0],
					want[1])
			}
		}
	}
}
