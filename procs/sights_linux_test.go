package procs

import (
	"context"
	"maps"
	"os"
	"slices"
	"testing"
)

// A look for one launch reads nothing of what descends from another, an orphan that was seen before it was one included.
func TestALookForALaunchLeavesOutWhatDescendsFromAnother(t *testing.T) {
	one, ofOne := family(t)
	other, ofOther := family(t)
	seenBy := func(g glance) map[identity]bool {
		v := views.ask(g)
		if v.err != nil {
			t.Fatal(v.err)
		}
		return maps.Collect(func(yield func(identity, bool) bool) {
			for _, p := range v.all {
				if !yield(p.identity, true) {
					return
				}
			}
		})
	}
	all := seenBy(glance{})
	for _, id := range slices.Concat(ofOne, ofOther) {
		if !all[id] {
			t.Errorf("process %d is not seen", id.pid)
		}
	}
	self, err := read(os.Getpid())
	noError(t, err)
	got := seenBy(glance{of: one.Spec.Marker})
	if !got[one.id] || !got[self.identity] || got[other.id] {
		t.Errorf("of the launch asked for its process is seen: %v; this one: %v; of the other its process: %v",
			got[one.id], got[self.identity], got[other.id])
	}
	for i := range ofOne {
		if !got[ofOne[i]] {
			t.Errorf("relative %d of the launch is not seen", i)
		}
	}
	one.End(context.Background(), Kill)
	other.End(context.Background(), Kill)
	for i, id := range slices.Concat(ofOne, ofOther) {
		if id.alive() {
			t.Errorf("relative %d lives", i)
		}
	}
}

func TestAProcessDescendsFromALaunchByItsParentsAlone(t *testing.T) {
	marker := Marker{Run: "r-1", Agent: "a-1", Launch: 1}
	launched.Lock()
	root := &Process{id: identity{pid: 1 << 28, start: 50}}
	root.Spec.Marker = marker
	launched.pids[root.id.pid] = root
	launched.Unlock()
	t.Cleanup(func() {
		launched.Lock()
		delete(launched.pids, root.id.pid)
		launched.Unlock()
	})
	pid := root.id.pid
	at := func(pid int) entry { return entry{pid: pid, inode: uint64(pid) + 100} }
	before := sights{at(5): {start: 10, owner: marker}, at(6): {start: 99, owner: marker}, at(7): {start: 10}}
	var newcomers []newcomer
	listed := []entry{at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9), at(pid), at(pid + 1)}
	for _, p := range []process{
		{identity: identity{2, 60}, parent: 3},             // the numbers have begun anew
		{identity: identity{3, 60}, parent: pid},           // a child
		{identity: identity{4, 60}, parent: 5},             // of one that was seen before
		{identity: identity{8, 60}, parent: 6},             // of one that has begun later: not its parent
		{identity: identity{9, 60}, parent: 7},             // of one from no launch
		{identity: identity{pid, 50}, parent: 1},           // the root
		{identity: identity{pid + 1, 70}, parent: 1 << 29}, // of one that is not listed
	} {
		newcomers = append(newcomers, newcomer{at(p.pid), p})
	}
	got := before.learn(newcomers, listed)
	for number, owned := range map[int]bool{2: true, 3: true, 4: true, 8: false, 9: false, pid: true, pid + 1: false} {
		if got := got[at(number)].owner == marker; got != owned {
			t.Errorf("process %d is of the launch: %v", number, got)
		}
	}
	root.id.start = 51 // another had the number
	if got := before.learn(newcomers, listed); got[at(pid)].owner != (Marker{}) || got[at(3)].owner != (Marker{}) {
		t.Error("a process is taken for a launch whose number it has")
	}
}
