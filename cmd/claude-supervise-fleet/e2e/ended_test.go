package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A run has succeeded, and its worker dies with the last snapshot in the blob store and before it has said so: the next
// worker hands in how it has ended, and does nothing again.
func TestWhatHasSucceededBeforeItsWorkerCouldSaySoIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one := s.worker("one")
	done, goesOn := filepath.Join(s.home, "done"), filepath.Join(s.home, "go")
	s.file("quick.yaml", []byte(strings.ReplaceAll(string(quick(false)), "echo done > done.txt",
		"until [ -e "+goesOn+" ]; do sleep 0.1; done; echo done > done.txt; echo done >> "+done)))
	run := s.must("run", "--demo", filepath.Join(s.home, "quick.yaml"), "--lease", "10s")
	s.until(run, "with one", func(l listed) bool { return l.Worker == "one" })
	s.up.signal(syscall.SIGSTOP) // nobody is told of its end
	s.file("go", nil)
	kept := filepath.Join(s.dev, "snapshots/runs", run, "000001")
	if !comes(func() bool {
		names, err := filepath.Glob(filepath.Join(kept, "show.json*")) // after the last snapshot
		return err == nil && len(names) > 0
	}) {
		names, err := os.ReadDir(kept)
		t.Fatalf("it does not end: %v, %v", names, err)
	}
	one.signal(syscall.SIGKILL)
	s.up.signal(syscall.SIGCONT)
	s.worker("two")
	s.succeeds(run)
	if l := s.until(run, "handed in", func(l listed) bool { return l.EndedAt != nil }); l.Epoch != 2 {
		t.Errorf("it has ended in epoch %d", l.Epoch)
	}
	if times, err := os.ReadFile(done); string(times) != "done\n" {
		t.Errorf("it was done: %q, %v", times, err)
	}
	if shown := s.must("show", run); !strings.Contains(shown, "it is written") {
		t.Errorf("it is shown as %s", shown)
	}
}
