package pack

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
)

// Whoever tells others of a question has to know that the snapshot has it: not that it was asked before.
func TestTheMomentOfASnapshotHasTheQuestionsThatAreInIt(t *testing.T) {
	s := newSnapped(t, t.TempDir(), 10)
	asked := []string{"q-aaaaaa"}
	q := &checkpoints.Question{ID: asked[0], Run: packedRun, Agent: packedAgent, Kind: questions.AskBlocker,
		State: checkpoints.QuestionOpen, AskedAt: checkpoints.Now()}
	s.turn("which?", q)
	s.mustTake()
	s.turn("more")
	s.mustTake() // rests on the first
	var last time.Time
	for n := 1; n <= 2; n++ {
		m, err := MomentOf(s.path(n))
		if err != nil || !slices.Equal(m.Questions, asked) || !m.At.After(last) {
			t.Errorf("snapshot %d is %+v, %v; asked were %q", n, m, err, asked)
		}
		last = m.At
	}
	content, err := os.ReadFile(s.path(1))
	if err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, content[:100], 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := MomentOf(short); err == nil {
		t.Errorf("one that is cut short is %+v", m)
	}
}

// A snapshot that is due while the lease is out is taken once the lease is renewed: it is not one that has failed.
func TestASnapshotWithoutALeaseIsDueStill(t *testing.T) {
	s := newSnapped(t, t.TempDir(), 10)
	if err := Lease(s.dir, packedRun, 0); err != nil {
		t.Fatal(err)
	}
	if b := s.take(); b.Unleased == "" || b.Problem != "" || b.Over != nil {
		t.Errorf("it is %+v", b)
	}
	now, err := LeaseClock()
	if err == nil {
		err = Lease(s.dir, packedRun, now+time.Hour)
	}
	if err != nil {
		t.Fatal(err)
	}
	if b := s.mustTake(); b.Unleased != "" {
		t.Errorf("with the lease it is %+v", b)
	}
	if _, err := os.Stat(s.path(1)); err != nil {
		t.Error(err)
	}
}
