package supervisor

import (
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
)

// asksByCommand tells of a command in claude's place that has asked, has ended, and was answered: its second launch is
// due.
func asksByCommand(t *testing.T) *Story {
	s := &Story{T: t}
	s.Do(Created{Run: RunID, Cwd: "/work", Agent: Root, Task: "Choose a database",
		Config: conf.Config{Exec: []string{"/bin/agent"}, MaxHeld: -1, Retries: 2}})
	s.Do(Opened{PID: 1, Policy: conf.Ask})
	t.Cleanup(s.folds)
	s.starts(1)
	s.Do(s.clarification("q-1", "Which database?"))
	s.Do(Ended{Agent: Root, Launch: 1, Outcome: "exit 0"})
	s.Rests(true)
	s.Answers("q-1", "SQLite")
	return s
}

func (s *Story) starts(n int) {
	s.T.Helper()
	s.plans("launch " + Root)
	s.Do(Started{Agent: Root, Launch: n, PID: 100 + n, StartTicks: uint64(n)})
}

// isTold checks what launch n is started with.
func (s *Story) isTold(n int, answer string) {
	s.T.Helper()
	if l := s.State.Launch(Root); l.N != n {
		s.T.Fatalf("it is launch %d", l.N)
	}
	if prompt := s.State.PromptOf(Root, n); !strings.Contains(prompt, answer) {
		s.T.Fatalf("launch %d is told:\n%s", n, prompt)
	}
}

// isLost lets the supervisor die, and another end what is left of the launch.
func (s *Story) isLost() {
	s.T.Helper()
	s.Do(Opened{PID: 2, Policy: conf.Ask})
	s.Do(Ended{Agent: Root, Launch: s.State.Launch(Root).N, Outcome: "lost with its supervisor"})
	s.Rests(true)
}

func TestACommandThatWasNotKnownToHaveStartedIsToldItsAnswerByTheNext(t *testing.T) {
	s := asksByCommand(t)
	s.isTold(2, "A1: SQLite")
	s.isLost()
	s.isTold(3, "A1: SQLite")
}

func TestACommandThatWasLostIsToldItsAnswerAgain(t *testing.T) {
	s := asksByCommand(t)
	s.starts(2)
	s.isLost()
	s.isTold(3, "A1: SQLite")
	s.starts(3)
	if q := s.State.Questions.Get("q-1"); q.State != checkpoints.QuestionDelivered {
		t.Errorf("the question is %s", q.State)
	}
}

func TestACommandThatFailedIsToldItsAnswerAgainWhenItIsResumed(t *testing.T) {
	s := asksByCommand(t)
	s.starts(2)
	s.dies(procs.Failure{Kind: procs.Exited, Reason: "exit 3"})
	s.is(checkpoints.Failed)
	s.Do(Opened{PID: 2, Policy: conf.Ask, Revive: true})
	s.Rests(true)
	s.isTold(3, "A1: SQLite")
}

func TestACommandThatHasAskedAgainIsToldOnlyTheAnswerToThat(t *testing.T) {
	s := asksByCommand(t)
	s.starts(2)
	s.Do(s.clarification("q-2", "Which table?"))
	s.isLost()
	s.is(checkpoints.Parked)
	s.Answers("q-2", "users")
	s.isTold(3, "A1: users")
	if q := s.State.Questions.Get("q-1"); q.State != checkpoints.QuestionDelivered {
		t.Errorf("the first question is %s", q.State)
	}
}

// polls tells of a command whose script waits for an answer file.
func polls(t *testing.T) *Story {
	s := &Story{T: t}
	s.Do(Created{Run: RunID, Cwd: "/work", Agent: Root, Task: "Choose a database",
		Config: conf.Config{Exec: []string{"/bin/agent"}, MaxHeld: -1}})
	s.Do(Opened{PID: 1, Policy: conf.Ask})
	t.Cleanup(s.folds)
	s.starts(1)
	s.polls(1, "q-1", "w_q1")
	return s
}

func (s *Story) polls(launch int, question, file string) {
	s.T.Helper()
	s.Do(FileFound{Agent: Root, Launch: launch, Named: Named{
		Naming: Naming{IDs: []string{question}, Presets: []conf.Preset{{}}},
		Signal: signals.Signal{
			Kind: signals.Clarification, Dialect: signals.Escalated, AgentID: Root,
			Fields:    []signals.Field{{Name: "question_id", Value: file}},
			Questions: []signals.Question{{ID: file, Text: "Which database?"}},
		},
	}})
}

// The supervisor died before it could say that the answer lies there. Whatever has taken it was the command itself, and no
// conversation could show it.
func TestAnAnswerThatACommandTookAsItsSupervisorDiedIsNotSaidAgain(t *testing.T) {
	s := polls(t)
	s.Answers("q-1", "SQLite")
	s.plans("file q-1")
	s.Do(Opened{PID: 2, Policy: conf.Ask})
	s.Do(Ended{Agent: Root, Launch: 1, Outcome: "lost with its supervisor"})
	s.Do(Reclaimed{Question: "q-1", Launch: 1})
	s.plansNot("confirm")
	if q := s.State.Questions.Get("q-1"); q.State != checkpoints.QuestionDelivered {
		t.Errorf("the answer is %s", q.State)
	}
}

// A script of an earlier supervisor is about to be ended: an answer is not put where nobody takes it, and if the script
// has taken another one meanwhile, this one is said all the same.
func TestAnAnswerToAScriptThatIsEndedGoesByAPrompt(t *testing.T) {
	for name, taken := range map[string]bool{"it waited": false, "it took another": true} {
		t.Run(name, func(t *testing.T) {
			s := polls(t)
			s.Do(Opened{PID: 2, Policy: conf.Ask})
			s.Answers("q-1", "SQLite")
			s.plansNot("file")
			if taken {
				s.Do(FileGone{ID: "w_q1"})
			}
			s.Do(Ended{Agent: Root, Launch: 1, Outcome: "lost with its supervisor"})
			s.plansNot("file")
			s.Rests(true)
			s.isTold(2, "User selected: SQLite")
		})
	}
}

// A command that starts over is given the answer of the one before, in its file. If it is lost before it has taken
// that, the answer is told once, and by what it was asked last: nobody can change the earlier one any more.
func TestAnAnswerThatLiesInTheFileOfACommandThatStartedOverIsToldOnce(t *testing.T) {
	s := polls(t)
	s.isLost()
	s.Answers("q-1", "SQLite")
	s.isTold(2, "User selected: SQLite")
	s.starts(2)
	s.polls(2, "q-2", "w_q2")
	s.plans("file q-2")
	s.Do(Opened{PID: 3, Policy: conf.Ask})
	s.Do(Ended{Agent: Root, Launch: 2, Outcome: "lost with its supervisor"})
	s.Notes(InboxEntry{Kind: EntryChange, Question: "q-1", Value: "Postgres"})
	s.Do(Reclaimed{Question: "q-2", There: true, Launch: 2})
	s.Rests(true)
	s.isTold(3, "User selected: SQLite")
	if prompt := s.State.PromptOf(Root, 3); strings.Contains(prompt, "Postgres") || strings.Count(prompt, "User selected: ") != 1 {
		t.Errorf("it is told:\n%s", prompt)
	}
}
