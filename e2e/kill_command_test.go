package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"claude-supervise/e2e/machine"
	"claude-supervise/e2e/sample"
)

// A commandKill is what commands do with a run beside its own way (killScenarios): whichever process passes one of the
// points is killed there, and doing it again brings the run to the same end.
type commandKill struct {
	name   string
	points []string
	story  func(t *testing.T, k *blow)
}

var commandKills = []commandKill{
	{"a prune", []string{"before note prune", "after note prune"}, pruned},
	{"a pack", []string{
		"after pack written", "before save packed", "after save packed",
		"before unpack files", "after unpack logs", "before save unpacked", "after save unpacked",
	}, packed},
	{"a pack of a run that goes on", []string{"before note snapshot", "after note snapshot"}, packedMeanwhile},
	{"a snapshot", []string{
		"before snapshot", "after pack written", "after snapshot", "before save snapshotted", "after save snapshotted",
		"after taking over",
	}, snapshot},
	{"a run that is lost", []string{"before save lease_read", "after save lease_read"}, lost},
}

// isOfCommand reports whether a point is one of commandKills.
func isOfCommand(point string) bool {
	return slices.ContainsFunc(commandKills, func(c commandKill) bool { return slices.Contains(c.points, point) })
}

// A blow kills who passes a point first, in whichever of the worlds that it watches.
type blow struct {
	point string
	fell  atomic.Bool
}

func (k *blow) at(pid int, p pass) {
	if p.point == k.point && k.fell.CompareAndSwap(false, true) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it stands still at the point
	}
}

func TestWhoeverDiesAtACommandDoingItAgainLosesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range commandKills {
		for _, point := range c.points {
			if !sample.Has(c.name+point, 2) {
				continue
			}
			t.Run(c.name+"/"+point, func(t *testing.T) {
				t.Parallel()
				k := &blow{point: point}
				if c.story(t, k); !k.fell.Load() {
					t.Errorf("it never came to %s", point)
				}
			})
		}
	}
}

// A prune that is killed leaves nothing that the next one does not take.
func pruned(t *testing.T, k *blow) {
	s := load(t, "unreported")
	w := newWorldWith(t, plainProgram).standIn(s)
	run := w.start(w.runArgs(s)...)
	run.wait()
	id := w.ps().ID
	w.watches(k.at)
	w.exits(-1, "prune", id)
	w.must("prune", "--older-than", "0s")
	if r := w.theRun(); r != nil {
		t.Errorf("run %s is still there", r.ID)
	}
	if _, err := os.Stat(w.Dirs.RunDir(id)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its folder is still there (%v)", err)
	}
}

// Wherever packing or unpacking is killed, doing it again brings the run to its end, once.
func packed(t *testing.T, k *blow) {
	s := load(t, "ask")
	origin := newOrigin(t)
	here := newWorldWith(t, plainProgram).standIn(s).inClone(origin)
	here.muddle()
	run, question := here.parked(s)
	work := here.state()
	there := newWorldWith(t, plainProgram).standIn(s).inClone(origin)
	here.watches(k.at)
	there.watches(k.at)
	file := filepath.Join(t.TempDir(), "run.tar.gz")
	here.run("pack", run, "-o", file)
	if here.ps().Reason != "packed into "+file+"; resume it where that file is unpacked" {
		here.must("pack", run, "-o", file)
	}
	there.run("unpack", file)
	if len(there.runs()) == 0 {
		there.must("unpack", file)
	}
	if got := there.state(); got != work {
		t.Errorf("the work is\n%s\nand was\n%s", got, work)
	}
	if there.made(".claude-supervise-unpack") {
		t.Error("what unpacking needed for itself is left in the folder")
	}
	there.must("answer", question, "JWT")
	if told := there.must("show", run); !strings.Contains(told, "out of a pack file: "+file) {
		t.Errorf("nobody is told that it came out of a file:\n%s", told)
	}
	there.must(append([]string{"resume", run, "--"}, s.ClaudeFlags...)...) // without them its first write is asked about
	there.written("auth.txt", "login by JWT\n")
}

// Who asks a run for a pack and is killed asks again; the run goes on here.
func packedMeanwhile(t *testing.T, k *blow) {
	s := load(t, "ask")
	here := newWorldWith(t, plainProgram).standIn(s)
	run := here.start(here.runArgs(s, "--hold", "forever", "--on-question", "ask")...)
	question := run.until("question").Question
	here.watches(k.at)
	file := filepath.Join(t.TempDir(), "run.tar.gz")
	here.exits(-1, "pack", question.Run, "-o", file)
	here.must("pack", question.Run, "-o", file)
	there := newWorldWith(t, plainProgram).standIn(s)
	there.must("unpack", file)
	if open := there.questions(); len(open) != 1 || open[0].ID != question.ID {
		t.Errorf("elsewhere open are %+v", open)
	}
	here.must("answer", question.ID, "JWT")
	here.ends(run, 0)
	here.written("auth.txt", "login by JWT\n")
}

// Whatever is killed with a snapshot half done, the run goes on: elsewhere from the last one that is whole, or here
// where there is none yet.
func snapshot(t *testing.T, k *blow) {
	s := load(t, "ask")
	here := newWorldWith(t, plainProgram).standIn(s)
	dir := t.TempDir()
	here.watches(k.at)
	run := here.start(here.runArgs(s, "--snapshots", dir, "--hold", "0", "--on-question", "park")...)
	run.wait()
	id := here.ps().ID
	there := newWorldWith(t, plainProgram).standIn(s)
	there.watches(k.at)
	code, _, said := there.run("unpack", dir)
	goesOn := there
	switch {
	case k.point == "after taking over":
		there.must("unpack", dir) // it was killed: nobody has the run, and it is there to be taken over
	case code == 0:
	case strings.Contains(said, "there is no snapshot"):
		goesOn = here
	default:
		t.Fatalf("unpack exits %d: %s", code, said)
	}
	if goesOn == there {
		if code, _, said := here.run("resume", id); code != 1 {
			t.Errorf("it continues in two places: exit %d: %s", code, said)
		}
	}
	if len(goesOn.questions()) == 0 { // the snapshot is of the moment before
		goesOn.run(append([]string{"resume", id, "--on-question", "park", "--"}, s.ClaudeFlags...)...)
	}
	goesOn.must("answer", goesOn.questions()[0].ID, "JWT")
	goesOn.must(append([]string{"resume", id, "--"}, s.ClaudeFlags...)...)
	goesOn.written("auth.txt", "login by JWT\n")
}

// A supervisor that is killed while it finds out that it has lost its run leaves nothing that goes on: the run is
// elsewhere, and cannot be resumed here.
func lost(t *testing.T, k *blow) {
	s := load(t, "ask")
	here := newWorldWith(t, plainProgram).standIn(s)
	dir, taken := t.TempDir(), make(chan struct{}, 64)
	here.watches(func(pid int, p pass) {
		if p.point == "after save snapshotted" {
			taken <- struct{}{}
		}
		k.at(pid, p)
	})
	run := here.start(here.runArgs(s, "--snapshots", dir, "--hold", "forever", "--on-question", "ask")...)
	question := run.until("question").Question.ID
	<-taken
	id := here.ps().ID
	there := newWorldWith(t, plainProgram).standIn(s)
	there.must("unpack", dir)
	run.wait()
	if code, _, said := here.run("resume", id); code != 1 || !strings.Contains(said, "continues") {
		t.Errorf("it continues in two places: exit %d: %s", code, said)
	}
	there.must("answer", question, "JWT")
	there.must(append([]string{"resume", id, "--"}, s.ClaudeFlags...)...)
	there.written("auth.txt", "login by JWT\n")
	if here.made("auth.txt") {
		t.Error("the agent of the killed supervisor went on")
	}
	if left := machine.Marked(id); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}
