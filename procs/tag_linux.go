package procs

import (
	"errors"
	"hash/fnv"
	"strconv"

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

// pass returns the tag to what this process starts until taken is called. So a child has it before it can start others;
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

// tagOf returns the tag of the launch that a process is of, if it has one. One that has ended has it until it is
// reaped.
func tagOf(pid int) (t tag, ok bool) {
	t, err := tagOn(pid)
	return t, err == nil && t.isLaunch() && isApart(pid)
}

// isLaunch tells a tag from a limit that somebody else has set.
func (t tag) isLaunch() bool { return t>>62 == 1 }

// isApart reports whether a process is in another session than this one: else it was started beside a launch.
func isApart(pid int) bool {
	session, err := unix.Getsid(pid)
	own, ownErr := unix.Getsid(0)
	return err == nil && ownErr == nil && session != own
}

// on reports whether a process has the tag, and has it as one of the launch.
func (t tag) on(pid int) bool {
	found, ok := tagOf(pid)
	return ok && found == t
}

// tagged reports whether this process has the tag of any launch: it was started by one, whatever has become of its
// environment and of its parents. What was started beside a launch may have it, too; the session that it is in began
// elsewhere.
func tagged() bool {
	has := func(pid int) (has, gone bool) {
		t, err := tagOn(pid)
		return err == nil && t.isLaunch(), errors.Is(err, unix.ESRCH)
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
