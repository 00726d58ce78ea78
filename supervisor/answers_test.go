package supervisor

import (
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/prompts"
)

// Each form of question has its own form of answer. The texts are those that the documents print.
func TestAnAnswerHasTheFormOfItsQuestion(t *testing.T) {
	patterns := []signals.Option{{Label: "Strict RFC 5322 (more secure)"}, {Label: "Lenient (more permissive)"}}
	for name, c := range map[string]struct {
		signal  signals.Signal
		answers []string
		kept    *checkpoints.Kept
		want    []string
	}{
		"block": {
			signals.Signal{
				Kind: signals.Clarification, Dialect: signals.Block,
				Fields: []signals.Field{{Name: "blocked_at", Value: "Analyzing authentication patterns in src/auth/"},
					{Name: "current_state", Value: "Completed secret scanning"}},
				Questions: []signals.Question{{ID: "Q1", Text: "OAuth2, JWT, or both?"}, {ID: "Q2", Text: "2.0 or 3.0?"}},
			},
			[]string{"both", "3.0"}, nil,
			[]string{"## CLARIFICATION RESPONSE\n", "Q1: OAuth2, JWT, or both?\nA1: both\n", "Q2: 2.0 or 3.0?\nA2: 3.0\n",
				"## RESUME INSTRUCTIONS\nContinue from: Analyzing authentication patterns in src/auth/\nCurrent state: Completed " +
					"secret scanning\n"},
		},
		"awaiting": {
			signals.Signal{
				Kind: signals.Clarification, Dialect: signals.Awaiting,
				Fields:    []signals.Field{{Name: "state_file", Value: "/home/user/mutation-agent.md"}},
				Questions: []signals.Question{{ID: "q1", Text: "Create individual fix tasks?", Header: "Mutants"}},
			},
			[]string{"Yes - create tasks"}, nil,
			[]string{"USER_INPUT_RESPONSE\n{\"q1\": \"Yes - create tasks\"}\n\nContinue from state file: " +
				"/home/user/mutation-agent.md\n", "q1: Create individual fix tasks?\nAnswer: Yes - create tasks\n"},
		},
		"awaiting, its state file gone": {
			signals.Signal{
				Kind: signals.Clarification, Dialect: signals.Awaiting,
				Fields:    []signals.Field{{Name: "state_file", Value: "/tmp/gone.md"}},
				Questions: []signals.Question{{ID: "q1", Text: "Which?"}},
			},
			[]string{"this"}, &checkpoints.Kept{Path: "/tmp/gone.md", Copy: "a.kept", Hand: "/state/a.kept"},
			[]string{"Continue from state file: /state/a.kept\n"},
		},
		"paused": {
			signals.Signal{
				Kind: signals.Clarification, Dialect: signals.Paused,
				Fields:    []signals.Field{{Name: "state_file", Value: "/tmp/agent-pause-state.json"}},
				Questions: []signals.Question{{ID: "Q1", Text: "Which should be standard?", Options: patterns}},
			},
			[]string{"Lenient (more permissive)"}, nil,
			[]string{"Question: Which should be standard?\nAnswer: Lenient (more permissive)\nLetter: B\n",
				"Continue from state file: /tmp/agent-pause-state.json"},
		},
		"escalated": {
			signals.Signal{
				Kind: signals.Clarification, Dialect: signals.Escalated,
				Fields:    []signals.Field{{Name: "question_id", Value: "workflow_1_q1"}},
				Questions: []signals.Question{{ID: "workflow_1_q1", Text: "OAuth or JWT?"}},
			},
			[]string{"oauth"}, &checkpoints.Kept{Path: "/tmp/c.json", Copy: "a.kept", Hand: "/tmp/c.json"},
			[]string{"Resume workflow from checkpoint: /tmp/c.json. User selected: oauth. Continue implementation.\n"},
		},
		"task metadata": {
			signals.Signal{
				Kind: signals.Clarification, Dialect: signals.TaskMetadata,
				Questions: []signals.Question{{ID: "Q1", Text: "Which should be standard?"}},
			},
			[]string{"Lenient validation"}, nil,
			[]string{"User chose: \"Lenient validation\". Continue from where you left off.",
				`"needs_input": false, "user_answer": "Lenient validation", "answered_at": "2026-`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, func(cfg *conf.Config) { cfg.Hold = conf.Forever })
			ids := []string{"q-1", "q-2"}[:len(c.answers)]
			s.Do(SignalRead{Agent: Root, Launch: 1,
				Named: Named{Signal: c.signal, Kept: withoutHand(c.kept), Naming: Naming{IDs: ids}}})
			s.turnEnds()
			for i, answer := range c.answers {
				s.Answers(ids[i], answer)
			}
			if c.kept != nil {
				s.plans("prepare q-1")
				s.Do(Prepared{Question: "q-1", Hand: c.kept.Hand})
			}
			text := s.Delivers(1).Text
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in:\n%s", want, text)
				}
			}
		})
	}
}

func withoutHand(k *checkpoints.Kept) *checkpoints.Kept {
	if k == nil {
		return nil
	}
	c := *k
	c.Hand = ""
	return &c
}

func TestACheckpointThatCannotBeUsedIsToldToThePersonAndTheQuestionStaysOpen(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Hold = conf.Forever })
	s.Do(SignalRead{Agent: Root, Launch: 1, Named: Named{
		Signal: signals.Signal{Kind: signals.Clarification, Dialect: signals.Paused,
			Questions: []signals.Question{{ID: "Q1", Text: "Which?"}}},
		Kept:   &checkpoints.Kept{Path: "/tmp/gone.json", Problem: "/tmp/gone.json is not there"},
		Naming: Naming{IDs: []string{"q-1"}},
	}})
	s.turnEnds()
	if q := s.State.Questions.Get("q-1"); !strings.Contains(q.Context, "/tmp/gone.json is not there") ||
		q.State != checkpoints.QuestionOpen {
		t.Errorf("the question: %+v", q)
	}
	s.Answers("q-1", "this")
	if text := s.Delivers(1).Text; !strings.Contains(text, "Answer: this") {
		t.Errorf("the agent reads:\n%s", text)
	}
}

// execAgent is a run of a command in claude's place, at its first launch.
func execAgent(t *testing.T) *Story {
	s := &Story{T: t}
	s.Do(Created{Run: RunID, Cwd: "/work", Agent: Root, Task: "Choose a database", Config: conf.Config{
		Exec: []string{"/bin/agent", "{}"}, Hold: conf.DefaultHold, MaxHeld: -1, Retries: 2,
	}})
	s.Do(Opened{PID: 1, Waker: "/tmp/wake-up", Policy: conf.Ask})
	s.Do(Started{Agent: Root, Launch: 1, PID: 101, StartTicks: 1})
	t.Cleanup(s.folds)
	return s
}

// commandEnds ends the launch as procs tells of it.
func (s *Story) commandEnds(n int, failure ...string) {
	s.T.Helper()
	s.Do(TurnEnded{Agent: Root, Launch: n})
	b := Ended{Agent: Root, Launch: n, Outcome: "exit 0"}
	if len(failure) > 0 {
		b.Outcome, b.Failure.Kind, b.Failure.Reason = "exit 3", "exited", failure[0]
	}
	s.Do(b)
	s.Do(Surveyed{Agent: Root, Launch: n, Checkpoint: "what it said"})
}

// polled is a question file of an agent's own script, which waits for its answer file.
func (s *Story) polled() {
	s.T.Helper()
	s.Do(FileFound{Agent: Root, Launch: 1, Named: Named{Naming: Naming{IDs: []string{"q-1"}}, Signal: fileSignal("workflow_1_q1")}})
}

func fileSignal(id string) signals.Signal {
	return signals.Signal{
		Kind: signals.Clarification, Dialect: signals.Escalated, AgentID: Root,
		Fields:    []signals.Field{{Name: "question_id", Value: id}},
		Questions: []signals.Question{{ID: id, Text: "OAuth or JWT?"}},
	}
}

func (s *Story) question() *Question { return s.State.Questions.Get("q-1") }

// What a script has taken reaches the model with the result of its call. Killed before that is written, the
// conversation shows nothing of it.
func TestTheAnswerThatAScriptTookIsSaidAgainIfItsCallIsLost(t *testing.T) {
	reported := func(s *Story) { s.reports("success", ""); s.turnEnds() }
	reportedSince := func(s *Story) {
		s.turnEnds()
		s.Do(TurnBegun{Agent: Root, Launch: 1, Unasked: true})
		s.reports("success", "")
	}
	more := func(s *Story) { reported(s); s.says("use SQLite") }
	moreAtEnd := func(s *Story) { reported(s); s.Do(Checked{Agent: Root}); s.says("use SQLite") }
	interrupted := func(s *Story) {
		s.Do(InterruptAsked{})
		s.Do(Ended{Agent: Root, Launch: 1, Outcome: "exit 143"})
	}
	finished := func(s *Story) { s.Do(Checked{Agent: Root}); s.Ends() }
	for name, c := range map[string]struct {
		before, end func(*Story) // of the process
		found       bool         // in the transcript
		want        int          // times that a prompt says it; -1: it is not even looked for
	}{
		"killed, and lost":             {end: killed, want: 1},
		"killed, and there":            {end: killed, found: true},
		"interrupted in its call":      {end: interrupted, want: 1},
		"killed in the turn after":     {before: (*Story).turnEnds, end: killed, want: 1},
		"killed as it had reported":    {before: reportedSince, end: killed, want: 1},
		"killed when all is reported":  {before: reported, end: killed, want: -1},
		"killed with more to read":     {before: more, end: killed, want: 1},
		"killed at its end, with more": {before: moreAtEnd, end: killed, want: 1},
		"ended when its turn was over": {before: reported, end: finished, want: -1},
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			s.polled()
			s.Answers("q-1", "oauth")
			s.Do(Dropped{Question: "q-1"})
			s.Do(FileGone{ID: "workflow_1_q1", Launch: 1})
			if c.before != nil {
				c.before(s)
			}
			c.end(s)
			looked := s.State.FindDeliveries(Root, func(v *Delivery) bool { return v.File != "" && v.WaitsForReceipt() })
			if (len(looked) > 0) != (c.want >= 0) {
				t.Fatalf("looked for are %v", looked)
			}
			for _, v := range looked {
				s.plans("confirm " + v.UUID)
				s.Do(Confirmed{UUID: v.UUID, Found: c.found})
			}
			said := s.State.Questions.Get("q-1").State == checkpoints.QuestionAnswered
			if said != (c.want == 1) {
				t.Errorf("the answer is %s", s.question().State)
			}
		})
	}
}

// Whether it was ever put there may not be known: the supervisor was killed before it said so.
func TestAnAnswerThatNobodyIsKnownToHaveTakenIsLookedForAndSaid(t *testing.T) {
	for _, found := range []bool{true, false} {
		s := Begin(t, nil)
		s.polled()
		s.Answers("q-1", "oauth")
		s.Do(FileGone{ID: "workflow_1_q1", Launch: 1})
		killed(s)
		s.plans("file q-1")
		s.Do(Reclaimed{Question: "q-1", Launch: 1})
		looked := s.State.FindDeliveries(Root, func(v *Delivery) bool { return v.File != "" && v.WaitsForReceipt() })
		if len(looked) != 1 {
			t.Fatalf("looked for are %v", looked)
		}
		s.Do(Confirmed{UUID: looked[0].UUID, Found: found})
		if said := s.question().State == checkpoints.QuestionAnswered; said == found {
			t.Errorf("found is %v: the answer is %s", found, s.question().State)
		}
	}
}

func killed(s *Story) { s.dies(procs.Failure{Kind: procs.Crashed}) }

// A call of ask_user returns as little as it can without a doubt what was answered to what.
func TestAServedAnswerIsShortAndUnambiguous(t *testing.T) {
	asked := func(own string, give func(*Question), labels ...string) *Question {
		q := &Question{Own: own, Wording: checkpoints.Wording{Text: "Which?"}}
		for _, l := range labels {
			q.Options = append(q.Options, checkpoints.Option{Label: l})
		}
		give(q)
		return q
	}
	says := func(answer string) func(*Question) { return func(q *Question) { q.Answer = answer } }
	several := func(answer string) func(*Question) {
		return func(q *Question) { q.Answer, q.MultiSelect = answer, true }
	}
	skipped := func(q *Question) { q.Skipped = true }
	declines := func(why string) func(*Question) {
		return func(q *Question) { q.Answer, q.Declined = why, true }
	}
	for name, c := range map[string]struct {
		group []*Question
		want  string
	}{
		"a label":              {[]*Question{asked("Q1", says("PostgreSQL"), "PostgreSQL", "SQLite")}, "PostgreSQL"},
		"own words over lines": {[]*Question{asked("Q1", says("one\n\"two\""))}, "one\n\"two\""},
		"several labels":       {[]*Question{asked("Q1", several("Red, Blue"), "Red", "Green", "Blue")}, "Red, Blue"},
		"labels with commas": {[]*Question{asked("Q1", several("Blue, dark, Red"), "Red", "Blue", "Blue, dark")},
			`["Blue, dark","Red"]`},
		"one label with a comma": {[]*Question{asked("Q1", several("Blue, dark"), "Red", "Blue", "Blue, dark")},
			"Blue, dark"},
		"own words beside labels": {[]*Question{asked("Q1", several("Red, pink"), "Red", "Blue")}, "Red, pink"},
		"skipped":                 {[]*Question{asked("Q1", skipped)}, "(no answer: continue without it)"},
		"declined": {[]*Question{asked("Q1", declines("not mine to say."))},
			"The person declines to answer: not mine to say. Continue without it, or end with a report."},
		"declined without a reason": {[]*Question{asked("Q1", declines(""))},
			"The person declines to answer. Continue without it, or end with a report."},
		"declined in a label's words": {[]*Question{asked("Q1", declines("Red"), "Red")},
			"The person declines to answer: Red. Continue without it, or end with a report."},
		"a line each": {
			[]*Question{
				asked("db", says("PostgreSQL")), asked("port", says("5432")),
				asked("name", skipped), asked("key", declines("secret")),
				asked("text", says("a\nport: 1")), asked("quoted", says(`"a"`)),
				asked("none", says("(no answer: continue without it)")),
				asked("list", several("a, b, c"), "a, b", "c"), asked("like a list", says(`["a"]`)),
			},
			"db: PostgreSQL\nport: 5432\nname: (no answer: continue without it)\n" +
				"key: The person declines to answer: secret. Continue without it, or end with a report.\n" +
				"text: \"a\\nport: 1\"\nquoted: \"\\\"a\\\"\"\nnone: \"(no answer: continue without it)\"\nlist: [\"a, " +
				"b\",\"c\"]\nlike a list: \"[\\\"a\\\"]\"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := prompts.Served(c.group); got != c.want {
				t.Errorf("the agent reads\n%s\nnot\n%s", got, c.want)
			}
		})
	}
}

// Where a program reads the answers they are as it wants them: of several choices it need not take a text apart, and
// what was left out is no text.
func TestAnswersAreGivenToProgramsAsTheirValues(t *testing.T) {
	picks := []checkpoints.Option{{Label: "red"}, {Label: "green, or blue"}}
	asked := func(own, answer string, change func(*Question)) *Question {
		q := &Question{Own: own, State: checkpoints.QuestionAnswered}
		q.Options, q.MultiSelect, q.Answer = picks, true, answer
		change(q)
		return q
	}
	group := []*Question{
		asked("one", "red", func(q *Question) { q.MultiSelect = false }),
		asked("several", "red, green, or blue", func(*Question) {}),
		asked("of several one", "red", func(*Question) {}),
		asked("own", "mauve", func(*Question) {}),
		asked("left", "", func(q *Question) { q.Skipped = true }),
	}
	const want = `{"one": "red", "several": ["red","green, or blue"], "of several one": ["red"], "own": "mauve", "left": null}`
	if got := string(prompts.AnswersByID(group)); got != want {
		t.Errorf("by id: %s", got)
	}
	if got := string(prompts.UserAnswer(group)); got != want {
		t.Errorf("in a checkpoint: %s", got)
	}
	for i, want := range []string{`"red"`, `["red","green, or blue"]`, `["red"]`, `"mauve"`, `"(no answer: `} {
		if got := string(prompts.UserAnswer(group[i : i+1])); !strings.HasPrefix(got, want) {
			t.Errorf("alone in a checkpoint: %s, not %s", got, want)
		}
	}
}
