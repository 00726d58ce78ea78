package pack

import (
	"encoding/json"
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

// Whose run had a lease, as the worker of a fleet gives it, knows that from how it was lost.
func TestWhoHasLostARunKnowsWhetherThereWasALease(t *testing.T) {
	const run = "r-abcd1234"
	for _, leased := range []bool{false, true} {
		dir := t.TempDir()
		folder := FolderOf(dir, run)
		if _, err := folder.Claim(t.Context(), run, 0); err != nil {
			t.Fatal(err)
		}
		defer folder.Close()
		if leased {
			if err := Lease(dir, run, time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := FolderOf(dir, run).TakeOver(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		over := new(checkpoints.TakenOverError)
		if err := folder.Check(t.Context()); !errors.As(err, &over) || over.Over.Leased != leased {
			t.Errorf("leased %t: %v, %+v", leased, err, over.Over)
		}
	}
}

// The clock of a lease begins anew at each boot: one that the machine had before it was booted bounds nothing now,
// though its time is still to come.
func TestALeaseOfAnEarlierBootHasRunOut(t *testing.T) {
	const run = "r-abcd1234"
	dir := t.TempDir()
	folder := FolderOf(dir, run)
	if _, err := folder.Claim(t.Context(), run, 0); err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	now, err := LeaseClock()
	if err == nil {
		err = Lease(dir, run, now+time.Hour)
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, run, leaseName)
	var l leaseFile
	content, err := os.ReadFile(path)
	if err = errors.Join(err, json.Unmarshal(content, &l)); err != nil || l.Boot == "" {
		t.Fatalf("the lease is %s (%v)", content, err)
	}
	for boot, goes := range map[string]bool{l.Boot: true, "an earlier one": false, "": true} {
		l.Boot = boot
		content, err := json.Marshal(l)
		if err = errors.Join(err, os.WriteFile(path, content, 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := folder.Check(t.Context()); (err == nil) != goes || err != nil && !errors.Is(err, errNoLease) {
			t.Errorf("with a lease of the boot %q: %v", boot, err)
		}
	}
}
