package supervisor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/table"
	"claude-supervise/supervisor/task"
)

// withBudget begins a story under a budget. Nothing is delegated, so that the root has all of it.
func withBudget(t *testing.T, b conf.Budget) *Story {
	return Begin(t, func(c *conf.Config) { c.Budget, c.Delegate = b, conf.Delegates{conf.DenyDelegations} })
}

// asksBudget names the question of a budget, under an id.
func (s *Story) asksBudget(scope, id string) *Question {
	s.T.Helper()
	s.plans("budget " + scope)
	s.Do(BudgetAsked{Agent: scope, Naming: Naming{IDs: []string{id}, Presets: []conf.Preset{{}}}})
	s.plansNot("budget")
	return s.State.Questions.Get(id)
}

// spentShare ends the turn as claude does when a launch has cost what it may.
func (s *Story) spentShare(n int, cost float64) {
	s.T.Helper()
	s.Do(TurnEnded{Agent: Root, Launch: n, CostUSD: cost,
		Failure: procs.Failure{Kind: procs.OverBudget, Reason: "Reached maximum budget"}})
}

// A question takes one answer, whatever that is: what is asked again has another id.
func TestAnAnswerThatIsNoDecisionOnABudgetIsAskedAgain(t *testing.T) {
	s := withBudget(t, conf.Budget{CostUSD: 1})
	s.spentShare(1, 1.1)
	s.Ends()
	s.Rests(true)
	q := s.asksBudget(Root, "q-0")
	asked := 0
	undecided := func(n InboxEntry) {
		t.Helper()
		n.Question = q.ID
		s.Do(InboxRead{Notes: []InboxEntry{n}})
		s.is(checkpoints.OverBudget)
		if old := s.State.Questions.Get(q.ID); old.State != checkpoints.QuestionWithdrawn || old.AnsweredAt == nil ||
			old.Remark == "" {
			t.Errorf("after %+v it is %s (%s)", n, old.State, old.Remark)
		}
		asked++
		q = s.asksBudget(Root, fmt.Sprint("q-", asked))
	}
	for _, answer := range []string{"", "continue", "raise", "raise much", "raise 1.05", "raise -3",
		"finish now", "raise 1e9"} {
		if err := questions.Check(q, answer, "/work"); err == nil {
			t.Errorf("%q is taken", answer)
		}
		undecided(InboxEntry{Kind: EntryAnswer, Value: answer})
	}
	undecided(InboxEntry{Kind: EntryAnswer, Value: "no", Decline: true})
	undecided(InboxEntry{Kind: EntryAnswer, Skip: true})
	for _, answer := range []string{"raise 5", "raise $2.50", "raise +1", "finish", "stop"} {
		if err := questions.Check(q, answer, "/work"); err != nil {
			t.Errorf("%q: %v", answer, err)
		}
	}
	s.Answers(q.ID, "raise 5")
	s.is(checkpoints.Starting)
}

// A budget that is lower where the run is unpacked may be lower by more than is put on top of it.
func TestABudgetThatIsRaisedToWhatIsUsedIsAskedAgain(t *testing.T) {
	s := withBudget(t, conf.Budget{Time: time.Hour + time.Second})
	s.Do(Worked{Agent: Root, For: time.Hour + time.Second})
	s.Ends()
	s.Rests(true)
	s.asksBudget(Root, "q-1")
	s.Do(Packed{File: "r.pack"})
	here := s.State.Config
	here.Budget.Time = time.Second
	s.Do(Unpacked{From: "/work", Cwd: "/work", Same: true, Config: here,
		Conversations: []string{s.State.Agents.Get(Root).SessionID}})
	s.Do(Opened{PID: 3, Waker: "/tmp/wake-up", Policy: conf.Ask})
	s.Answers("q-1", "raise +1h")
	s.is(checkpoints.OverBudget)
	s.asksBudget(Root, "q-2")
	s.Answers("q-2", "raise +2h")
	s.is(checkpoints.Starting)
}

func TestSharesNeverComeToMoreThanIsLeft(t *testing.T) {
	s := &Story{T: t, At: time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)}
	cfg := conf.Config{Hold: conf.DefaultHold, MaxHeld: -1, Relaunch: conf.Resume, MaxParallel: 4,
		Budget:   conf.Budget{CostUSD: 8},
		Delegate: conf.Delegates{conf.AutoDelegations}}
	created := Created{Run: RunID, Cwd: "/work", Agent: Root, Task: "All of it", Config: cfg, Group: true}
	for _, id := range []string{"a-1", "a-2", "a-3", "a-4", "a-5", "a-6"} {
		created.Children = append(created.Children, task.Child{Agent: id, Work: task.Work{Task: "part " + id}})
	}
	s.Do(created)
	s.Do(Opened{PID: 1, Policy: conf.Ask})
	sum, launched := 0.0, 0
	for ls := range s.State.Launches.Values() {
		for _, l := range ls {
			sum, launched = sum+l.ShareUSD, launched+1
			if l.ShareUSD != 2 {
				t.Errorf("%s may cost %v of 8", l.Agent, l.ShareUSD)
			}
		}
	}
	if launched != 4 || sum > 8 {
		t.Errorf("%d processes may cost %v of 8", launched, sum)
	}
}

func TestAProcessThatOnlyWaitsLendsItsShare(t *testing.T) {
	s := Begin(t, func(c *conf.Config) {
		c.Budget, c.Delegate, c.MaxParallel = conf.Budget{CostUSD: 1}, conf.Delegates{conf.AutoDelegations}, 2
	})
	s.Asks("q-1", "Which database?")
	s.is(checkpoints.Waiting)
	d := NewTransition(s.State, s.At)
	d.last(Root).ShareUSD = 1 // all of it
	d.spawn(task.Child{Agent: "a-child", Parent: Root, Work: task.Work{Task: "a part"}})
	d.reconcile()
	if c := d.Agents.Get("a-child"); c.Status != checkpoints.Queued ||
		!strings.Contains(c.Reason, "waits for what others leave of the cost budget of the run") {
		t.Errorf("the child is %s: %s", c.Status, c.Reason)
	}
	if l := d.Live(Root); l.End != endPark {
		t.Errorf("the process that waits is kept: %+v", l)
	}
}

func TestAChildHasABudgetOfItsOwnInWhatThoseAboveLeave(t *testing.T) {
	s := Begin(t, func(c *conf.Config) {
		c.Budget, c.Delegate = conf.Budget{Tokens: 5000}, conf.Delegates{conf.AutoDelegations}
	})
	d := NewTransition(s.State, s.At)
	d.spawn(task.Child{Agent: "a-child", Parent: Root, Work: task.Work{Task: "a part", Budget: conf.Budget{Tokens: 1000}}})
	child := d.agent("a-child")
	child.InputTokens = 1000
	if scope, what := d.usedUp(child); scope == nil || scope.ID != "a-child" || what != questions.BudgetTokens {
		t.Errorf("the child is bounded by %v, %s", scope, what)
	}
	if scope, _ := d.usedUp(d.agent(Root)); scope != nil {
		t.Errorf("its parent is bounded by %s", scope.ID)
	}
	d.accounts = nil
	d.agent(Root).OutputTokens = 4000
	if scope, _ := d.usedUp(child); scope == nil || scope.ID != Root {
		t.Errorf("of two that are used up it is bounded by %v", scope)
	}
}

func TestABudgetIsNotAskedAboutForWhoEndsFromAbove(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Delegate = conf.Delegates{conf.AutoDelegations} })
	d := NewTransition(s.State, s.At)
	d.spawn(task.Child{Agent: "a-child", Parent: Root, Work: task.Work{Task: "a part", Budget: conf.Budget{Tokens: 1000}}})
	d.spawn(task.Child{Agent: "a-below", Parent: "a-child", Work: task.Work{Task: "a part of it"}})
	below := d.agent("a-below")
	below.Status, below.Exceeds = checkpoints.OverBudget, "a-child"
	if !d.Stuck(below) {
		t.Error("a raised budget would not let it continue")
	}
	d.agent("a-child").StopWanted = "a test"
	if d.Stuck(below) {
		t.Error("it is asked about below one that is being stopped")
	}
	d.agent("a-child").StopOnly = true
	if !d.Stuck(below) || d.NestedRefused(below, task.Work{Task: "more"}) != "" {
		t.Error("who is put under another, since the one above is stopped alone, cannot continue")
	}
	d.agent("a-child").StopOnly, d.agent("a-child").Group = false, true
	if !d.Stuck(below) {
		t.Error("it is not asked about in a group that waits for it")
	}
	d.agent("a-below").Delegated.Independence = checkpoints.Optional
	if d.Stuck(d.Agents.Get("a-below")) {
		t.Error("it is asked about in a group that does not wait for it")
	}
	d.spawn(task.Child{Agent: "a-next", Parent: "a-child", Work: task.Work{Task: "the next part",
		Said: checkpoints.Delegated{After: []string{"a-below"}}}})
	if !d.Stuck(d.Agents.Get("a-below")) {
		t.Error("it is not asked about in a group that waits for one that comes after it")
	}
	d.agent("a-child").StopWanted = ""
	d.agent(Root).Status = checkpoints.Succeeded
	if d.Stuck(below) {
		t.Error("it is asked about where the run has ended")
	}
}

func TestTheLowerOfTwoBudgetsCounts(t *testing.T) {
	got := conf.Lower(conf.Budget{CostUSD: 5, Tokens: 100, Turns: 3}, conf.Budget{CostUSD: 7, Tokens: 50, Time: time.Hour})
	if want := (conf.Budget{CostUSD: 5, Tokens: 50, Time: time.Hour, Turns: 3}); got != want {
		t.Errorf("it is %+v", got)
	}
}

func TestAmountsAreReadAsPeopleTypeThem(t *testing.T) {
	for text, want := range map[string]int64{"200000": 200_000, "200k": 200_000, "1.5M": 1_500_000,
		"200_000": 200_000, "2m": 2_000_000, "": 0, "k": 0, "0": 0, "-5": 0, "NaN": 0, "1e30": 0, "Inf": 0} {
		if got, err := questions.ParseTokens(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for text, want := range map[string]float64{"5": 5, "$0.50": 0.5, "": 0, "0": 0, "-1": 0, "NaN": 0,
		"1e9": 0, "five": 0} {
		if got, err := questions.ParseUSD(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func FuzzRaised(f *testing.F) {
	for _, text := range []string{"5", "+2", "$3", "200k", "1h30m", "", "+", "-1", "NaN", "+Inf", "1e300"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, over := range []checkpoints.Exceeded{
			{What: questions.BudgetCost, Bound: 2, Used: 2.1}, {What: questions.BudgetTokens, Bound: 100, Used: 120},
			{What: questions.BudgetTime, Bound: 60, Used: 61}, {What: questions.BudgetTurns, Bound: 3, Used: 3},
		} {
			n, err := questions.Raised(over, text)
			if err != nil {
				continue
			}
			used := questions.WithBound(conf.Budget{}, over.What, over.Used)
			if what := questions.Exceeded(questions.WithBound(conf.Budget{}, over.What, n), used); what != "" || n <= over.Used {
				t.Errorf("raised by %q to %v, the %s budget is used up still", text, n, what)
			}
		}
	})
}

func BenchmarkBooksOfAThousandAgents(b *testing.B) {
	root := &Agent{ID: Root, Bounds: checkpoints.Bounds{Budget: &conf.Budget{CostUSD: 10}}}
	s := State{Records: records.Records{Agents: table.Of(map[string]*Agent{Root: root})}}
	for i := range 1000 {
		id := "a-" + strings.Repeat("x", i%7) + time.Duration(i).String()
		s.Agents.Put(id, &Agent{ID: id, Parent: Root, Usage: checkpoints.Usage{CostUSD: 0.001}})
	}
	s.Reindex()
	for b.Loop() {
		s.ComputeUsage()
	}
}
