package supervisor

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/questions"
)

// databases is a call of AskUserQuestion with two questions.
func databases() Asked {
	asked := askUser("q-1")
	asked.Naming.IDs = []string{"q-1", "q-2"}
	asked.Questions = []signals.Question{{ID: "Q1", Text: "Which?"}, {ID: "Q2", Text: "When?"}}
	asked.Call.Input = json.RawMessage(`{"questions":[{"question":"Which?"},{"question":"When?"}]}`)
	return asked
}

// claude takes a request back in the moment in which a hook of the person's own has answered it, and the result of the
// call says so. Whatever the person has answered here, and whenever, is not said to the agent as well: they are told.
func TestAnAnswerThatComesAfterTheHooksIsToldAndNotUsed(t *testing.T) {
	answer := func(s *Story) { s.Answers("q-1", "SQLite"); s.Answers("q-2", "now") }
	cancel := func(s *Story) { s.Do(AskCancelled{Agent: Root, Launch: 1, Request: "req-1"}) }
	decided := func(s *Story) {
		s.Do(DecidedByHook{Agent: Root, ToolUse: "toolu_1", Hook: &procs.HookDecision{Accepted: true,
			Answers: map[string]string{"Which?": "MySQL"}}})
	}
	silent := func(s *Story) { s.Do(DecidedByHook{Agent: Root, ToolUse: "toolu_1"}) } // of an older release
	written := func(s *Story) { answer(s); s.Delivers(1) }
	for name, c := range map[string]struct {
		steps []func(s *Story)
		lost  bool
	}{
		"nobody has answered":            {[]func(*Story){cancel, decided}, false},
		"answered, and not written":      {[]func(*Story){answer, cancel, decided}, true},
		"written, and too late":          {[]func(*Story){written, cancel, decided}, true},
		"taken for the answer":           {[]func(*Story){written, decided}, true},
		"answered once it was withdrawn": {[]func(*Story){cancel, answer, decided}, true},
		"accepted afterwards":            {[]func(*Story){cancel, decided, answer}, true},
		"the release does not say it":    {[]func(*Story){answer, cancel, silent}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			s.Do(databases())
			told, says := false, slices.Contains(strings.Fields(name), "say")
			for _, step := range c.steps {
				before, events := s.State, len(s.Events)
				step(s)
				for _, e := range s.Events[events:] {
					told = told || slices.ContainsFunc(Notifications(before, s.State, e), func(n notice.Notification) bool {
						return n.Trouble && strings.Contains(n.Text, "what was answered here is not used")
					})
				}
			}
			first, second := s.State.Questions.Get("q-1"), s.State.Questions.Get("q-2")
			switch {
			case says:
				if first.State != checkpoints.QuestionWithdrawn || first.AnsweredBy == ByHook ||
					!strings.HasPrefix(first.Remark, "withdrawn by claude") {
					t.Errorf("the question is %s by %q (%s)", first.State, first.AnsweredBy, first.Remark)
				}
			case first.State != checkpoints.QuestionDelivered || first.AnsweredBy != ByHook || first.Answer != "MySQL" ||
				second.AnsweredBy != ByHook || !second.Skipped:
				t.Errorf("%s %q by %q; %s %q by %q", first.State, first.Answer, first.AnsweredBy, second.State, second.Answer,
					second.AnsweredBy)
			}
			if strings.Contains(first.Remark, "SQLite") != c.lost {
				t.Errorf("it is remarked: %q", first.Remark)
			}
			if told != c.lost {
				t.Errorf("an answer was lost: %v; the person is told so: %v", c.lost, told)
			}
			s.is(checkpoints.Running)
			s.plansNot("deliver")
			s.turnEnds()
			for _, v := range s.State.FindDeliveries(Root, (*checkpoints.Delivery).Undelivered) {
				if len(v.Groups) > 0 {
					t.Errorf("the agent is to have it once more: %s%s", v.Text, v.Reply)
				}
			}
		})
	}
}

func TestWhatAHookDecidesOfACallIsRecordedAsItIs(t *testing.T) {
	for _, c := range []struct {
		by     procs.HookDecision
		answer string
	}{
		{procs.HookDecision{Accepted: true}, "allow"},
		{procs.HookDecision{Text: "not on a Friday"}, "deny not on a Friday"},
	} {
		s := Begin(t, nil)
		asked := askUser("q-1")
		asked.Kind, asked.Call.Name = questions.AskPermission, "Bash"
		s.Do(asked)
		s.Do(AskCancelled{Agent: Root, Launch: 1, Request: asked.Call.Request})
		if q := s.State.Questions.Get("q-1"); q.State != checkpoints.QuestionWithdrawn || q.Remark != withdrawnByClaude {
			t.Errorf("before anybody knows, it is %s (%s)", q.State, q.Remark)
		}
		s.Do(DecidedByHook{Agent: Root, ToolUse: asked.Call.ToolUse, Hook: &c.by})
		if q := s.State.Questions.Get("q-1"); q.Answer != c.answer || q.AnsweredBy != ByHook || q.Remark != "" {
			t.Errorf("%q by %q (%s)", q.Answer, q.AnsweredBy, q.Remark)
		}
	}
}

// A supervisor that died before it read that a hook has answered finds it in the transcript.
func TestAHooksAnswerThatNobodyHasReadIsFoundInTheTranscript(t *testing.T) {
	for name, answered := range map[string]bool{"open": false, "answered here too": true} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			s.Do(databases())
			if answered {
				s.Answers("q-1", "SQLite")
				s.Answers("q-2", "now")
			}
			s.Do(Ended{Agent: Root, Launch: 1, Outcome: "lost with its supervisor"})
			if calls := s.State.Undecided(s.State.Launch(Root)); !slices.Equal(calls, []string{"toolu_1"}) {
				t.Errorf("looked up are %q", calls)
			}
			s.Do(Surveyed{Agent: Root, Launch: 1, ByHook: map[string]*procs.HookDecision{"toolu_1": {Accepted: true,
				Answers: map[string]string{"Which?": "MySQL", "When?": "later"}}}})
			for _, id := range []string{"q-1", "q-2"} {
				if q := s.State.Questions.Get(id); q.AnsweredBy != ByHook || (q.Remark != "") != answered {
					t.Errorf("%s is %s by %q (%s)", id, q.State, q.AnsweredBy, q.Remark)
				}
			}
			for _, v := range s.State.FindDeliveries(Root, (*checkpoints.Delivery).WaitsForReceipt) {
				s.Do(Confirmed{UUID: v.UUID, Found: true})
			}
			s.plans("launch " + Root + " 2")
			if text := s.State.PromptOf(Root, 2); strings.Contains(text, "SQLite") {
				t.Errorf("the agent is told another answer:\n%s", text)
			}
		})
	}
}

func TestWhatWeTakeBackOurselvesIsNotSaidOfClaude(t *testing.T) {
	s := Begin(t, nil)
	s.Do(databases())
	s.Do(InboxRead{Notes: []InboxEntry{{Kind: EntryStop, By: "a person"}}})
	s.Do(AskCancelled{Agent: Root, Launch: 1, Request: "req-1"})
	if q := s.State.Questions.Get("q-1"); q.Remark != "" || q.AnsweredBy != "" {
		t.Errorf("the question is %s by %q (%s)", q.State, q.AnsweredBy, q.Remark)
	}
}
