package checkpoints

import (
	"encoding/json"
	"os"
	"testing"
	"time"
)

const (
	testRun      = "r-k3v9x2ab"
	testAgent    = "a-7Qm2xK9fWb4T"
	testQuestion = "q-h4k7mp"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// dirsAt returns folders of the test's own.
func dirsAt(tb testing.TB) Dirs {
	tb.Helper()
	dir := tb.TempDir()
	return Dirs{State: dir + "/state", Runtime: dir + "/runtime"}
}

// passingDir returns a folder in memory where there is one, for tests that make a great many databases and whose disk
// is a model: nothing there waits for a real one. The caller is done with it before the test ends.
func passingDir(tb testing.TB) (dir string, remove func()) {
	tb.Helper()
	above := "/dev/shm"
	if info, err := os.Stat(above); err != nil || !info.IsDir() {
		above = tb.TempDir()
	}
	dir, err := os.MkdirTemp(above, "checkpoints-test-")
	noError(tb, err)
	return dir, func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	}
}

// openAt opens a store that is closed at the end of the test.
func openAt(tb testing.TB, d Dirs) *Store {
	tb.Helper()
	s, err := Open(d)
	noError(tb, err)
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func commit(tb testing.TB, s *Store, c Change) {
	tb.Helper()
	noError(tb, s.Commit(tb.Context(), c))
}

// firstChange is a run whose root agent has just asked a question, with something in every field that a reader looks
// at.
func firstChange() Change {
	started := noon.Add(time.Second)
	return Change{
		Run: &Run{
			ID: testRun, Name: "tests", Cwd: "/home/me/app", Root: testAgent, Status: Waiting, Reason: "asks which database",
			Since: noon, StartedAt: noon, Epoch: 1, PID: 4711, Waker: "/run/user/1000/claude-supervise/r-k3v9x2ab.sock",
			Config: json.RawMessage(`{"hold":"5m0s","allow":["Bash(go test:*)"]}`),
		},
		Agents: []*Agent{{
			ID: testAgent, Run: testRun, Task: "Write the tests <all of them> & run them", Status: Waiting,
			Reason: "asks which database",
			Since:  noon,
			Conversation: Conversation{SessionID: "0b7d3c1e-5a55-4f0e-9a5d-6f2a0e6c9f10", Launches: 1,
				Outbox: []OutboxItem{{Key: "say a-7Qm2xK9fWb4T 1", Text: "go on", At: noon}}},
			Usage: Usage{CostUSD: 0.25, InputTokens: 12_000, OutputTokens: 900},
		}},
		Launches: []*Launch{{
			Agent: testAgent, N: 1, Epoch: 1, Phase: LaunchTurn, PID: 4712, StartTicks: 991, StartedAt: &started,
		}},
		Questions: []*Question{{
			ID: testQuestion, Run: testRun, Agent: testAgent, Group: "g1", Own: "Q1", Kind: "clarification",
			State: QuestionOpen,
			Wording: Wording{Header: "Database", Text: "Which database?",
				Options: []Option{{Label: "sqlite"}, {Label: "postgres", Description: "as in production"}}},
			Origin: Origin{Fingerprint: "f1", Signal: json.RawMessage(`{"kind":"clarification_needed"}`)}, AskedAt: noon,
		}},
		Deliveries: []*Delivery{{
			UUID: "5c1f3a52-8f4c-5b7e-9d3b-2b1f6f0f2a11", Agent: testAgent, Key: "task a-7Qm2xK9fWb4T",
			Seq: 1, State: DeliveryDelivered,
			Launch: 1, Text: "Write the tests", CreatedAt: noon,
		}},
		Event: Event{Run: testRun, Seq: 1, At: noon, Type: "asked", Doc: json.RawMessage(`{"question":"q-h4k7mp"}`)},
	}
}
