package procs

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestAVanishedProcessIsMissedByWhomItMayHaveBelongedTo(t *testing.T) {
	const nobody = 1 << 30 // no such number is ever given
	ours, others := spec(t, "").Marker.tag(), spec(t, "").Marker.tag()
	gone := entry{nobody, 7}
	for _, c := range []struct {
		name   string
		known  map[entry]tag
		entry  entry
		seen   bool
		missed bool
	}{
		{name: "what was never looked at", entry: gone, missed: true},
		{name: "what had the tag", known: map[entry]tag{gone: ours}, entry: gone, missed: true},
		{name: "what was struck", known: map[entry]tag{gone: ours}, entry: gone, seen: true},
		{name: "what had another's", known: map[entry]tag{gone: others}, entry: gone},
		{name: "what had none", known: map[entry]tag{gone: 0}, entry: gone},
		{name: "what has the number of one that had none", known: map[entry]tag{{nobody, 6}: 0}, entry: gone, missed: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &hunt{tag: ours, seen: map[int]bool{nobody: c.seen}}
			q := quarry{c.known}
			if q.lookAt([]entry{c.entry}, []*hunt{h}); h.missed != c.missed {
				t.Errorf("missed: %v", h.missed)
			}
		})
	}
}

func TestAQuarryKnowsWhatIsListedAndHasAnInode(t *testing.T) {
	own := entryOfSelf(t)
	var q quarry
	q.lookAt([]entry{own, {own.pid, noInode}}, nil)
	if _, known := q.tags[own]; !known || len(q.tags) != 1 {
		t.Errorf("known is %v", q.tags)
	}
	if q.lookAt(nil, nil); len(q.tags) != 0 {
		t.Errorf("what is not listed is still known: %v", q.tags)
	}
}

// Launches that end at once are hunted in one look, each by its own.
func TestOneLookStrikesForAllWhoHunt(t *testing.T) {
	begin := func() (*hunt, life) {
		s, life := spec(t, "hostile"), newLife(t)
		s.Extra = append(s.Extra, "TRICK=all of these", "FIFO="+life.path)
		start(t, s)
		life.await()
		return &hunt{tag: s.Marker.tag(), seen: map[int]bool{}}, life
	}
	one, itsLife := begin()
	other, othersLife := begin()
	_, sparedLife := begin()
	again := &hunt{tag: one.tag, seen: map[int]bool{}} // two end one launch
	var q quarry
	noError(t, q.look([]*hunt{one, other, again}))
	for _, l := range []life{itsLife, othersLife} {
		if l.poll(hangs)&unix.POLLHUP == 0 {
			t.Error("it lives")
		}
	}
	if !sparedLife.goesOn() {
		t.Error("a launch that nobody hunts was ended")
	}
	if !one.found || !other.found || !again.found || one.struck+again.struck < 2 || other.struck < 2 {
		t.Errorf("found %+v, %+v and %+v", one, other, again)
	}
}
