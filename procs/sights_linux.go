package procs

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// A sight is what never changes of a process that was looked at, so that it is read once.
type sight struct {
	start uint64 // when it began, in clock ticks since boot
	owner Marker // the launch of this supervisor that it descends from; zero: from none, as far as was to be seen
}

type sights map[entry]sight

// seen is what the looks at the table so far have learned. It is replaced whole; of two looks at once one is lost, and
// what it learned is read again.
var seen atomic.Pointer[sights]

// noInode stands in the listing where the kernel had no memory to make an inode.
const noInode = 1

func (s *sights) of(e entry) (one sight, known bool) {
	if s == nil || e.inode <= noInode {
		return sight{}, false
	}
	one, known = (*s)[e]
	return one, known
}

// with adds what was learned, and forgets what is not listed any more.
func (s *sights) with(learned sights, listed []entry) *sights {
	for _, e := range listed {
		if one, known := s.of(e); known {
			learned[e] = one
		}
	}
	return &learned
}

// A newcomer is a process that a look has read, and none before it, as it was listed.
type newcomer struct {
	entry
	process
}

// learn returns what is to be learned of newcomers: from which launches of this supervisor they descend. That is its
// own children and whatever has a parent that does. It goes by descent alone, which no process can choose, and is asked
// when they are first seen: an orphan does not show where it comes from.
func (s *sights) learn(newcomers []newcomer, listed []entry) sights {
	learned := make(sights, len(listed))
	launched.Lock()
	for _, p := range newcomers {
		one := sight{start: p.start}
		if root := launched.pids[p.entry.pid]; root != nil && root.id == p.identity {
			one.owner = root.Spec.Marker
		}
		learned[p.entry] = one
	}
	launched.Unlock()
	above := func(p newcomer) sight {
		at, there := slices.BinarySearchFunc(listed, p.parent, func(e entry, pid int) int { return cmp.Compare(e.pid, pid) })
		if !there {
			return sight{}
		}
		if one, anew := learned[listed[at]]; anew {
			return one
		}
		one, _ := s.of(listed[at])
		return one
	}
	for more := true; more; { // one round does, but where the numbers have begun anew
		more = false
		for _, p := range newcomers {
			one := learned[p.entry]
			if parent := above(p); one.owner == (Marker{}) && parent.owner != (Marker{}) && parent.start <= one.start {
				learned[p.entry], more = sight{one.start, parent.owner}, true
			}
		}
	}
	return learned
}
