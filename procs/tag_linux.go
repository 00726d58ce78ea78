package procs

import (
	"errors"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A tag is a Marker where `env -i`, a changed title, setsid and a parent that is gone do not reach it: as the soft
// RLIMIT_RTTIME (getrlimit(2)) of each process of the launch. Like all limits it is inherited over fork and exec, and
// read with one cheap call by whoever has the same user id. Of all limits it is the one that means least: it bounds how
// long a process with a real-time priority may compute without a pause, and at over 100,000 years it bounds nothing.
// A process that sets this very limit itself loses the tag.
type tag uint64

// tag is made of the marker alone, so that a sweep knows it after a crash.
func (m Marker) tag() tag {
	h := fnv.New64a()
	for _, word := range []string{m.Run, m.Agent, strconv.Itoa(m.Launch)} {
		_, _ = h.Write([]byte(word + "\x00"))
	}
	return tag(1<<62 | h.Sum64()>>2)
}

// pass gives the tag to what this process starts until taken is called. So a child has it before it can start others;
// yet what another goroutine starts meanwhile has it too. That is told by its session, which is this process's own, as
// no process of a launch can make it. Where the system allows no such limit the environment has to do.
func (t tag) pass() (taken func()) {
	var own unix.Rlimit
	if unix.Prlimit(0, unix.RLIMIT_RTTIME, nil, &own) != nil || own.Max < uint64(t) {
		return func() {}
	}
	_ = unix.Prlimit(0, unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: uint64(t), Max: own.Max}, nil)
	return func() { _ = unix.Prlimit(0, unix.RLIMIT_RTTIME, &own, nil) }
}

// tagOn reads what stands where a process has its tag: one, or a limit of its own.
func tagOn(pid int) (tag, error) {
	var limit unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &limit)
	return tag(limit.Cur), err
}

// on reports whether a process has the tag, and has it as one of the launch. One that has ended has it until it is
// reaped.
func (t tag) on(pid int) bool { on, _ := t.look(pid); return on }

func (t tag) look(pid int) (on, gone bool) {
	found, err := tagOn(pid)
	if err != nil || found != t {
		return false, errors.Is(err, unix.ESRCH)
	}
	session, err := unix.Getsid(pid)
	own, ownErr := unix.Getsid(0)
	return err == nil && ownErr == nil && session != own, errors.Is(err, unix.ESRCH)
}

// tagged reports whether this process has the tag of any launch: it was started by one, whatever has become of its
// environment and of its parents. What was started beside a launch may have it, too; the session that it is in began
// elsewhere.
func tagged() bool {
	has := func(pid int) (has, gone bool) {
		t, err := tagOn(pid)
		return err == nil && t>>62 == 1, errors.Is(err, unix.ESRCH)
	}
	if own, _ := has(0); !own {
		return false
	}
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	leads, gone := has(session)
	return leads || gone
}

// vanishedLooks is how many looks in a row, at which something was gone before its turn came, count as one at which
// nothing was: on a busy machine processes of others end all the time.
const vanishedLooks = 20

// killListed kills every process that has the tag, but the excluded ones, until it can tell that none is left or the
// time is until. It gives how many of them lived.
//
// A process that does nothing but fork and exit has another number each time one looks for it. Two things catch it:
// the newest number is looked at first, a moment after it was listed; and a look that finds nothing proves it only if
// nothing that was listed had gone when its turn came. Numbers are given, and listed, in rising order, so a listing
// always has a link of such a chain.
func (t tag) killListed(excluded []identity, until time.Time) (struck int, err error) {
	seen := map[int]bool{}
	for _, id := range excluded {
		seen[id.pid] = true
	}
	for doubtful := 0; doubtful < vanishedLooks && time.Now().Before(until); doubtful++ {
		entries, err := list()
		if err != nil {
			return struck, err
		}
		missed := false
		for _, e := range slices.Backward(entries) {
			pid := e.pid
			if seen[pid] {
				continue
			}
			on, gone := t.look(pid)
			missed = missed || gone
			if !on {
				continue
			}
			seen[pid], missed, doubtful = true, true, 0
			if t.kill(pid) {
				struck++
			}
		}
		if !missed {
			break
		}
	}
	return struck, nil
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
