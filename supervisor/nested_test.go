package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
)

const nestedID = "a-nestednested"

// callsFor begins a story in which the agent is in a turn, under a policy for delegations.
func callsFor(t *testing.T, policy Delegate, change ...func(*Config)) *story {
	t.Helper()
	return begin(t, func(c *Config) {
		c.Delegate, c.MaxDepth, c.MaxAgents = Delegates{policy}, DefaultMaxDepth, DefaultMaxAgents
		for _, f := range change {
			f(c)
		}
	})
}

// nests leaves the note of a run inside the agent that caller names, and gives the id that it asks for.
func (s *story) nests(caller, task string) string {
	s.t.Helper()
	return s.nestsFrom(caller, s.state.launch(caller).N, task, true)
}

func (s *story) nestsFrom(caller string, launch int, task string, waits bool) string {
	s.t.Helper()
	id := fmt.Sprintf("%s%d", nestedID, s.state.Taken+1)
	s.notesNamed(Note{Kind: noteNested, Agent: caller, Doc: encode(nesting{Agent: id, Launch: launch, Waits: waits, Work: Work{Task: task}.usual()})})
	return id
}

// notesNamed leaves a note, with what the engine names for it.
func (s *story) notesNamed(n Note) {
	s.t.Helper()
	n.Seq, n.By, n.At = s.state.Taken+1, "a test", s.at
	s.do(Noted{Notes: []Note{n}, Named: NotesNamed{n.Seq: {IDs: []string{fmt.Sprintf("q-nest%d", n.Seq)}}}})
}

// works plays the whole life of an agent that reports, up to the end of its process.
func (s *story) works(agent string) {
	s.t.Helper()
	s.startsWork(agent)
	n := s.state.launch(agent).N
	s.do(Heard{Agent: agent, Launch: n, Named: Named{Signal: signals.Signal{Kind: signals.Completion, AgentID: agent, Fields: []signals.Field{
		{Name: "status", Value: "success"}, {Name: "summary", Value: "Counted: 42."},
	}}}})
	s.do(TurnEnded{Agent: agent, Launch: n})
	s.do(Checked{Agent: agent})
	for _, d := range s.state.deliveries(agent, waitsForReceipt) {
		s.do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	}
	s.do(Ended{Agent: agent, Launch: n, Outcome: "exit 0"})
}

func (s *story) startsWork(agent string) {
	s.t.Helper()
	s.plans("launch " + agent)
	n := s.state.launch(agent).N
	s.do(Started{Agent: agent, Launch: n, PID: 500, StartTicks: 5})
	for _, d := range s.state.deliveries(agent, undelivered) {
		s.do(Sent{UUID: d.UUID, Launch: n})
		s.do(Received{UUID: d.UUID, State: checkpoints.DeliveryStarted})
	}
	s.do(TurnBegun{Agent: agent, Launch: n})
}

// told counts how often the agent is told, or is about to be, that another has ended.
func (s *story) told(of string) (times int) {
	heading := "## DELEGATED WORK ENDED\n\nAgent: " + of
	for _, say := range s.state.Agents[root].Sayings {
		times += strings.Count(say.Text, heading)
	}
	for _, d := range s.state.deliveries(root, func(d *Delivery) bool { return d.State != checkpoints.DeliveryDropped }) {
		times += strings.Count(d.Text, heading)
	}
	return times
}

func TestANestedRunIsAChildOfTheAgentThatStartedIt(t *testing.T) {
	s := callsFor(t, AutoDelegations)
	id := s.nests(root, "Count the files.")
	c := s.state.Agents[id]
	if c == nil || c.Parent != root || c.Depth != 1 || c.Task != "Count the files." || c.Status.Ended() {
		t.Fatalf("the nested agent is %+v", c)
	}
	s.works(id)
	if got := s.state.Agents[id].Status; got != checkpoints.Succeeded {
		t.Fatalf("it is %s", got)
	}
	if n := s.told(id); n != 0 {
		t.Errorf("its parent is told by a prompt, though a client waits")
	}
	s.notes(Note{Kind: noteNestedSeen, Agent: id})
	s.reports("success", "")
	s.turnEnds()
	if n := s.told(id); n != 0 {
		t.Errorf("its parent is told by a prompt what the client has told")
	}
	s.do(Checked{Agent: root})
	s.ends()
	s.is(checkpoints.Succeeded)
}

func TestTheEndOfANestedRunIsToldOnceWhateverBecomesOfItsClient(t *testing.T) {
	ends := func(s *story, id string) { s.works(id) }
	left := func(s *story, id string) { s.notes(Note{Kind: noteNestedLeft, Agent: id}) }
	seen := func(s *story, id string) { s.notes(Note{Kind: noteNestedSeen, Agent: id}) }
	turn := func(s *story, _ string) { s.turnEnds() }
	gate := func(s *story, _ string) { s.do(GateAsked{Agent: root, Launch: 1, Request: "gate"}) }
	behind := func(s *story, _ string) {
		s.do(GateAsked{Agent: root, Launch: 1, Request: "gate", Background: []checkpoints.Task{{Name: "shell: claude-supervise run"}}})
		s.do(TurnEnded{Agent: root, Launch: 1})
	}
	over := func(s *story, _ string) { s.do(BackgroundChanged{Agent: root, Launch: 1}) }
	dies := func(s *story, _ string) {
		s.dies(crash())
		s.rests(true)
	}
	for name, tale := range map[string]struct {
		steps []func(*story, string)
		told  int
	}{
		"it tells the end":                                 {[]func(*story, string){ends, seen, turn}, 0},
		"it goes before the end":                           {[]func(*story, string){left, ends}, 1},
		"it goes as the end comes":                         {[]func(*story, string){ends, left}, 1},
		"it goes first, and tells all the same":            {[]func(*story, string){ends, left, seen}, 0},
		"it is killed before the end":                      {[]func(*story, string){turn, ends}, 1},
		"it is killed after the end":                       {[]func(*story, string){ends, turn}, 1},
		"it is killed after the end, and the gate asks":    {[]func(*story, string){ends, gate}, 1},
		"its turn is lost":                                 {[]func(*story, string){dies, ends}, 1},
		"its turn is lost after the end":                   {[]func(*story, string){ends, dies}, 1},
		"its turn is lost after it has told":               {[]func(*story, string){ends, seen, dies}, 1},
		"a later turn is lost":                             {[]func(*story, string){ends, seen, turn, dies}, 0},
		"it waits in the background":                       {[]func(*story, string){behind, ends}, 0},
		"it waits in the background, and tells":            {[]func(*story, string){behind, ends, seen, over}, 0},
		"it says that it has told what has not ended":      {[]func(*story, string){seen, ends}, 1},
		"two wait, of which one goes and the other tells":  {[]func(*story, string){nestsAgain, left, ends, seen, turn}, 0},
		"two wait, of which one tells and one is killed":   {[]func(*story, string){nestsAgain, ends, seen, turn}, 0},
		"two wait, and the turn ends before either speaks": {[]func(*story, string){nestsAgain, ends, turn}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := callsFor(t, AutoDelegations)
			id := s.nests(root, nestedWork)
			for _, step := range tale.steps {
				step(s, id)
			}
			if n := s.told(id); n != tale.told {
				t.Errorf("the parent is told %d times by prompts, want %d", n, tale.told)
			}
		})
	}
}

// The gate lets a turn end because a child's end is still to be told. Told by its client after all, it gives the agent no further turn:
// so that the agent does not end without a report, it is asked for one.
func TestAnAgentWhoseClientTellsAfterTheGateIsAskedForItsReport(t *testing.T) {
	s := callsFor(t, AutoDelegations)
	id := s.nests(root, nestedWork)
	s.works(id)
	s.do(GateAsked{Agent: root, Launch: 1, Request: "gate"})
	s.notes(Note{Kind: noteNestedSeen, Agent: id})
	s.turnEnds()
	if n := s.told(id); n != 0 {
		t.Errorf("its parent is told by a prompt what the client has told")
	}
	if d := s.delivers(1); !strings.HasPrefix(d.Text, "## COMPLETION REPORT WANTED\n\nYou ended your turn without a report.") {
		t.Fatalf("the agent reads:\n%s", d.Text)
	}
	s.turnEnds()
	s.plans("end") // it was asked once
}

const nestedWork = "Count the files."

// nestsAgain starts the same nested run once more.
func nestsAgain(s *story, id string) {
	s.t.Helper()
	agents, questions := len(s.state.Agents), len(s.state.Questions)
	if s.nests(root, nestedWork); len(s.state.Agents) != agents || len(s.state.Questions) != questions {
		s.t.Fatalf("%s has a twin", id)
	}
}

func TestTheSameNestedRunAgainHasNoTwinWhileTheEarlierLives(t *testing.T) {
	s := callsFor(t, AutoDelegations)
	id := s.nests(root, nestedWork)
	nestsAgain(s, id)
	if got := s.state.Agents[id].Delegated.Nested.Clients; got != 2 {
		t.Errorf("%d clients wait", got)
	}
	s.works(id)
	nestsAgain(s, id) // its end is not told yet
	s.notes(Note{Kind: noteNestedSeen, Agent: id})
	s.turnEnds()
	if next := s.nests(root, nestedWork); s.state.Agents[next] == nil {
		t.Error("what has ended and was told is not begun anew")
	}
	if other := s.nests(root, "Count the folders."); s.state.Agents[other] == nil {
		t.Error("another task is not begun")
	}
}

func TestAPersonDecidesOnANestedRun(t *testing.T) {
	ask := func(t *testing.T) (*story, string, *Question) {
		s := callsFor(t, AskDelegations)
		id := s.nests(root, nestedWork)
		open := s.state.open(root)
		if len(open) != 1 || open[0].Kind != checkpoints.AskDelegation || open[0].Child != id || !strings.Contains(open[0].Context, nestedWork) {
			t.Fatalf("asked is %+v", open)
		}
		nestsAgain(s, id)
		return s, id, open[0]
	}
	t.Run("approves it", func(t *testing.T) {
		s, id, q := ask(t)
		s.answers(q.ID, "approve")
		if c := s.state.Agents[id]; c == nil || c.Task != nestedWork || c.Delegated.Nested.Clients != 2 {
			t.Fatalf("started is %+v", c)
		}
		if got := s.state.Questions[q.ID].State; got != checkpoints.QuestionDelivered {
			t.Errorf("the question is %s", got)
		}
	})
	t.Run("changes it", func(t *testing.T) {
		s, id, q := ask(t)
		s.answers(q.ID, "approve Count the Go files.")
		if c := s.state.Agents[id]; c == nil || c.Task != "Count the Go files." {
			t.Fatalf("started is %+v", c)
		}
		if other := s.nests(root, nestedWork); s.state.Agents[other] != nil {
			t.Error("the same command has a twin now")
		}
	})
	t.Run("denies it, and the client tells so", func(t *testing.T) {
		s, id, q := ask(t)
		s.answers(q.ID, "deny not now instead: go on")
		s.notes(Note{Kind: noteNestedSeen, Agent: id})
		s.turnEnds()
		if s.state.Agents[id] != nil || slices.ContainsFunc(s.prompts(), func(p string) bool { return strings.Contains(p, "DENIED") }) ||
			len(s.state.Agents[root].Sayings) > 0 || s.state.Questions[q.ID].State != checkpoints.QuestionDelivered {
			t.Error("it is told twice, or started")
		}
	})
	for name, gone := range map[string]func(*story, string){
		"denies it once the client has gone": func(s *story, id string) {
			s.notes(Note{Kind: noteNestedLeft, Agent: id})
			s.notes(Note{Kind: noteNestedLeft, Agent: id})
		},
		"denies it after the turn": func(s *story, _ string) { s.turnEnds() },
	} {
		t.Run(name, func(t *testing.T) {
			s, id, q := ask(t)
			gone(s, id)
			s.answers(q.ID, "deny not now instead: go on")
			if s.state.launch(root).Turn {
				s.turnEnds()
			}
			if d := s.delivers(1); !strings.Contains(d.Text, "## DELEGATION DENIED") || !strings.Contains(d.Text, "Reason: not now") {
				t.Errorf("the agent reads %q", d.Text)
			}
		})
	}
}

func TestANestedRunIsRefusedByTheLimitsAndLeavesNoRecord(t *testing.T) {
	for name, tale := range map[string]struct {
		change func(*Config)
		before func(*story)
		task   string
		why    string
	}{
		"by the policy":               {func(c *Config) { c.Delegate = Delegates{DenyDelegations} }, nil, nestedWork, "--delegate deny"},
		"by the depth":                {func(c *Config) { c.MaxDepth, c.Delegate = 1, Delegates{AutoDelegations} }, (*story).goesDown, nestedWork, "--max-depth"},
		"by their number":             {func(c *Config) { c.MaxAgents = 1 }, nil, nestedWork, "--max-agents"},
		"for its own task":            {nil, nil, "choose a  Database", "task of yourself"},
		"without a task":              {nil, nil, "", "names no task"},
		"in an agent that is stopped": {nil, func(s *story) { s.notes(Note{Kind: noteStop}) }, nestedWork, "is being stopped by a test"},
		"in one that has ended": {nil, func(s *story) {
			s.notes(Note{Kind: noteStop})
			s.dies(crash())
			s.rests(true)
		}, nestedWork, "has ended (stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			s := callsFor(t, AutoDelegations, func(c *Config) {
				if tale.change != nil {
					tale.change(c)
				}
			})
			if tale.before != nil {
				tale.before(s)
			}
			caller := s.deepest()
			agents, questions := len(s.state.Agents), len(s.state.Questions)
			s.nestsFrom(caller.ID, 1, tale.task, true)
			if len(s.state.Agents) != agents || len(s.state.Questions) != questions {
				t.Error("something was started, or is asked")
			}
			if why := s.state.nestedRefused(caller, Work{Task: tale.task}.usual()); !strings.Contains(why, tale.why) {
				t.Errorf("the client says %q", why)
			}
		})
	}
}

// goesDown starts an agent below the root.
func (s *story) goesDown() { s.startsWork(s.nests(root, "Count, and have others count.")) }

func (s *story) deepest() *Agent {
	all := s.state.agents()
	return all[len(all)-1]
}

func TestNotesThatNoClientLeavesChangeNothing(t *testing.T) {
	s := callsFor(t, AutoDelegations)
	id := s.nests(root, nestedWork)
	before := s.state
	nest := nesting{Agent: "a-other", Launch: 1, Waits: true, Work: Work{Task: "Another."}}
	with := func(change func(*nesting)) []byte {
		n := nest
		change(&n)
		return encode(n)
	}
	for name, n := range map[string]Note{
		"no document":           {Kind: noteNested, Agent: root},
		"no JSON":               {Kind: noteNested, Agent: root, Doc: []byte(`"x"`)},
		"no such caller":        {Kind: noteNested, Agent: "a-nobody", Doc: encode(nest)},
		"an id that is a path":  {Kind: noteNested, Agent: root, Doc: with(func(n *nesting) { n.Agent = "a-/../../x" })},
		"the id of a run":       {Kind: noteNested, Agent: root, Doc: with(func(n *nesting) { n.Agent = runID })},
		"an id that is taken":   {Kind: noteNested, Agent: root, Doc: with(func(n *nesting) { n.Agent = id })},
		"the root's id":         {Kind: noteNested, Agent: root, Doc: with(func(n *nesting) { n.Agent = root })},
		"a fork":                {Kind: noteNested, Agent: root, Doc: with(func(n *nesting) { n.Work.Fork = true })},
		"a continuation":        {Kind: noteNested, Agent: root, Doc: with(func(n *nesting) { n.Work.Resume = id })},
		"one after others":      {Kind: noteNested, Agent: root, Doc: with(func(n *nesting) { n.Work.Said.After = []string{"a-nobody"} })},
		"a flag for a model":    {Kind: noteNested, Agent: root, Doc: with(func(n *nesting) { n.Work.Said.Model = "--x" })},
		"a kind of agent":       {Kind: noteNested, Agent: root, Doc: with(func(n *nesting) { n.Work.Said.Type = "x" })},
		"a task of a pool":      {Kind: noteNested, Agent: root, Doc: with(func(n *nesting) { n.Work.Said.Item = "x" })},
		"a budget of its own":   {Kind: noteNested, Agent: root, Doc: with(func(n *nesting) { n.Work.Budget.Turns = 1 })},
		"more than can be kept": {Kind: noteNested, Agent: root, Doc: with(func(n *nesting) { n.Work.Task = strings.Repeat("x", maxNesting) })},
		"seen, of nobody":       {Kind: noteNestedSeen, Agent: "a-nobody"},
		"seen, of the root":     {Kind: noteNestedSeen, Agent: root},
		"left, of the root":     {Kind: noteNestedLeft, Agent: root},
	} {
		t.Run(name, func(t *testing.T) {
			s.notesNamed(n)
			if len(s.state.Agents) != len(before.Agents) || len(s.state.Questions) != len(before.Questions) ||
				s.state.Agents[id].Delegated.Nested.Clients != 1 {
				t.Errorf("it changes the records: %v", s.state.Agents)
			}
		})
	}
}

func TestALoopOfNestedRunsIsBounded(t *testing.T) {
	for policy, most := range map[Delegate][2]int{ // agents, questions
		AutoDelegations: {DefaultMaxAgents, 0}, AskDelegations: {1, maxUndecided}, DenyDelegations: {1, 0},
	} {
		t.Run(string(policy), func(t *testing.T) {
			s := callsFor(t, policy)
			for i := range 3 * maxUndecided {
				s.nests(root, fmt.Sprintf("Count %d.", i))
			}
			if got := [2]int{len(s.state.Agents), len(s.state.Questions)}; got != most {
				t.Errorf("there are %d agents and %d questions, want %v", got[0], got[1], most)
			}
		})
	}
}

func TestAnAgentThatWaitsInANestedRunLendsItsSlot(t *testing.T) {
	s := callsFor(t, AutoDelegations, func(c *Config) { c.MaxParallel = 1 })
	first := s.nests(root, nestedWork)
	s.startsWork(first)
	second := s.nests(first, "Count deeper.")
	s.plans("launch " + second)
	third := s.nests(root, "Count beside.")
	s.plansNot("launch " + third) // one slot is lent by an agent, however many runs it waits for
	s.works(second)
	s.notes(Note{Kind: noteNestedSeen, Agent: second})
	s.plansNot("launch " + third)
}

func TestAnAgentWhoseNestedRunWaitsElsewhereKeepsItsSlot(t *testing.T) {
	for name, waits := range map[string]func(*story) string{
		"nobody waits":            func(s *story) string { return s.nestsFrom(root, 1, nestedWork, false) },
		"an earlier launch waits": func(s *story) string { return s.nestsFrom(root, 7, nestedWork, true) },
	} {
		t.Run(name, func(t *testing.T) {
			s := callsFor(t, AutoDelegations, func(c *Config) { c.MaxParallel = 1 })
			id := waits(s)
			if got := s.state.Agents[id].Status; got != checkpoints.Queued {
				t.Errorf("it is %s", got)
			}
			s.turnEnds() // the agent waits for its child, and lends its slot
			s.plans("launch " + id)
		})
	}
}

func TestAnAgentThatWaitsInANestedRunIsNotSilent(t *testing.T) {
	s := callsFor(t, AutoDelegations, func(c *Config) { c.SilentAfter = DefaultSilentAfter })
	s.plans("watch " + root)
	id := s.nests(root, nestedWork)
	s.plansNot("watch " + root)
	s.plans("launch " + id)
}

func TestANestedRunIsPartOfTheSubtreeThatIsStopped(t *testing.T) {
	s := callsFor(t, AutoDelegations)
	id := s.nests(root, nestedWork)
	s.startsWork(id)
	s.notes(Note{Kind: noteStop, Agent: root})
	for _, agent := range []string{root, id} {
		if l := s.state.launch(agent); l.End != endStop {
			t.Errorf("%s is not stopped: %+v", agent, l)
		}
	}
}

func TestANestedRunWorksInAFolderOfItsCallerOnly(t *testing.T) {
	for cwd, want := range map[string]string{"": "", "/work/sub": "/work/sub", "/work": "/work", "/": "", "/work/../etc": "", "/workshop": "", "sub": ""} {
		s := callsFor(t, AutoDelegations)
		s.notesNamed(Note{Kind: noteNested, Agent: root, Doc: encode(nesting{Agent: nestedID, Launch: 1, Work: Work{Task: nestedWork, Cwd: cwd}})})
		if got := s.state.Agents[nestedID].Cwd; got != want {
			t.Errorf("%q: it works in %q, want %q", cwd, got, want)
		}
	}
}

func FuzzANestedNote(f *testing.F) {
	f.Add([]byte(`{"Agent":"a-x","Launch":1,"Waits":true,"Work":{"Task":"t","Priority":"P0","Said":{"name":"n"}}}`))
	f.Add([]byte(`{"Agent":"a-..","Work":{"Resume":"a-y"}}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		nest, ok := nestingIn(Note{Kind: noteNested, Doc: doc})
		if !ok {
			return
		}
		again, ok := nestingIn(Note{Kind: noteNested, Doc: encode(nest)})
		if !ok || again.fingerprint() != nest.fingerprint() || again.Agent != nest.Agent {
			t.Errorf("%q is read as %+v, and written and read again as %+v, %v", doc, nest, again, ok)
		}
	})
}
