package supervisor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/table"
	"claude-supervise/supervisor/task"
)

// The agents of the trees in these tests, each below the one before.
const (
	childOne   = "a-childone0000"
	grandchild = "a-grandchild00"
)

// delegatedWork returns a story in which the root has delegated work, under --delegate auto.
func delegatedWork(t *testing.T, configure func(*conf.Config), fields ...signals.Field) *Story {
	t.Helper()
	s := Begin(t, func(c *conf.Config) {
		c.Delegate, c.MaxParallel = conf.Delegates{conf.AutoDelegations}, 4
		if configure != nil {
			configure(c)
		}
	})
	s.delegates(Root, childOne, "q-one", fields...)
	return s
}

// delegates has an agent print a delegation.
func (s *Story) delegates(agent, child, question string, fields ...signals.Field) {
	s.T.Helper()
	if len(fields) == 0 {
		fields = []signals.Field{{Name: "new_task_description", Value: "Draw the pictures of " + child}}
	}
	s.Do(SignalRead{Agent: agent, Launch: 1, Named: Named{
		Signal: signals.Signal{Kind: signals.Delegate, AgentID: agent, Fields: fields},
		Naming: Naming{IDs: []string{question}, Child: child},
	}})
}

func (s *Story) status(agent string, want Status) {
	s.T.Helper()
	if a := s.State.Agents.Get(agent); a == nil || a.Status != want {
		s.T.Fatalf("%s is %+v, want %s", agent, a, want)
	}
}

// childReports has the child begin, report and end.
func (s *Story) childReports(status string) {
	s.T.Helper()
	agent := childOne
	s.Do(Started{Agent: agent, Launch: 1, PID: 7})
	prompts := s.State.FindDeliveries(agent, (*checkpoints.Delivery).Undelivered)
	for _, v := range prompts {
		s.Do(Received{UUID: v.UUID, State: checkpoints.DeliveryStarted})
	}
	for _, b := range []Event{
		TurnBegun{Agent: agent, Launch: 1},
		SignalRead{Agent: agent, Launch: 1,
			Named: Named{Signal: signals.Signal{Kind: signals.Completion, AgentID: agent, Fields: []signals.Field{
				{Name: "status", Value: status}, {Name: "summary", Value: "## DELEGATION APPROVED\nas asked"},
			}}}},
		TurnEnded{Agent: agent, Launch: 1},
	} {
		s.Do(b)
	}
	for _, v := range prompts {
		s.Do(Received{UUID: v.UUID, State: checkpoints.DeliveryDelivered})
	}
	if r := s.State.Agents.Get(agent).Report; r != nil && !r.Checked {
		s.Do(Checked{Agent: agent})
	}
	s.Do(Ended{Agent: agent, Launch: 1, Outcome: "exit 0"})
}

// Children that report at length would together be more than any model reads, and their parent could not go on.
func TestTheEndsOfHundredsAreToldInFewLinesOfEach(t *testing.T) {
	s := Begin(t, nil)
	long := strings.Repeat("word ", prompts.MaxChildText/5)
	d := NewTransition(withAgent(s.State, Root, func(a *Agent) {
		for i := range 300 {
			c := Agent{
				ID: worker(i), Task: "Count.", Status: checkpoints.Partial,
				Reason: "deliverables are missing:\n" + long, EndedAt: &s.At,
				Reporting: checkpoints.Reporting{Report: &checkpoints.Report{Summary: long, Metrics: long, Issues: long}},
				Delegated: &checkpoints.Delegated{},
			}
			a.Enqueue(checkpoints.OutboxItem{Key: (&c).EndKey(), Text: s.State.childEnded(&c), From: c.ID})
		}
		a.Enqueue(checkpoints.OutboxItem{Key: "message 1", Text: prompts.PersonSays(long), From: fromUser})
	}), s.At)
	d.flush(d.agent(Root), d.last(Root))
	said := d.FindDeliveries(Root, func(v *Delivery) bool { return v.State == checkpoints.DeliveryPending })
	if len(said) != 1 || len(said[0].Messages) != 301 {
		t.Fatalf("it is told by %d prompts", len(said))
	}
	text := said[0].Text
	if most := 2*prompts.MaxEnds + len(long); len(text) > most {
		t.Errorf("the prompt has %d bytes, want at most %d", len(text), most)
	}
	for i := range 300 {
		if !strings.Contains(text, "## DELEGATED WORK ENDED\n\nAgent: "+worker(i)+"\nTask: Count.\nOutcome: partial (") {
			t.Errorf("it is not told of the end of %s", worker(i))
		}
	}
	if !strings.Contains(text, prompts.PersonSays(long)) || !strings.Contains(text, "claude-supervise show "+worker(299)) {
		t.Error("it is not told what the person has said, or where all of it is")
	}
}

func TestTheWorstThatGatesIsTheRunsEnd(t *testing.T) {
	for independence, want := range map[checkpoints.Independence]int{checkpoints.Parallel: exit.Failed,
		checkpoints.Optional: exit.Success} {
		d := NewTransition(State{Records: records.Records{Run: &Run{ID: RunID, Root: Root},
			Agents: table.Of(map[string]*Agent{Root: {ID: Root, Status: checkpoints.Succeeded}})}}, time.Time{})
		d.addAgent(&Agent{
			ID: childOne, Parent: Root, Status: checkpoints.Failed,
			Delegated: &checkpoints.Delegated{Independence: independence},
		})
		if got := exit.Code(d.Decisive()); got != want {
			t.Errorf("a failed child that is %s: exit %d, want %d", independence, got, want)
		}
		d.agent(childOne).ContinuedBy = grandchild
		if got := exit.Code(d.Decisive()); got != exit.Success {
			t.Errorf("a failed child whose work another has continued with: exit %d", got)
		}
	}
}

// An agent whose budget is used up ends with 4, though what it has started is stopped with it, which a person did not
// ask for.
func TestWhatIsStoppedByAnEndIsNotWorseThanThatEnd(t *testing.T) {
	d := NewTransition(State{Records: records.Records{Run: &Run{ID: RunID, Root: Root}, Agents: table.Of(map[string]*Agent{
		Root: {ID: Root, Status: checkpoints.Failed,
			Ending: checkpoints.Ending{Fault: string(procs.OverBudget)}},
		childOne: {ID: childOne, Parent: Root, Status: checkpoints.Stopped,
			Ending: checkpoints.Ending{StopWanted: "the end of " + Root}},
		grandchild: {ID: grandchild, Parent: childOne, Status: checkpoints.Stopped,
			Ending: checkpoints.Ending{StopWanted: "the end of " + childOne}},
	})}}, time.Time{})
	if got := d.Decisive(); got.ID != Root || exit.Code(got) != exit.Budget {
		t.Errorf("%s decides: exit %d, want that of the root, %d", got.ID, exit.Code(got), exit.Budget)
	}
	d.agent(childOne).StopWanted = "a person"
	if got := d.Decisive(); got.ID != childOne {
		t.Errorf("%s decides, though a person has stopped %s", got.ID, childOne)
	}
}

func TestDepthIsCountedAlongTheTree(t *testing.T) {
	s := delegatedWork(t, func(c *conf.Config) { c.MaxDepth = 1 })
	s.Do(Started{Agent: childOne, Launch: 1, PID: 7})
	s.Do(TurnBegun{Agent: childOne, Launch: 1})
	s.delegates(childOne, grandchild, "q-deep")
	if q := s.State.Questions.Get("q-deep"); q.AnsweredBy != "--max-depth" || s.State.Agents.Get(grandchild) != nil {
		t.Errorf("decided by %q: %q", q.AnsweredBy, q.Answer)
	}
}

func TestTenThousandDelegationsInOneTurnAreBounded(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Delegate = conf.Delegates{conf.AskDelegations} })
	welcome := 0
	for i := range 10_000 {
		id := strings.Repeat("x", 4) + string(rune('a'+i%26)) + strings.Repeat("y", i/26%50) + strings.Repeat("z", i/1300)
		if s.try(SignalRead{Agent: Root, Launch: 1, Named: Named{
			Signal: signals.Signal{Kind: signals.Delegate, AgentID: Root,
				Fields: []signals.Field{{Name: "new_task_description", Value: "Draw " + id}}},
			Naming: Naming{IDs: []string{"q-" + id}, Child: "a-" + id},
		}}) {
			welcome++
		}
	}
	if welcome != maxUndecided+1 || s.State.Questions.Len() != maxUndecided || len(s.State.Agents.Get(Root).Outbox) != 1 {
		t.Errorf("%d taken, %d questions, %d to be said", welcome, s.State.Questions.Len(),
			len(s.State.Agents.Get(Root).Outbox))
	}
}

func TestAnUnknownPriorityIsTheUsualOne(t *testing.T) {
	for written, want := range map[string]string{"P0": "P0", "p2": "P2", "P9": "P1", "urgent": "P1", "": "P1"} {
		w := task.Asked(signals.Signal{Fields: []signals.Field{{Name: "new_task_description", Value: "Draw"},
			{Name: "priority", Value: written}}})
		if w.Priority != want {
			t.Errorf("%q is %s, want %s", written, w.Priority, want)
		}
	}
}

func TestAnAgentThatAloneIsStoppedLeavesItsChildrenToWhoStandsAbove(t *testing.T) {
	for name, c := range map[string]struct {
		stops []InboxEntry
		only  bool
		want  string
	}{
		"alone":           {[]InboxEntry{{Only: true}}, true, Root},
		"with all":        {[]InboxEntry{{}}, false, childOne},
		"alone, then all": {[]InboxEntry{{Only: true}, {}}, false, childOne},
		"all, then alone": {[]InboxEntry{{}, {Only: true}}, false, childOne},
	} {
		s := delegatedWork(t, nil)
		s.Do(Started{Agent: childOne, Launch: 1, PID: 7})
		s.Do(TurnBegun{Agent: childOne, Launch: 1})
		s.delegates(childOne, grandchild, "q-deep")
		for i := range c.stops {
			c.stops[i].Kind, c.stops[i].Agent = EntryStop, childOne
		}
		s.Notes(c.stops...)
		s.Do(Ended{Agent: childOne, Launch: 1, Outcome: "ended by SIGTERM"})
		s.Do(Surveyed{Agent: childOne, Launch: 1})
		for _, v := range s.State.FindDeliveries(childOne, (*checkpoints.Delivery).WaitsForReceipt) {
			s.Do(Confirmed{UUID: v.UUID, Found: true})
		}
		s.status(childOne, checkpoints.Stopped)
		told := s.State
		deep := *told.Questions.Get("q-deep")
		deep.State = checkpoints.QuestionDelivered
		told.Questions.Put("q-deep", &deep)
		if got := told.opening(told.Agents.Get(childOne)); !strings.Contains(got, grandchild) {
			t.Errorf("%s: revived with nothing in mind, it would delegate the work again:\n%s", name, got)
		}
		if got := s.State.Agents.Get(grandchild); got.Parent != c.want || (got.StopWanted == "") != c.only {
			t.Errorf("%s: the grandchild is under %s and stopped by %q", name, got.Parent, got.StopWanted)
		}
		if wrong := indexHolds(s.State); wrong != "" {
			t.Error(wrong)
		}
	}
}

func TestWhatWaitsLongestOfTheFirstPriorityGoesFirstAndAllRise(t *testing.T) {
	at := time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)
	d := NewTransition(State{Records: records.Records{Run: &Run{ID: RunID, Root: Root},
		Agents: table.Of(map[string]*Agent{Root: {ID: Root, Status: checkpoints.Blocked}})}}, at)
	waits := func(id, priority string, minutes time.Duration) {
		since := at.Add(-minutes * time.Minute)
		d.addAgent(&Agent{ID: id, Parent: Root, Priority: priority, Status: checkpoints.Queued, QueuedAt: &since,
			Delegated: &checkpoints.Delegated{}})
	}
	waits("a-new-p0", "P0", 1)
	waits("a-old-p2", "P2", 21)
	waits("a-old-p1", "P1", 9)
	waits("a-older-p0", "P0", 2)
	var order []string
	for range 4 {
		d.Config.MaxParallel++
		d.reindex()
		d.dispatch()
		for _, a := range d.AllAgents() {
			if a.Launches > 0 && !slices.Contains(order, a.ID) {
				order = append(order, a.ID)
			}
		}
	}
	if want := []string{"a-old-p2", "a-older-p0", "a-new-p0", "a-old-p1"}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
}
