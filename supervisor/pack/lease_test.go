package pack

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claude-supervise/checkpoints"
)

// Past its lease a supervisor does not know whether the run is its own: it may not go on, and has not lost it. With the
// lease renewed it goes on.
func TestASupervisorGoesOnUntilItsLeaseRunsOut(t *testing.T) {
	dir := t.TempDir()
	folder := FolderOf(dir, "r-abcd1234")
	if _, err := folder.Claim(t.Context(), "r-abcd1234", 0); err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := folder.Check(t.Context()); err != nil {
		t.Fatalf("nobody bounds it, and it is %v", err)
	}
	now, err := LeaseClock()
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		until time.Duration
		goes  bool
	}{{now + time.Hour, true}, {now, false}, {now + 2*time.Hour, true}} {
		if err := Lease(dir, "r-abcd1234", step.until); err != nil {
			t.Fatal(err)
		}
		err := folder.Check(t.Context())
		if over := new(checkpoints.TakenOverError); (err == nil) != step.goes || errors.As(err, &over) {
			t.Errorf("until %s, at %s: %v", step.until, now, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "r-abcd1234", leaseName), []byte("?"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := folder.Check(t.Context()); err == nil {
		t.Error("one that cannot be read counts as none")
	}
}
