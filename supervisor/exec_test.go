package supervisor

import (
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
)

// asksByCommand tells of a command in claude's place that has asked, has ended, and was answered: its second launch is due.
func asksByCommand(t *testing.T) *story {
	s := &story{t: t}
	s.do(Created{Run: runID, Cwd: "/work", Agent: root, Task: "Choose a database", Config: Config{Exec: []string{"/bin/agent"}, MaxHeld: -1, Retries: 2}})
	s.do(Opened{PID: 1, Policy: Ask})
	t.Cleanup(s.folds)
	s.starts(1)
	s.do(s.clarification("q-1", "Which database?"))
	s.do(Ended{Agent: root, Launch: 1, Outcome: "exit 0"})
	s.rests(true)
	s.answers("q-1", "SQLite")
	return s
}

func (s *story) starts(n int) {
	s.t.Helper()
	s.plans("launch " + root)
	s.do(Started{Agent: root, Launch: n, PID: 100 + n, StartTicks: uint64(n)})
}

// isTold checks what launch n is started with.
func (s *story) isTold(n int, answer string) {
	s.t.Helper()
	if l := s.state.launch(root); l.N != n {
		s.t.Fatalf("it is launch %d", l.N)
	}
	if prompt := s.state.promptOf(root, n); !strings.Contains(prompt, answer) {
		s.t.Fatalf("launch %d is told:\n%s", n, prompt)
	}
}

// isLost lets the supervisor die, and another end what is left of the launch.
func (s *story) isLost() {
	s.t.Helper()
	s.do(Opened{PID: 2, Policy: Ask})
	s.do(Ended{Agent: root, Launch: s.state.launch(root).N, Outcome: "lost with its supervisor"})
	s.rests(true)
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
	if q := s.state.Questions["q-1"]; q.State != checkpoints.QuestionDelivered {
		t.Errorf("the question is %s", q.State)
	}
}

func TestACommandThatFailedIsToldItsAnswerAgainWhenItIsResumed(t *testing.T) {
	s := asksByCommand(t)
	s.starts(2)
	s.dies(procs.Failure{Kind: procs.Exited, Reason: "exit 3"})
	s.is(checkpoints.Failed)
	s.do(Opened{PID: 2, Policy: Ask, Revive: true})
	s.rests(true)
	s.isTold(3, "A1: SQLite")
}

func TestACommandThatHasAskedAgainIsToldOnlyTheAnswerToThat(t *testing.T) {
	s := asksByCommand(t)
	s.starts(2)
	s.do(s.clarification("q-2", "Which table?"))
	s.isLost()
	s.is(checkpoints.Parked)
	s.answers("q-2", "users")
	s.isTold(3, "A1: users")
	if q := s.state.Questions["q-1"]; q.State != checkpoints.QuestionDelivered {
		t.Errorf("the first question is %s", q.State)
	}
}

// polls tells of a command whose script waits for an answer file.
func polls(t *testing.T) *story {
	s := &story{t: t}
	s.do(Created{Run: runID, Cwd: "/work", Agent: root, Task: "Choose a database", Config: Config{Exec: []string{"/bin/agent"}, MaxHeld: -1}})
	s.do(Opened{PID: 1, Policy: Ask})
	t.Cleanup(s.folds)
	s.starts(1)
	s.do(FileFound{Agent: root, Launch: 1, Named: Named{
		Naming: Naming{IDs: []string{"q-1"}, Presets: []Preset{{}}},
		Signal: signals.Signal{
			Kind: signals.Clarification, Dialect: signals.Escalated, AgentID: root,
			Fields: []signals.Field{{Name: "question_id", Value: "w_q1"}}, Questions: []signals.Question{{ID: "w_q1", Text: "Which database?"}},
		},
	}})
	return s
}

// A script of an earlier supervisor is about to be ended: an answer is not put where nobody takes it, and if the script has
// taken another one meanwhile, this one is said all the same.
func TestAnAnswerToAScriptThatIsEndedGoesByAPrompt(t *testing.T) {
	for name, taken := range map[string]bool{"it waited": false, "it took another": true} {
		t.Run(name, func(t *testing.T) {
			s := polls(t)
			s.do(Opened{PID: 2, Policy: Ask})
			s.answers("q-1", "SQLite")
			s.plansNot("file")
			if taken {
				s.do(FileGone{ID: "w_q1"})
			}
			s.do(Ended{Agent: root, Launch: 1, Outcome: "lost with its supervisor"})
			s.plansNot("file")
			s.rests(true)
			s.isTold(2, "User selected: SQLite")
		})
	}
}
