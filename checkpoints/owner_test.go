package checkpoints

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestARunHasOneOwnerAmongProcesses(t *testing.T) {
	d := dirsAt(t)
	if d.Owned(testRun) {
		t.Error("owned before anybody came")
	}
	other := startChild(t, "own", d)
	if line := other.line(t); line != "owned" {
		t.Fatal(line)
	}
	if !d.Owned(testRun) {
		t.Error("not owned while another process has it")
	}
	if _, err := d.Own(t.Context(), testRun); !errors.Is(err, ErrOwned) {
		t.Errorf("own what another process has: %v", err)
	}
	if err := other.Process.Kill(); err != nil { // no chance to release it
		t.Fatal(err)
	}
	_ = other.Wait() // it says that it was killed
	if d.Owned(testRun) {
		t.Error("owned by a dead process")
	}
	mine, err := d.Own(t.Context(), testRun)
	noError(t, err)
	if !d.Owned(testRun) {
		t.Error("not owned while this process has it")
	}
	if err := mine.Release(); err != nil {
		t.Error(err)
	}
	if d.Owned(testRun) {
		t.Error("owned after it was released")
	}
}

func TestReadersThatLookDoNotKeepAnOwnerAway(t *testing.T) {
	d := dirsAt(t)
	release(t, d, testRun) // the lock file is there
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					d.Owned(testRun)
				}
			}
		})
	}
	release(t, d, testRun)
	close(stop)
	wg.Wait()
}

func TestALockWhoseFileWasRemovedIsNone(t *testing.T) {
	d := dirsAt(t)
	first, err := d.Own(t.Context(), testRun)
	noError(t, err)
	if !stillThere(first.lock) {
		t.Error("taken for removed")
	}
	if err := os.RemoveAll(d.RunDir(testRun)); err != nil { // prune
		t.Fatal(err)
	}
	if stillThere(first.lock) {
		t.Error("taken for the file that is there")
	}
	release(t, d, testRun) // a lock on the new file keeps nobody waiting for the old one
	if stillThere(first.lock) {
		t.Error("taken for the new file")
	}
	if err := first.Release(); err != nil {
		t.Error(err)
	}
}

func TestOwnEndsWithItsContextAndRefusesWhatIsNoID(t *testing.T) {
	d := dirsAt(t)
	mine, err := d.Own(t.Context(), testRun)
	noError(t, err)
	defer func() { _ = mine.Release() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Own(ctx, testRun); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for _, id := range []string{"", "../r-1", ".", "r-1/x"} {
		if _, err := d.Own(t.Context(), id); err == nil {
			t.Errorf("owns %q", id)
		}
		if d.Owned(id) {
			t.Errorf("%q is owned", id)
		}
	}
	if found, err := filepath.Glob(filepath.Join(d.State, "*")); err != nil || len(found) != 1 {
		t.Errorf("made %v (%v)", found, err)
	}
}

func release(t *testing.T, d Dirs, run string) {
	t.Helper()
	owner, err := d.Own(t.Context(), run)
	noError(t, err)
	noError(t, owner.Release())
}
