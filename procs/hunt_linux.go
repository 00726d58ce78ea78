package procs

import (
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// vanishedLooks is how many looks in a row, at which something was gone before its turn came, count as one at which
// nothing was: on a busy machine processes of others end all the time.
const vanishedLooks = 20

// A hunt kills every process that has a tag.
type hunt struct {
	tag    tag
	seen   map[int]bool // these numbers count no more
	struck int          // this many of those that it has killed lived
	found  bool         // the last look has found one
	missed bool         // the last look proves nothing: it has found one, or what may have been one was gone
}

// killListed kills every process that has the tag, but the excluded ones, until it can tell that none is left or the
// time is until. It gives how many of them lived.
//
// A process that does nothing but fork and exit has another number each time one looks for it. Two things catch it:
// the newest number is looked at first, a moment after it was listed; and a look that finds nothing proves it only if
// nothing that was listed, and may have had the tag, had gone when its turn came. Numbers are given, and listed, in
// rising order, so a listing always has a link of such a chain.
func (t tag) killListed(excluded []identity, until time.Time) (struck int, err error) {
	h := &hunt{tag: t, seen: map[int]bool{}}
	for _, id := range excluded {
		h.seen[id.pid] = true
	}
	for doubtful := 0; doubtful < vanishedLooks && time.Now().Before(until); doubtful++ {
		if err := hunts.ask(h); err != nil {
			return h.struck, err
		}
		if !h.missed {
			break
		}
		if h.found {
			doubtful = 0
		}
	}
	return h.struck, nil
}

// hunts share their looks: one listing serves all who hunt at that moment.
var hunts = looks[*hunt, error]{look: new(quarry).look}

// A quarry is what stood where tags stand when the processes that are listed were first looked at. What has no tag of a
// launch then never gets it: a process has it from its birth, and only the supervisor that starts the launch sets it,
// on itself. So such a process is not looked at again, and nothing was missed when it is gone: of a thousand launches
// that end at once each sees the processes of all others go. An exec leaves it as it is.
type quarry struct{ tags map[entry]tag }

// look looks at all processes for those who hunt. It is called by one at a time.
func (q *quarry) look(hunts []*hunt) error {
	entries, err := list()
	if err == nil {
		q.lookAt(entries, hunts)
	}
	return err
}

func (q *quarry) lookAt(entries []entry, hunts []*hunt) {
	of := map[tag][]*hunt{}
	for _, h := range hunts {
		h.found, h.missed = false, false
		of[h.tag] = append(of[h.tag], h)
	}
	tags := make(map[entry]tag, len(entries))
	for _, e := range slices.Backward(entries) {
		t, known := q.tags[e]
		if !known || of[t] != nil {
			concerned := hunts
			if known {
				concerned = of[t]
			}
			var err error
			if t, err = tagOn(e.pid); err != nil {
				if errors.Is(err, unix.ESRCH) {
					missed(concerned, e.pid)
				}
				continue
			}
			for _, h := range of[t] {
				h.strike(e.pid)
			}
		}
		if e.inode > noInode {
			tags[e] = t
		}
	}
	q.tags = tags // and what is not listed any more is forgotten
}

func missed(hunts []*hunt, pid int) {
	for _, h := range hunts {
		h.missed = h.missed || !h.seen[pid]
	}
}

// strike kills a process that has the tag.
func (h *hunt) strike(pid int) {
	if h.seen[pid] {
		return
	}
	if !isApart(pid) {
		h.missed = h.missed || errors.Is(unix.Kill(pid, 0), unix.ESRCH)
		return
	}
	h.seen[pid], h.found, h.missed = true, true, true
	if h.tag.kill(pid) {
		h.struck++
	}
}

// kill kills a process if it has the tag, and reports whether it lived.
func (t tag) kill(pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	switch err {
	case nil:
		defer unix.Close(fd)
	case unix.ESRCH:
		return false
	default: // no pidfds: the sweep finds it by its identity
		return t.on(pid)
	}
	if !t.on(pid) { // the number was given again in between
		return false
	}
	ended := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if n, _ := unix.Poll(ended, 0); n > 0 {
		return false
	}
	return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}
