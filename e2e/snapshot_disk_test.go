//go:build linux

package e2e

import (
	"strings"
	"testing"

	"claude-supervise/e2e/smalldisk"

	"golang.org/x/sys/unix"
)

// A disk of snapshots that is full, or cannot be written to any more, costs the run nothing: it says so, and goes on to
// its end.
func TestARunGoesOnWithoutSnapshotsWhereTheirDiskTakesNone(t *testing.T) {
	smallDisk(t, func(t *testing.T, w *world, _ disk) {
		s := load(t, "ask")
		w.standIn(s)
		w.put("filler", strings.Repeat(w.Home, 2000))
		full, readOnly := smalldisk.Mount(t, "12k").Dir, smalldisk.Mount(t, "4m").Dir
		for dir, says := range map[string]string{full: "no space left on device", readOnly: "read-only file system"} {
			run := w.start(w.runArgs(s, "--snapshots", dir, "--hold", "forever", "--on-question", "ask")...)
			q := run.until("question").Question
			if dir == readOnly {
				noError(t, unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
			}
			_, doctor, _ := w.run("doctor")
			lacksNone(t, "doctor", doctor, "BAD  snapshots  "+dir+" takes none of ", says)
			w.must("answer", q.ID, "JWT")
			if code := run.wait(); code != 0 {
				t.Fatalf("it exits %d:\n%s", code, run.stderr)
			}
			var said strings.Builder
			for _, e := range run.seen {
				said.WriteString(e.Text + "\n")
			}
			lacksNone(t, "what it says", said.String(), "no snapshot could be taken", says, "The run continues")
		}
		code, _, said := w.run(w.runArgs(s, "--snapshots", readOnly)...)
		if code != 2 || !strings.Contains(said, "read-only file system; nothing was started") {
			t.Errorf("where it cannot be written to before, it exits %d: %s", code, said)
		}
		if ran := len(parse[[]runView](t, w.must("ps", "-a", "--json"))); ran != 2 {
			t.Errorf("there are %d runs", ran)
		}
	})
}

// Snapshots may lie on another disk than the state and the work, and be unpacked from there.
func TestSnapshotsMayLieOnAnotherDisk(t *testing.T) {
	smallDisk(t, func(t *testing.T, w *world, _ disk) {
		s := load(t, "ask")
		w.standIn(s)
		dir := smalldisk.Mount(t, "4m").Dir
		if code, _, said := w.run(w.runArgs(s, "--snapshots", dir, "--hold", "0", "--on-question", "park")...); code != 75 {
			t.Fatalf("it exits %d: %s", code, said)
		}
		there := w.elsewhere()
		there.must("unpack", dir)
		there.must("answer", there.questions()[0].ID, "JWT")
		there.must(append([]string{"resume", w.ps().ID, "--"}, s.ClaudeFlags...)...)
		if got := there.got("auth.txt"); got != "login by JWT\n" {
			t.Errorf("there the work is %q", got)
		}
	})
}
