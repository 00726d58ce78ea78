package supervisor

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

// withBudget begins a story under a budget. Nothing is delegated, so that the root has all of it.
func withBudget(t *testing.T, b Budget) *story {
	return begin(t, func(c *Config) { c.Budget, c.Delegate = b, Delegates{DenyDelegations} })
}

// asksBudget names the question of a budget, under an id.
func (s *story) asksBudget(scope, id string) *Question {
	s.t.Helper()
	s.plans("budget " + scope)
	s.do(BudgetAsked{Agent: scope, Naming: Naming{IDs: []string{id}, Presets: []Preset{{}}}})
	s.plansNot("budget")
	return s.state.Questions[id]
}

// spentShare ends the turn as claude does when a launch has cost what it may.
func (s *story) spentShare(n int, cost float64) {
	s.t.Helper()
	s.do(TurnEnded{Agent: root, Launch: n, CostUSD: cost, Failure: procs.Failure{Kind: procs.OverBudget, Reason: "Reached maximum budget"}})
}

// relaunches plays the start of launch n, and gives what the agent reads first.
func (s *story) relaunches(n int) string {
	s.t.Helper()
	s.plans("launch " + root)
	s.do(Started{Agent: root, Launch: n, PID: 100 + n})
	text := s.delivers(n).Text
	s.do(TurnBegun{Agent: root, Launch: n})
	return text
}

func (s *story) share(n int) float64 { return s.state.Launches[root][n-1].ShareUSD }

func TestABudgetThatIsUsedUpAsksAndRaisedGoesOnInTheConversation(t *testing.T) {
	s := withBudget(t, Budget{CostUSD: 2})
	if got := s.share(1); got != 2 {
		t.Fatalf("its first process may cost %v", got)
	}
	s.spentShare(1, 2.03)
	s.ends()
	s.rests(true)
	s.is(checkpoints.OverBudget)
	q := s.asksBudget(root, "q-1")
	if want := "The cost budget of the run is used up: $2.03 of $2.00. Raise it, finish up, or stop?"; q.Text != want {
		t.Errorf("the person reads %q", q.Text)
	}
	if !strings.Contains(q.Context, "Cannot go on: "+root) {
		t.Errorf("and beside it %q", q.Context)
	}
	s.answers("q-1", "raise 5")
	s.is(checkpoints.Starting)
	if l := s.state.launch(root); !l.Resume || l.ShareUSD < 2.969 || l.ShareUSD > 2.971 {
		t.Errorf("it goes on by %+v", l)
	}
	if got := s.relaunches(2); !strings.Contains(got, "GO ON") {
		t.Errorf("it reads %q", got)
	}
}

func TestAnAgentWhoseShareIsUsedUpIsLaunchedAgainWhileThereIsMore(t *testing.T) {
	s := begin(t, func(c *Config) { c.Budget = Budget{CostUSD: 2} }) // it might delegate, so something is left for others
	if got := s.share(1); got != 1.5 {
		t.Fatalf("its first process may cost %v", got)
	}
	s.spentShare(1, 1.51)
	s.ends()
	s.rests(true)
	s.is(checkpoints.Starting)
	s.launches(2)
	if got := s.share(2); got >= 0.49 || got < 0.3 {
		t.Errorf("its second process may cost %v", got)
	}
	s.spentShare(2, 0.48)
	s.ends()
	s.rests(true)
	s.is(checkpoints.OverBudget) // a cent is not worth a launch
}

func TestATurnThatEndsForAnotherReasonThanOurBoundFails(t *testing.T) {
	s := withBudget(t, Budget{CostUSD: 2})
	s.spentShare(1, 0.5) // by a --max-budget-usd of the person's own
	s.ends()
	s.rests(true)
	s.is(checkpoints.Failed)
	s.exits(ExitBudget)
}

func TestWhatARequestUsesCutsTheTurn(t *testing.T) {
	for name, c := range map[string]struct {
		budget Budget
		spent  Spent
		reason string
	}{
		"tokens": {Budget{Tokens: 1000}, Spent{InputTokens: 900, OutputTokens: 100}, "the token budget of the run is used up: 1050 of 1000"},
		"turns":  {Budget{Turns: 1}, Spent{Turns: 2}, "the turn budget of the run is used up: 2 of 1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := withBudget(t, c.budget)
			c.spent.Agent, c.spent.Launch = root, 1
			s.do(c.spent)
			s.plans("end " + root)
			// It is interrupted, and its result says more than the request.
			s.do(TurnEnded{Agent: root, Launch: 1, InputTokens: 900, OutputTokens: 150, Turns: 2, CostUSD: 0.1, Failure: procs.Failure{Kind: procs.CutShort, Passing: true}})
			s.ends()
			s.rests(true)
			s.is(checkpoints.OverBudget)
			a := s.state.Agents[root]
			if a.InputTokens+a.OutputTokens != 1050 || a.Turns != 2 || a.Failures != 0 {
				t.Errorf("what it has used was not counted once: %d tokens, %d turns, %d failures", a.InputTokens+a.OutputTokens, a.Turns, a.Failures)
			}
			if !a.GoOn {
				t.Error("its turn would be lost")
			}
			if a.Reason != c.reason {
				t.Errorf("the reason is %q", a.Reason)
			}
		})
	}
}

func TestWorkThatIsDoneWithTheLastOfItsBudgetSucceeds(t *testing.T) {
	s := withBudget(t, Budget{Tokens: 1000})
	s.reports("success", "")
	s.do(Spent{Agent: root, Launch: 1, InputTokens: 1200})
	s.turnEnds()
	s.do(Checked{Agent: root})
	s.ends()
	s.rests(true)
	s.is(checkpoints.Succeeded)
}

func TestWhoWaitsForAPersonIsNotCut(t *testing.T) {
	s := withBudget(t, Budget{Time: time.Hour})
	s.plans("clock " + root)
	s.asks("q-1", "Which database?")
	s.plansNot("clock")
	s.do(Worked{Agent: root, For: 2 * time.Hour}) // until it asked
	s.is(checkpoints.Waiting)
	s.answers("q-1", "SQLite")
	s.plans("end " + root)
	s.ends()
	s.rests(true)
	s.is(checkpoints.OverBudget)
	s.asksBudget(root, "q-2")
	s.answers("q-2", "raise +2h")
	s.is(checkpoints.Starting)
	if got := s.relaunches(2); !strings.Contains(got, "A1: SQLite") {
		t.Errorf("the answer is lost: %q", got)
	}
}

func TestToldToFinishAnAgentHasAFewRequestsAndNoMore(t *testing.T) {
	s := withBudget(t, Budget{CostUSD: 1})
	s.spentShare(1, 1.1)
	s.ends()
	s.rests(true)
	s.asksBudget(root, "q-1")
	s.answers("q-1", "finish")
	s.is(checkpoints.Starting)
	if l := s.state.launch(root); l.MaxTurns != finishTurns || l.ShareUSD != 0 {
		t.Fatalf("it may make %d requests for $%v", l.MaxTurns, l.ShareUSD)
	}
	if got := s.relaunches(2); !strings.Contains(got, "## FINISH UP") {
		t.Errorf("it reads %q", got)
	}
	s.do(TurnEnded{Agent: root, Launch: 2, Turns: finishTurns, Failure: procs.Failure{Kind: procs.OverBudget, Reason: "Reached maximum number of turns (3)"}})
	s.ends()
	s.rests(true)
	s.is(checkpoints.Failed)
	s.exits(ExitBudget)
}

func TestStoppedForItsBudgetTheWorkIsStopped(t *testing.T) {
	s := withBudget(t, Budget{CostUSD: 1})
	s.spentShare(1, 1.1)
	s.ends()
	s.rests(true)
	s.asksBudget(root, "q-1")
	s.answers("q-1", "stop")
	s.is(checkpoints.Stopped)
}

func TestWithNobodyToAskABudgetIs4AndTheAnswerIsTaken(t *testing.T) {
	s := begin(t, func(c *Config) {
		c.Budget, c.OnQuestion, c.Delegate = Budget{CostUSD: 1}, Park, Delegates{DenyDelegations}
	})
	s.spentShare(1, 1.1)
	s.ends()
	s.rests(true)
	s.plansNot("leave")
	s.asksBudget(root, "q-1")
	s.do(Noticed{Question: "q-1"})
	s.plans("leave")
	s.exits(ExitBudget)
	s.do(Left{})
	s.do(Opened{PID: 2, Policy: Ask, Notes: []Note{{Seq: 1, Kind: noteAnswer, Question: "q-1", Value: "raise 3", By: "answer", At: s.at}}})
	s.is(checkpoints.Starting)
}

func TestUnderTheFailPolicyABudgetFailsWith4(t *testing.T) {
	s := begin(t, func(c *Config) {
		c.Budget, c.OnQuestion, c.Delegate = Budget{CostUSD: 1}, Fail, Delegates{DenyDelegations}
	})
	s.spentShare(1, 1.1)
	s.ends()
	s.rests(true)
	s.do(BudgetAsked{Agent: root, Naming: Naming{IDs: []string{"q-1"}, Presets: []Preset{{}}}})
	s.is(checkpoints.Failed)
	s.exits(ExitBudget)
}

func TestAnAnswerThatIsNoDecisionOnABudgetIsAskedAgain(t *testing.T) {
	s := withBudget(t, Budget{CostUSD: 1})
	s.spentShare(1, 1.1)
	s.ends()
	s.rests(true)
	q := s.asksBudget(root, "q-1")
	for _, answer := range []string{"", "go on", "raise", "raise much", "raise 1.05", "raise -3", "finish now", "raise 1e9"} {
		if err := CheckDecision(q, answer, "/work"); err == nil {
			t.Errorf("%q is taken", answer)
		}
		s.answers("q-1", answer)
		s.is(checkpoints.OverBudget)
		if !isOpen(s.state.Questions["q-1"]) {
			t.Fatalf("after %q nobody is asked", answer)
		}
	}
	for _, answer := range []string{"raise 5", "raise $2.50", "raise +1", "finish", "stop"} {
		if err := CheckDecision(q, answer, "/work"); err != nil {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

func TestWhatAKilledProcessHasUsedCountsOnce(t *testing.T) {
	s := withBudget(t, Budget{Tokens: 10_000})
	s.do(TurnEnded{Agent: root, Launch: 1, InputTokens: 1000, CostUSD: 0.5, Turns: 1, Failure: procs.Failure{Kind: procs.API, Passing: true}})
	s.do(Ended{Agent: root, Launch: 1})
	a := s.state.Agents[root]
	if a.CostUSD != 0.5 || a.InputTokens != 1000 {
		t.Fatalf("after its result it has cost %v for %d tokens", a.CostUSD, a.InputTokens)
	}
	s.rests(true)
	s.do(RetryDue{Agent: root})
	s.launches(2)
	s.do(Spent{Agent: root, Launch: 2, InputTokens: 400, Turns: 1})
	s.do(Ended{Agent: root, Launch: 2, Failure: crash(), InputTokens: 500, OutputTokens: 100})
	if a = s.state.Agents[root]; a.InputTokens+a.OutputTokens != 1600 || a.Turns != 2 {
		t.Errorf("it has used %d tokens in %d turns", a.InputTokens+a.OutputTokens, a.Turns)
	}
	if a.CostUSD < 0.799 || a.CostUSD > 0.801 { // 600 tokens at what the 1000 have cost
		t.Errorf("which have cost %v", a.CostUSD)
	}
}

func TestSharesNeverComeToMoreThanIsLeft(t *testing.T) {
	s := &story{t: t, at: time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)}
	cfg := Config{Hold: DefaultHold, MaxHeld: -1, Relaunch: Resume, MaxParallel: 4, Budget: Budget{CostUSD: 8}, Delegate: Delegates{AutoDelegations}}
	created := Created{Run: runID, Cwd: "/work", Agent: root, Task: "All of it", Config: cfg, Group: true}
	for _, id := range []string{"a-1", "a-2", "a-3", "a-4", "a-5", "a-6"} {
		created.Children = append(created.Children, Child{Agent: id, Work: Work{Task: "part " + id}})
	}
	s.do(created)
	s.do(Opened{PID: 1, Policy: Ask})
	sum, launched := 0.0, 0
	for _, ls := range s.state.Launches {
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
	s := begin(t, func(c *Config) {
		c.Budget, c.Delegate, c.MaxParallel = Budget{CostUSD: 1}, Delegates{AutoDelegations}, 2
	})
	s.asks("q-1", "Which database?")
	s.is(checkpoints.Waiting)
	d := newDraft(s.state)
	d.last(root).ShareUSD = 1 // all of it
	d.spawn(Child{Agent: "a-child", Parent: root, Work: Work{Task: "a part"}}, s.at)
	d.settle(s.at)
	if c := d.Agents["a-child"]; c.Status != checkpoints.Queued || !strings.Contains(c.Reason, "waits for what others leave of the cost budget of the run") {
		t.Errorf("the child is %s: %s", c.Status, c.Reason)
	}
	if l := d.live(root); l.End != endPark {
		t.Errorf("the process that waits is kept: %+v", l)
	}
}

func TestAChildHasABudgetOfItsOwnInWhatThoseAboveLeave(t *testing.T) {
	s := begin(t, func(c *Config) { c.Budget, c.Delegate = Budget{Tokens: 5000}, Delegates{AutoDelegations} })
	d := newDraft(s.state)
	d.spawn(Child{Agent: "a-child", Parent: root, Work: Work{Task: "a part", Budget: Budget{Tokens: 1000}}}, s.at)
	child := d.agent("a-child")
	child.InputTokens = 1000
	if scope, what := d.usedUp(child); scope == nil || scope.ID != "a-child" || what != budgetTokens {
		t.Errorf("the child is bounded by %v, %s", scope, what)
	}
	if scope, _ := d.usedUp(d.agent(root)); scope != nil {
		t.Errorf("its parent is bounded by %s", scope.ID)
	}
	d.accounts = nil
	d.agent(root).OutputTokens = 4000
	if scope, _ := d.usedUp(child); scope == nil || scope.ID != root {
		t.Errorf("of two that are used up it is bounded by %v", scope)
	}
}

func TestTheClockOfABudgetTellsHowLongWasWorkedEvenIfItIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &engine{state: State{Agents: map[string]*Agent{root: {ID: root, Budget: &Budget{Time: time.Hour}, Worked: 59*time.Minute + 30*time.Second}}}}
		measure := e.clock(Effect{Do: DoClock, Agent: root})
		if r := measure(t.Context()); r.body != (Worked{Agent: root, For: 30 * time.Second}) {
			t.Errorf("it tells %+v", r.body)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if r := e.clock(Effect{Do: DoClock, Agent: root})(ctx); r.body != (Worked{Agent: root, For: 10 * time.Second}) {
			t.Errorf("cut short it tells %+v", r.body)
		}
	})
}

func TestTheLowerOfTwoBudgetsCounts(t *testing.T) {
	got := Lower(Budget{CostUSD: 5, Tokens: 100, Turns: 3}, Budget{CostUSD: 7, Tokens: 50, Time: time.Hour})
	if want := (Budget{CostUSD: 5, Tokens: 50, Time: time.Hour, Turns: 3}); got != want {
		t.Errorf("it is %+v", got)
	}
}

func TestAmountsAreReadAsPeopleTypeThem(t *testing.T) {
	for text, want := range map[string]int64{"200000": 200_000, "200k": 200_000, "1.5M": 1_500_000, "200_000": 200_000, "2m": 2_000_000, "": 0, "k": 0, "0": 0, "-5": 0, "NaN": 0, "1e30": 0, "Inf": 0} {
		if got, err := ParseTokens(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for text, want := range map[string]float64{"5": 5, "$0.50": 0.5, "": 0, "0": 0, "-1": 0, "NaN": 0, "1e9": 0, "five": 0} {
		if got, err := ParseUSD(text); got != want || (err == nil) != (want > 0) {
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
			{What: budgetCost, Bound: 2, Used: 2.1}, {What: budgetTokens, Bound: 100, Used: 120},
			{What: budgetTime, Bound: 60, Used: 61}, {What: budgetTurns, Bound: 3, Used: 3},
		} {
			n, err := raised(over, text)
			if err != nil {
				continue
			}
			used := withBound(Budget{}, over.What, over.Used)
			if what := exceeded(withBound(Budget{}, over.What, n), used); what != "" || n <= over.Used {
				t.Errorf("raised by %q to %v, the %s budget is used up still", text, n, what)
			}
		}
	})
}

func BenchmarkBooksOfAThousandAgents(b *testing.B) {
	s := State{Agents: map[string]*Agent{root: {ID: root, Budget: &Budget{CostUSD: 10}}}, Launches: map[string][]*Launch{}}
	for i := range 1000 {
		id := "a-" + strings.Repeat("x", i%7) + time.Duration(i).String()
		s.Agents[id] = &Agent{ID: id, Parent: root, CostUSD: 0.001}
	}
	for b.Loop() {
		s.reckon()
	}
}
