package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

const nestedID = "a-nestednested"

// callsFor begins a story in which the agent is in a turn, under a policy for delegations.
func callsFor(t *testing.T, policy conf.Delegate, change ...func(*conf.Config)) *Story {
	t.Helper()
	return Begin(t, func(c *conf.Config) {
		c.Delegate, c.MaxDepth, c.MaxAgents = conf.Delegates{policy}, conf.DefaultMaxDepth, conf.DefaultMaxAgents
		for _, f := range change {
			f(c)
		}
	})
}

// nests leaves the note of a run inside the agent that caller names, and gives the id that it asks for.
func (s *Story) nests(caller, task string) string {
	s.T.Helper()
	return s.nestsFrom(caller, s.State.Launch(caller).N, task, true)
}

func (s *Story) nestsFrom(caller string, launch int, what string, waits bool) string {
	s.T.Helper()
	id := fmt.Sprintf("%s%d", nestedID, s.State.Taken+1)
	s.notesNamed(InboxEntry{Kind: ask.EntryNested, Agent: caller,
		Doc: text.JSON(ask.Nesting{Agent: id, Launch: launch, Waits: waits, Work: task.Work{Task: what}.Usual()})})
	return id
}

// notesNamed leaves a note, with what the engine names for it.
func (s *Story) notesNamed(n InboxEntry) {
	s.T.Helper()
	n.Seq, n.By, n.At = s.State.Taken+1, "a test", s.At
	s.Do(InboxRead{Notes: []InboxEntry{n}, Named: NotesNamed{n.Seq: {IDs: []string{fmt.Sprintf("q-nest%d", n.Seq)}}}})
}

// works plays the whole life of an agent that reports, up to the end of its process.
func (s *Story) works(agent string) {
	s.T.Helper()
	s.startsWork(agent)
	n := s.State.Launch(agent).N
	s.Do(SignalRead{Agent: agent, Launch: n,
		Named: Named{Signal: signals.Signal{Kind: signals.Completion, AgentID: agent, Fields: []signals.Field{
			{Name: "status", Value: "success"}, {Name: "summary", Value: "Counted: 42."},
		}}}})
	s.Do(TurnEnded{Agent: agent, Launch: n})
	s.Do(Checked{Agent: agent})
	for _, d := range s.State.FindDeliveries(agent, (*checkpoints.Delivery).WaitsForReceipt) {
		s.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	}
	s.Do(Ended{Agent: agent, Launch: n, Outcome: "exit 0"})
}

func (s *Story) startsWork(agent string) {
	s.T.Helper()
	s.plans("launch " + agent)
	n := s.State.Launch(agent).N
	s.Do(Started{Agent: agent, Launch: n, PID: 500, StartTicks: 5})
	for _, d := range s.State.FindDeliveries(agent, (*checkpoints.Delivery).Undelivered) {
		s.Do(Sent{UUID: d.UUID, Launch: n})
		s.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryStarted})
	}
	s.Do(TurnBegun{Agent: agent, Launch: n})
}

// told counts how often the agent is told, or is about to be, that another has ended.
func (s *Story) told(of string) (times int) {
	heading := "## DELEGATED WORK ENDED\n\nAgent: " + of
	for _, say := range s.State.Agents.Get(Root).Outbox {
		times += strings.Count(say.Text, heading)
	}
	for _, d := range s.State.FindDeliveries(Root,
		func(d *Delivery) bool { return d.State != checkpoints.DeliveryDropped }) {
		times += strings.Count(d.Text, heading)
	}
	return times
}

func TestANestedRunIsAChildOfTheAgentThatStartedIt(t *testing.T) {
	s := callsFor(t, conf.AutoDelegations)
	id := s.nests(Root, "Count the files.")
	c := s.State.Agents.Get(id)
	if c == nil || c.Parent != Root || c.Depth != 1 || c.Task != "Count the files." || c.Status.Ended() {
		t.Fatalf("the nested agent is %+v", c)
	}
	s.works(id)
	if got := s.State.Agents.Get(id).Status; got != checkpoints.Succeeded {
		t.Fatalf("it is %s", got)
	}
	if n := s.told(id); n != 0 {
		t.Errorf("its parent is told by a prompt, though a client waits")
	}
	s.Notes(InboxEntry{Kind: EntryNestedSeen, Agent: id})
	s.reports("success", "")
	s.turnEnds()
	if n := s.told(id); n != 0 {
		t.Errorf("its parent is told by a prompt what the client has told")
	}
	s.Do(Checked{Agent: Root})
	s.Ends()
	s.is(checkpoints.Succeeded)
}

func TestTheEndOfANestedRunIsToldOnceWhateverBecomesOfItsClient(t *testing.T) {
	ends := func(s *Story, id string) { s.works(id) }
	left := func(s *Story, id string) { s.Notes(InboxEntry{Kind: EntryNestedLeft, Agent: id}) }
	seen := func(s *Story, id string) { s.Notes(InboxEntry{Kind: EntryNestedSeen, Agent: id}) }
	turn := func(s *Story, _ string) { s.turnEnds() }
	gate := func(s *Story, _ string) { s.Do(GateAsked{Agent: Root, Launch: 1, Request: "gate"}) }
	behind := func(s *Story, _ string) {
		s.Do(GateAsked{Agent: Root, Launch: 1, Request: "gate",
			Background: []checkpoints.Task{{Name: "shell: claude-supervise run"}}})
		s.Do(TurnEnded{Agent: Root, Launch: 1})
	}
	over := func(s *Story, _ string) { s.Do(BackgroundChanged{Agent: Root, Launch: 1}) }
	dies := func(s *Story, _ string) {
		s.dies(crash())
		s.Rests(true)
	}
	for name, scenario := range map[string]struct {
		steps []func(*Story, string)
		told  int
	}{
		"it tells the end":                              {[]func(*Story, string){ends, seen, turn}, 0},
		"it goes before the end":                        {[]func(*Story, string){left, ends}, 1},
		"it goes as the end comes":                      {[]func(*Story, string){ends, left}, 1},
		"it goes first, and tells all the same":         {[]func(*Story, string){ends, left, seen}, 0},
		"it is killed before the end":                   {[]func(*Story, string){turn, ends}, 1},
		"it is killed after the end":                    {[]func(*Story, string){ends, turn}, 1},
		"it is killed after the end, and the gate asks": {[]func(*Story, string){ends, gate}, 1},
		"its turn is lost":                              {[]func(*Story, string){dies, ends}, 1},
		"its turn is lost after the end":                {[]func(*Story, string){ends, dies}, 1},
		"its turn is lost after it has told":            {[]func(*Story, string){ends, seen, dies}, 1},
		"a later turn is lost":                          {[]func(*Story, string){ends, seen, turn, dies}, 0},
		"it waits in the background":                    {[]func(*Story, string){behind, ends}, 0},
		"it waits in the background, and tells":         {[]func(*Story, string){behind, ends, seen, over}, 0},
		"it says that it has told what has not ended":   {[]func(*Story, string){seen, ends}, 1},
		"two wait, of which one goes and the other tells": {[]func(*Story, string){nestsAgain, left, ends, seen,
			turn}, 0},
		"two wait, of which one tells and one is killed":   {[]func(*Story, string){nestsAgain, ends, seen, turn}, 0},
		"two wait, and the turn ends before either speaks": {[]func(*Story, string){nestsAgain, ends, turn}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := callsFor(t, conf.AutoDelegations)
			id := s.nests(Root, nestedWork)
			for _, step := range scenario.steps {
				step(s, id)
			}
			if n := s.told(id); n != scenario.told {
				t.Errorf("the parent is told %d times by prompts, want %d", n, scenario.told)
			}
		})
	}
}

// The gate lets a turn end because a child's end is still to be told. Told by its client after all, it gives the agent
// no further turn: so that the agent does not end without a report, it is asked for one.
func TestAnAgentWhoseClientTellsAfterTheGateIsAskedForItsReport(t *testing.T) {
	s := callsFor(t, conf.AutoDelegations)
	id := s.nests(Root, nestedWork)
	s.works(id)
	s.Do(GateAsked{Agent: Root, Launch: 1, Request: "gate"})
	s.Notes(InboxEntry{Kind: EntryNestedSeen, Agent: id})
	s.turnEnds()
	if n := s.told(id); n != 0 {
		t.Errorf("its parent is told by a prompt what the client has told")
	}
	if d := s.Delivers(1); !strings.HasPrefix(d.Text,
		"## COMPLETION REPORT WANTED\n\nYou ended your turn without a report.") {
		t.Fatalf("the agent reads:\n%s", d.Text)
	}
	s.turnEnds()
	s.plans("end") // it was asked once
}

const nestedWork = "Count the files."

// nestsAgain starts the same nested run once more.
func nestsAgain(s *Story, id string) {
	s.T.Helper()
	agents, questions := s.State.Agents.Len(), s.State.Questions.Len()
	if s.nests(Root, nestedWork); s.State.Agents.Len() != agents || s.State.Questions.Len() != questions {
		s.T.Fatalf("%s has a twin", id)
	}
}

func TestTheSameNestedRunAgainHasNoTwinWhileTheEarlierLives(t *testing.T) {
	s := callsFor(t, conf.AutoDelegations)
	id := s.nests(Root, nestedWork)
	nestsAgain(s, id)
	if got := s.State.Agents.Get(id).Delegated.Nested.Clients; got != 2 {
		t.Errorf("%d clients wait", got)
	}
	s.works(id)
	nestsAgain(s, id) // its end is not told yet
	s.Notes(InboxEntry{Kind: EntryNestedSeen, Agent: id})
	s.turnEnds()
	if next := s.nests(Root, nestedWork); s.State.Agents.Get(next) == nil {
		t.Error("what has ended and was told is not begun anew")
	}
	if other := s.nests(Root, "Count the folders."); s.State.Agents.Get(other) == nil {
		t.Error("another task is not begun")
	}
}

func TestAPersonDecidesOnANestedRun(t *testing.T) {
	ask := func(t *testing.T) (*Story, string, *Question) {
		s := callsFor(t, conf.AskDelegations)
		id := s.nests(Root, nestedWork)
		open := s.State.Open(Root)
		if len(open) != 1 || open[0].Kind != questions.AskDelegation || open[0].Child != id ||
			!strings.Contains(open[0].Context, nestedWork) {
			t.Fatalf("asked is %+v", open)
		}
		nestsAgain(s, id)
		return s, id, open[0]
	}
	t.Run("approves it", func(t *testing.T) {
		s, id, q := ask(t)
		s.Answers(q.ID, "approve")
		if c := s.State.Agents.Get(id); c == nil || c.Task != nestedWork || c.Delegated.Nested.Clients != 2 {
			t.Fatalf("started is %+v", c)
		}
		if got := s.State.Questions.Get(q.ID).State; got != checkpoints.QuestionDelivered {
			t.Errorf("the question is %s", got)
		}
	})
	t.Run("approves it, and anew where the run is unpacked", func(t *testing.T) {
		s := callsFor(t, conf.AskDelegations, func(c *conf.Config) { c.Worktree = true })
		id := s.nests(Root, nestedWork)
		q := s.State.Open(Root)[0].ID
		s.Answers(q, "approve") // its folder is made ready still
		s.Do(Packed{File: "r.pack"})
		s.Do(Unpacked{From: "/work", Cwd: "/there", Config: s.State.Config})
		s.Do(Opened{PID: 3, Waker: "/tmp/wake-up", Policy: conf.Ask})
		s.Answers(q, "approve")
		if c := s.State.Agents.Get(id); c == nil || c.HasClients() {
			t.Errorf("started is %+v, and a client is waited for that is gone", c)
		}
	})
	t.Run("changes it", func(t *testing.T) {
		s, id, q := ask(t)
		s.Answers(q.ID, "approve Count the Go files.")
		if c := s.State.Agents.Get(id); c == nil || c.Task != "Count the Go files." {
			t.Fatalf("started is %+v", c)
		}
		if other := s.nests(Root, nestedWork); s.State.Agents.Get(other) != nil {
			t.Error("the same command has a twin now")
		}
	})
	t.Run("denies it, and the client tells so", func(t *testing.T) {
		s, id, q := ask(t)
		s.Answers(q.ID, "deny not now instead: continue")
		s.Notes(InboxEntry{Kind: EntryNestedSeen, Agent: id, Value: questions.WhyDenied("deny not now instead: continue", "a test")})
		s.turnEnds()
		if s.State.Agents.Get(id) != nil ||
			slices.ContainsFunc(s.prompts(), func(p string) bool { return strings.Contains(p, "DENIED") }) ||
			len(s.State.Agents.Get(Root).Outbox) > 0 || s.State.Questions.Get(q.ID).State != checkpoints.QuestionDelivered {
			t.Error("it is told twice, or started")
		}
	})
	t.Run("denies it, and changes why while the client tells", func(t *testing.T) {
		s, id, q := ask(t)
		s.Answers(q.ID, "deny not now")
		_, asked := s.State.NestedFor(&records.NestedRequest{Agent: id, Caller: records.Caller{Agent: Root}})
		told := questions.WhyDenied(asked.Answer, asked.AnsweredBy)
		s.Notes(InboxEntry{Kind: EntryChange, Question: q.ID, Value: "deny it is done already"},
			InboxEntry{Kind: EntryNestedSeen, Agent: id, Value: told})
		s.turnEnds()
		if d := s.Delivers(1); !strings.Contains(d.Text, "## DELEGATION DENIED") ||
			!strings.Contains(d.Text, "Reason: it is done already") {
			t.Errorf("the agent reads %q", d.Text)
		}
	})
	for name, gone := range map[string]func(*Story, string){
		"denies it once the client has gone": func(s *Story, id string) {
			s.Notes(InboxEntry{Kind: EntryNestedLeft, Agent: id})
			s.Notes(InboxEntry{Kind: EntryNestedLeft, Agent: id})
		},
		"denies it after the turn": func(s *Story, _ string) { s.turnEnds() },
	} {
		t.Run(name, func(t *testing.T) {
			s, id, q := ask(t)
			gone(s, id)
			s.Answers(q.ID, "deny not now instead: continue")
			if s.State.Launch(Root).Phase.InTurn() {
				s.turnEnds()
			}
			if d := s.Delivers(1); !strings.Contains(d.Text, "## DELEGATION DENIED") ||
				!strings.Contains(d.Text, "Reason: not now") {
				t.Errorf("the agent reads %q", d.Text)
			}
		})
	}
}

func TestANestedRunIsRefusedByTheLimitsAndLeavesNoRecord(t *testing.T) {
	for name, scenario := range map[string]struct {
		change func(*conf.Config)
		before func(*Story)
		task   string
		why    string
	}{
		"by the policy": {func(c *conf.Config) { c.Delegate = conf.Delegates{conf.DenyDelegations} }, nil, nestedWork,
			"--delegate deny"},
		"by the depth": {func(c *conf.Config) { c.MaxDepth, c.Delegate = 1, conf.Delegates{conf.AutoDelegations} },
			(*Story).goesDown, nestedWork, "--max-depth"},
		"by their number":  {func(c *conf.Config) { c.MaxAgents = 1 }, nil, nestedWork, "--max-agents"},
		"for its own task": {nil, nil, "choose a  Database", "task of yourself"},
		"without a task":   {nil, nil, "", "names no task"},
		"in an agent that is stopped": {nil, func(s *Story) { s.Notes(InboxEntry{Kind: EntryStop}) }, nestedWork,
			"is being stopped by a test"},
		"in one that has ended": {nil, func(s *Story) {
			s.Notes(InboxEntry{Kind: EntryStop})
			s.dies(crash())
			s.Rests(true)
		}, nestedWork, "has ended (stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			s := callsFor(t, conf.AutoDelegations, func(c *conf.Config) {
				if scenario.change != nil {
					scenario.change(c)
				}
			})
			if scenario.before != nil {
				scenario.before(s)
			}
			caller := s.deepest()
			agents, questions := s.State.Agents.Len(), s.State.Questions.Len()
			s.nestsFrom(caller.ID, 1, scenario.task, true)
			if s.State.Agents.Len() != agents || s.State.Questions.Len() != questions {
				t.Error("something was started, or is asked")
			}
			if why := s.State.NestedRefused(caller, task.Work{Task: scenario.task}.Usual()); !strings.Contains(why,
				scenario.why) {
				t.Errorf("the client says %q", why)
			}
		})
	}
}

// goesDown starts an agent below the root.
func (s *Story) goesDown() { s.startsWork(s.nests(Root, "Count, and have others count.")) }

func (s *Story) deepest() *Agent {
	all := s.State.AllAgents()
	return all[len(all)-1]
}

func TestNotesThatNoClientLeavesChangeNothing(t *testing.T) {
	s := callsFor(t, conf.AutoDelegations)
	id := s.nests(Root, nestedWork)
	before := s.State
	nest := ask.Nesting{Agent: "a-other", Launch: 1, Waits: true, Work: task.Work{Task: "Another."}}
	with := func(change func(*ask.Nesting)) []byte {
		n := nest
		change(&n)
		return text.JSON(n)
	}
	for name, n := range map[string]InboxEntry{
		"no document":    {Kind: ask.EntryNested, Agent: Root},
		"no JSON":        {Kind: ask.EntryNested, Agent: Root, Doc: []byte(`"x"`)},
		"no such caller": {Kind: ask.EntryNested, Agent: "a-nobody", Doc: text.JSON(nest)},
		"an id that is a path": {Kind: ask.EntryNested, Agent: Root,
			Doc: with(func(n *ask.Nesting) { n.Agent = "a-/../../x" })},
		"the id of a run":     {Kind: ask.EntryNested, Agent: Root, Doc: with(func(n *ask.Nesting) { n.Agent = RunID })},
		"an id that is taken": {Kind: ask.EntryNested, Agent: Root, Doc: with(func(n *ask.Nesting) { n.Agent = id })},
		"the root's id":       {Kind: ask.EntryNested, Agent: Root, Doc: with(func(n *ask.Nesting) { n.Agent = Root })},
		"a fork":              {Kind: ask.EntryNested, Agent: Root, Doc: with(func(n *ask.Nesting) { n.Work.Fork = true })},
		"a continuation":      {Kind: ask.EntryNested, Agent: Root, Doc: with(func(n *ask.Nesting) { n.Work.Resume = id })},
		"one after others": {Kind: ask.EntryNested, Agent: Root,
			Doc: with(func(n *ask.Nesting) { n.Work.Said.After = []string{"a-nobody"} })},
		"a flag for a model": {Kind: ask.EntryNested, Agent: Root,
			Doc: with(func(n *ask.Nesting) { n.Work.Said.Model = "--x" })},
		"a kind of agent": {Kind: ask.EntryNested, Agent: Root,
			Doc: with(func(n *ask.Nesting) { n.Work.Said.Type = "x" })},
		"a task of a pool": {Kind: ask.EntryNested, Agent: Root,
			Doc: with(func(n *ask.Nesting) { n.Work.Said.Item = "x" })},
		"a budget of its own": {Kind: ask.EntryNested, Agent: Root,
			Doc: with(func(n *ask.Nesting) { n.Work.Budget.Turns = 1 })},
		"more than can be kept": {Kind: ask.EntryNested, Agent: Root,
			Doc: with(func(n *ask.Nesting) { n.Work.Task = strings.Repeat("x", ask.MaxNesting) })},
		"seen, of nobody":   {Kind: EntryNestedSeen, Agent: "a-nobody"},
		"seen, of the root": {Kind: EntryNestedSeen, Agent: Root},
		"left, of the root": {Kind: EntryNestedLeft, Agent: Root},
	} {
		t.Run(name, func(t *testing.T) {
			s.notesNamed(n)
			if s.State.Agents.Len() != before.Agents.Len() || s.State.Questions.Len() != before.Questions.Len() ||
				s.State.Agents.Get(id).Delegated.Nested.Clients != 1 {
				t.Errorf("it changes the records: %v", s.State.Agents)
			}
		})
	}
}

func TestALoopOfNestedRunsIsBounded(t *testing.T) {
	for policy, most := range map[conf.Delegate][2]int{ // agents, questions
		conf.AutoDelegations: {conf.DefaultMaxAgents, 0}, conf.AskDelegations: {1, maxUndecided}, conf.DenyDelegations: {1,
			0},
	} {
		t.Run(string(policy), func(t *testing.T) {
			s := callsFor(t, policy)
			for i := range 3 * maxUndecided {
				s.nests(Root, fmt.Sprintf("Count %d.", i))
			}
			if got := [2]int{s.State.Agents.Len(), s.State.Questions.Len()}; got != most {
				t.Errorf("there are %d agents and %d questions, want %v", got[0], got[1], most)
			}
		})
	}
}

func TestAnAgentThatWaitsInANestedRunLendsItsSlot(t *testing.T) {
	s := callsFor(t, conf.AutoDelegations, func(c *conf.Config) { c.MaxParallel = 1 })
	first := s.nests(Root, nestedWork)
	s.startsWork(first)
	second := s.nests(first, "Count deeper.")
	s.plans("launch " + second)
	third := s.nests(Root, "Count beside.")
	s.plansNot("launch " + third) // one slot is lent by an agent, however many runs it waits for
	s.works(second)
	s.Notes(InboxEntry{Kind: EntryNestedSeen, Agent: second})
	s.plansNot("launch " + third)
}

// The note may be read after the turn in which the run was started: nothing else would bring the agent to wait for it.
func TestAnAgentThatHasReportedLendsItsSlotToItsNestedRun(t *testing.T) {
	s := callsFor(t, conf.AutoDelegations, func(c *conf.Config) { c.MaxParallel = 1 })
	s.reports("success", "")
	s.turnEnds()
	s.plans("check " + Root)
	id := s.nests(Root, "Count the files.")
	if a := s.State.Agents.Get(Root); a.Status != checkpoints.Blocked {
		t.Errorf("it is %s (%s)", a.Status, a.Reason)
	}
	s.plans("launch " + id)
}

func TestAnAgentWhoseNestedRunWaitsElsewhereKeepsItsSlot(t *testing.T) {
	for name, waits := range map[string]func(*Story) string{
		"nobody waits":            func(s *Story) string { return s.nestsFrom(Root, 1, nestedWork, false) },
		"an earlier launch waits": func(s *Story) string { return s.nestsFrom(Root, 7, nestedWork, true) },
	} {
		t.Run(name, func(t *testing.T) {
			s := callsFor(t, conf.AutoDelegations, func(c *conf.Config) { c.MaxParallel = 1 })
			id := waits(s)
			if got := s.State.Agents.Get(id).Status; got != checkpoints.Queued {
				t.Errorf("it is %s", got)
			}
			s.turnEnds() // the agent waits for its child, and lends its slot
			s.plans("launch " + id)
		})
	}
}

func TestAnAgentThatWaitsInANestedRunIsNotSilent(t *testing.T) {
	s := callsFor(t, conf.AutoDelegations, func(c *conf.Config) { c.SilentAfter = conf.DefaultSilentAfter })
	s.plans("watch " + Root)
	id := s.nests(Root, nestedWork)
	s.plansNot("watch " + Root)
	s.plans("launch " + id)
}

func TestANestedRunIsPartOfTheSubtreeThatIsStopped(t *testing.T) {
	s := callsFor(t, conf.AutoDelegations)
	id := s.nests(Root, nestedWork)
	s.startsWork(id)
	s.Notes(InboxEntry{Kind: EntryStop, Agent: Root})
	for _, agent := range []string{Root, id} {
		if l := s.State.Launch(agent); l.End != endStop {
			t.Errorf("%s is not stopped: %+v", agent, l)
		}
	}
}

func TestANestedRunWorksInAFolderOfItsCallerOnly(t *testing.T) {
	for cwd, want := range map[string]string{"": "", "/work/sub": "/work/sub", "/work": "/work",
		"/": "", "/work/../etc": "", "/workshop": "", "sub": ""} {
		s := callsFor(t, conf.AutoDelegations)
		s.notesNamed(InboxEntry{Kind: ask.EntryNested, Agent: Root,
			Doc: text.JSON(ask.Nesting{Agent: nestedID, Launch: 1, Work: task.Work{Task: nestedWork, Cwd: cwd}})})
		if got := s.State.Agents.Get(nestedID).Cwd; got != want {
			t.Errorf("%q: it works in %q, want %q", cwd, got, want)
		}
	}
}

func FuzzANestedNote(f *testing.F) {
	f.Add([]byte(`{"Agent":"a-x","Launch":1,"Waits":true,"Work":{"Task":"t","Priority":"P0","Said":{"name":"n"}}}`))
	f.Add([]byte(`{"Agent":"a-..","Work":{"Resume":"a-y"}}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		nest, ok := ask.NestingIn(InboxEntry{Kind: ask.EntryNested, Doc: doc})
		if !ok {
			return
		}
		again, ok := ask.NestingIn(InboxEntry{Kind: ask.EntryNested, Doc: text.JSON(nest)})
		if !ok || again.Fingerprint() != nest.Fingerprint() || again.Agent != nest.Agent {
			t.Errorf("%q is read as %+v, and written and read again as %+v, %v", doc, nest, again, ok)
		}
	})
}
