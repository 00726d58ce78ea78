package supervisor

import (
	"fmt"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/task"
)

// many tells a story of agents that do the same work on many things, each of them at work.
func many(t *testing.T, items ...string) *Story {
	s := &Story{T: t, At: time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)}
	var children []task.Child
	for i, item := range items {
		children = append(children,
			task.Child{Agent: worker(i), Work: task.Work{Task: "Look at " + item, Said: checkpoints.Delegated{Name: item}}})
	}
	s.Do(Created{
		Run: RunID, Cwd: "/work", Agent: Root, Task: "Look at all", Group: true, Children: children,
		Config: conf.Config{Hold: conf.DefaultHold, MaxHeld: -1, Relaunch: conf.Resume},
	})
	s.Do(Opened{PID: 1, Waker: "/tmp/wake-up", Policy: conf.Ask})
	for i := range items {
		s.Do(Started{Agent: worker(i), Launch: 1, PID: 100 + i, StartTicks: 1})
		s.Do(TurnBegun{Agent: worker(i), Launch: 1})
	}
	t.Cleanup(s.folds)
	return s
}

func worker(i int) string { return fmt.Sprintf("a-worker%06d", i) }

// wonders lets an agent ask, with these options.
func (s *Story) wonders(i int, id, text string, options ...string) {
	s.T.Helper()
	q := signals.Question{ID: "Q1", Text: text}
	for _, label := range options {
		q.Options = append(q.Options, signals.Option{Label: label})
	}
	s.Do(SignalRead{Agent: worker(i), Launch: 1, Named: Named{
		Naming: Naming{IDs: []string{id}, Presets: []conf.Preset{{}}},
		Signal: signals.Signal{Kind: signals.Clarification, Dialect: signals.Block, AgentID: worker(i),
			Questions: []signals.Question{q}},
	}})
}

// isAnswered wants a question to be answered so; "" to be open.
func (s *Story) isAnswered(id, answer string) {
	s.T.Helper()
	if q := s.State.Questions.Get(id); q.Answer != answer || (q.State == checkpoints.QuestionOpen) != (answer == "") {
		s.T.Errorf("%s is %s: %q, want %q", id, q.State, q.Answer, answer)
	}
}

func TestOneAnswerIsThatOfAllQuestionsThatAreAlikeNowAndLater(t *testing.T) {
	s := many(t, "a.go", "b.go", "c.go", "d.go")
	s.wonders(0, "q-0", "Overwrite a.go?", "keep a.go", "overwrite")
	s.wonders(1, "q-1", "Overwrite b.go?", "keep b.go", "overwrite")
	s.wonders(2, "q-2", "Delete c.go?", "keep c.go", "overwrite")
	s.Notes(InboxEntry{Kind: EntryAnswer, Question: "q-0", Value: "keep a.go", AllLike: true})
	s.isAnswered("q-0", "keep a.go")
	s.isAnswered("q-1", "keep b.go")
	s.isAnswered("q-2", "")
	s.wonders(3, "q-3", "Overwrite d.go?", "keep d.go", "overwrite")
	s.isAnswered("q-3", "keep d.go")
	if by := s.State.Questions.Get("q-3").AnsweredBy; by != "a test, who answered all like q-0" {
		t.Errorf("it was answered by %q", by)
	}
}

func TestAChangedAnswerIsThatOfTheQuestionAlone(t *testing.T) {
	s := many(t, "a.go", "b.go", "c.go")
	s.wonders(0, "q-0", "Overwrite it?", "yes", "no")
	s.Notes(InboxEntry{Kind: EntryAnswer, Question: "q-0", Value: "yes", AllLike: true})
	s.Notes(InboxEntry{Kind: EntryChange, Question: "q-0", Value: "no"})
	s.wonders(1, "q-1", "Overwrite it?", "yes", "no")
	s.isAnswered("q-0", "no")
	s.isAnswered("q-1", "")
	s.Notes(InboxEntry{Kind: EntryChange, Question: "q-0", Value: "no", AllLike: true})
	s.isAnswered("q-1", "no")
	s.Notes(InboxEntry{Kind: EntryAnswer, Question: "q-1", Value: "yes"}) // accepted before the shared one was taken
	s.isAnswered("q-1", "yes")
}

func TestOwnWordsAreTheSameForAll(t *testing.T) {
	s := many(t, "a.go", "b.go")
	s.wonders(0, "q-0", "What about a.go?")
	s.wonders(1, "q-1", "What about b.go?")
	s.Notes(InboxEntry{Kind: EntryAnswer, Question: "q-0", Value: "as in a.go", AllLike: true})
	s.isAnswered("q-1", "as in a.go")
}

func TestPermissionsAreAlikeOnlyForTheVerySameCall(t *testing.T) {
	s := many(t, "a.go", "b.go", "c.go")
	ask := func(i int, id, command string) {
		s.Do(Asked{
			Agent: worker(i), Launch: 1, Kind: questions.AskPermission,
			Call: checkpoints.ToolCall{Launch: 1, Request: id, ToolUse: "t" + id,
				Name: "Bash", Input: raw(map[string]string{"command": command})},
			Questions: []signals.Question{{ID: "Bash", Header: "Bash", Text: "Allow Bash?", Options: []signals.Option{
				{Label: Allow}, {Label: AllowRun}, {Label: Deny}, {Label: DenyStop}}}},
			Naming: Naming{IDs: []string{id}, Presets: []conf.Preset{{}}},
		})
	}
	ask(0, "q-0", "make test")
	ask(1, "q-1", "make test")
	ask(2, "q-2", "make install")
	s.Notes(InboxEntry{Kind: EntryAnswer, Question: "q-0", Value: Allow, AllLike: true})
	s.isAnswered("q-1", Allow)
	s.isAnswered("q-2", "")
}

// A run inside an agent calls itself what it likes: its name does not make what it asks the same as what a person has
// seen.
func TestTheNameOfANestedRunMakesNoQuestionsAlike(t *testing.T) {
	s := many(t, "the log", "the database")
	s.wonders(0, "q-0", "Delete the log?", "yes", "no")
	s.wonders(1, "q-1", "Delete the database?", "yes", "no")
	alike := func(s State) bool { return s.SameQuestion(s.Questions.Get("q-0"), s.Questions.Get("q-1")) }
	if !alike(s.State) {
		t.Error("names that a task file gives make no difference, and these do")
	}
	if alike(withAgent(s.State, worker(1), func(a *Agent) {
		said := *a.Delegated
		said.Nested = &checkpoints.Nested{}
		a.Delegated = &said
	})) {
		t.Error("the name of a nested run makes them alike")
	}
}
