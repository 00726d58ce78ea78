package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
)

// A prune that is killed leaves nothing that the next one does not take.
func TestAPruneThatIsKilledIsDoneByTheNext(t *testing.T) {
	t.Parallel()
	for _, point := range prunePoints {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s := load(t, "unreported")
			w := newWorld(t).standIn(s)
			run := w.start(w.runArgs(s)...)
			run.wait()
			id := w.ps().ID
			var killed atomic.Bool
			w.watches(func(pid int, p pass) {
				if p.point == point && killed.CompareAndSwap(false, true) {
					_ = syscall.Kill(pid, syscall.SIGKILL) // it stands still at the point
				}
			})
			if code, _, stderr := w.run("prune", id); code != -1 {
				t.Fatalf("it exits %d: %s", code, stderr)
			}
			w.must("prune", "--older-than", "0s")
			if r := w.theRun(); r != nil {
				t.Errorf("run %s is still there", r.ID)
			}
			if _, err := os.Stat(filepath.Join(w.home, ".local/state/claude-supervise/runs", id)); !errors.Is(err,
				fs.ErrNotExist) {
				t.Errorf("its folder is still there (%v)", err)
			}
		})
	}
}

var prunePoints = []string{"before note prune", "after note prune"}
