//go:build linux

package e2e

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A disk of snapshots that is full costs the run nothing: it says so, and goes on to its end.
func TestARunGoesOnWithoutSnapshotsWhereTheirDiskIsFull(t *testing.T) {
	smallDisk(t, func(t *testing.T, w *world, _ disk) {
		dir := t.TempDir()
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=12k,mode=700"); err != nil {
			t.Fatalf("%s: %v", cannotMount, err)
		}
		t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
		s := load(t, "ask")
		w.standIn(s)
		w.put("filler", strings.Repeat(w.home, 2000))
		code, out, said := w.run(w.runArgs(s, "--snapshots", dir, "--answer", "way of login=JWT")...)
		if code != 0 {
			t.Fatalf("it exits %d:\n%s%s", code, out, said)
		}
		lacksNone(t, "what it says", said, "no snapshot could be taken", "no space left on device", "The run goes on")
	})
}
