package supervisor

import (
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
)

// asksByFile lets the script of a launch ask by a file of another name, and gives its question.
func (s *Story) asksByFile(launch int, id string, change func(*FileFound)) *Question {
	s.T.Helper()
	sig := fileSignal("workflow_1_q1")
	sig.Fields[0].Value, sig.Questions[0].ID = "file of "+id, "file of "+id
	found := FileFound{Agent: Root, Launch: launch, Named: Named{
		Naming: Naming{IDs: []string{id}, Presets: []conf.Preset{{}}}, Signal: sig}}
	if change != nil {
		change(&found)
	}
	s.Do(found)
	return s.State.Questions.Get(id)
}

// The answer that a lost script has not taken is given, once, to the one that asks the same in the turn that is begun
// with it, also where that is cut off. Of one that it has taken the person is told.
func TestAScriptThatStartsOverHasTheAnswerToTheFirst(t *testing.T) {
	for name, c := range map[string]struct {
		lost  func(*Story)
		again func(*FileFound)
		given bool
		says  string // its context, beside its own
	}{
		"answered before it was lost": {lost: func(s *Story) { s.Answers("q-1", "oauth"); s.lost(true) }, given: true},
		"answered afterwards":         {lost: func(s *Story) { s.lost(true); s.Answers("q-1", "oauth") }, given: true},
		"in a turn that was cut off": {lost: func(s *Story) {
			s.lost(true)
			s.Answers("q-1", "oauth")
			s.Launches(2)
			s.Do(Opened{PID: 3, Waker: "/tmp/wake-up", Policy: conf.Ask})
			s.dies(crash())
			s.Rests(true)
		}, given: true},
		"which it had taken": {lost: func(s *Story) { s.Answers("q-1", "oauth"); s.lost(false) },
			says: "Answered before: oauth (q-1). Its script took that and was ended; what it did before is not known."},
		"in other words": {lost: func(s *Story) { s.lost(true); s.Answers("q-1", "oauth") },
			again: func(f *FileFound) { f.Signal.Questions[0].Context = "of another folder" }},
		"after it had escalated": {lost: func(s *Story) {
			sig := fileSignal("workflow_1_q1")
			sig.Fields[0].Value = "file of q-1"
			s.Do(SignalRead{Agent: Root, Launch: 1, Named: Named{Signal: sig, Naming: Naming{IDs: []string{"q-9"}}}})
			s.lost(true)
			s.Answers("q-1", "oauth")
		}, given: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			s.asksByFile(1, "q-1", nil)
			c.lost(s)
			n := s.State.Launch(Root).N
			s.Launches(n)
			again := s.asksByFile(n, "q-2", c.again)
			if given := again.Answer == "oauth" && again.State == checkpoints.QuestionAnswered; given != c.given {
				t.Fatalf("it is %s with the answer %q", again.State, again.Answer)
			}
			if !strings.HasSuffix(again.Context, c.says) || c.says == "" && strings.Contains(again.Context, "before") {
				t.Errorf("the person is shown %q", again.Context)
			}
			if !c.given {
				return
			}
			s.plans("file q-2")
			s.Do(Dropped{Question: "q-2"})
			s.Do(FileGone{ID: "file of q-2", Answer: "oauth", Launch: n})
			if third := s.asksByFile(n, "q-3", nil); third.State != checkpoints.QuestionOpen {
				t.Errorf("the next is %s with the answer %q", third.State, third.Answer)
			}
		})
	}
}

// lost ends the first launch with its supervisor, and says whether the answer of its script lies there still.
func (s *Story) lost(there bool) {
	s.T.Helper()
	s.Do(Opened{PID: 2, Waker: "/tmp/wake-up", Policy: conf.Ask})
	s.dies(crash())
	if q := s.question(); q.File.Drop != "" {
		s.Do(Reclaimed{Question: "q-1", There: there, Launch: 1})
	}
	s.Rests(there)
}

// A question file that nobody had known to be the agent's is its own once it asks the same again.
func TestAFileOfALostScriptThatNobodyOwnedIsAnsweredWithTheNext(t *testing.T) {
	for answer, want := range map[string]checkpoints.QuestionState{
		"oauth": checkpoints.QuestionDelivered, "": checkpoints.QuestionWithdrawn,
	} {
		s := Begin(t, nil)
		s.asksByFile(1, "q-1", func(f *FileFound) { f.Lost, f.Answer = true, answer })
		again := s.asksByFile(1, "q-2", nil)
		if first := s.State.Questions.Get("q-1"); first.State != want || again.Answer != answer {
			t.Errorf("the first is %s, the second answered %q", first.State, again.Answer)
		}
		if a := s.State.Agents.Get(Root); len(a.Outbox) > 0 {
			t.Errorf("it is told, too: %+v", a.Outbox)
		}
	}
}

// A script's question that it waits for no longer is the agent's, and has what was answered for all alike.
func TestAScriptsQuestionThatIsLeftToItsAgentIsAnsweredLikeAnother(t *testing.T) {
	s := Begin(t, nil)
	s.asksByFile(1, "q-1", nil)
	s.turnEnds()
	s.Notes(InboxEntry{Kind: EntryAnswer, Question: "q-1", Value: "oauth", AllLike: true})
	s.Delivers(1)
	s.turnEnds()
	s.Do(TurnBegun{Agent: Root, Launch: 1, Unasked: true})
	s.asksByFile(1, "q-2", nil)
	s.turnEnds()
	if q := s.State.Questions.Get("q-2"); q.Answer != "oauth" || q.Like != "q-1" {
		t.Errorf("it is %s with the answer %q", q.State, q.Answer)
	}
}

// An answer that lay in its file when the run was packed may have been taken: its conversation is asked, and only what
// is not there is said.
func TestAnAnswerThatLayInItsFileIsLookedUpWhereTheRunIsUnpacked(t *testing.T) {
	for _, found := range []bool{true, false} {
		s := Begin(t, nil)
		s.asksByFile(1, "q-1", nil)
		s.Answers("q-1", "oauth")
		s.Do(Dropped{Question: "q-1"})
		s.Do(Packed{File: "r.pack"})
		s.Do(Unpacked{From: "/work", Cwd: "/there", Config: s.State.Config,
			Conversations: []string{s.State.Agents.Get(Root).SessionID}})
		s.Do(Opened{PID: 3, Waker: "/tmp/wake-up", Policy: conf.Ask})
		s.dies(crash())
		s.Rests(found)
		q := s.State.Questions.Get("q-1")
		if told := q.State != checkpoints.QuestionDelivered; told == found {
			t.Errorf("found %v: it is %s", found, q.State)
		}
	}
}

// The answer that came in a pack goes to a script only where somebody vouches for the pack; else the agent is told alone.
func TestAScriptIsGivenWhatCameInAPackThatIsVouchedFor(t *testing.T) {
	for _, vouched := range []bool{true, false} {
		s := Begin(t, nil)
		s.asksByFile(1, "q-1", nil)
		s.lost(true)
		s.Answers("q-1", "oauth")
		s.Do(Packed{File: "r.pack"})
		s.Do(Unpacked{From: "/work", Cwd: "/work", Same: true, Config: s.State.Config, Vouched: vouched,
			Conversations: []string{s.State.Agents.Get(Root).SessionID}})
		s.Do(Opened{PID: 3, Waker: "/tmp/wake-up", Policy: conf.Ask})
		s.dies(crash()) // the launch that was about to begin where the pack was made
		s.Rests(false)
		n := s.State.Launch(Root).N
		s.Launches(n)
		if again := s.asksByFile(n, "q-2", nil); (again.Answer == "oauth") != vouched {
			t.Errorf("vouched %v: it is %s with the answer %q", vouched, again.State, again.Answer)
		}
	}
}
