package procs

import (
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"
)

// childEnded is rung when orphans may have to be reaped.
var childEnded = make(chan os.Signal, 1)

var becomeSubreaper = sync.OnceValue(func() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	signal.Notify(childEnded, unix.SIGCHLD)
	// Not waited for: it reaps as long as the program runs, as the kernel's setting lasts.
	go func() {
		for range childEnded {
			reapOrphans()
		}
	}()
	return nil
})

// BecomeSubreaper makes orphans of our children our own, so that what a killed child leaves behind stays in our
// process tree, and reaps them when they end. It never reaps a child that os/exec waits for: those are in our own
// session, or are a Process. So a program that calls this must not start other children in a session of their own and
// wait for them. A second call does nothing. Where the system has no subreapers (macOS) it is errors.ErrUnsupported.
func BecomeSubreaper() error { return becomeSubreaper() }

// reapOrphans reaps the orphans that have ended. To find them may take a look at the whole table, so it is not looked
// for them where nothing has ended, nor before a launch that has ended is reaped: launchReaped comes after that.
func reapOrphans() {
	if !hasEnded(unix.P_ALL, 0) || launchEnded() {
		return
	}
	pids, err := children()
	if err != nil {
		return // zombies cost a line in a table; the next SIGCHLD looks again
	}
	ours, err := unix.Getsid(0)
	if err != nil {
		return
	}
	// Only now, since the list may take milliseconds: what was no orphan then is none now, or has another's number,
	// and an orphan's stays its own until it is reaped here.
	launched.Lock()
	defer launched.Unlock()
	for _, pid := range pids {
		if launched.pids[pid] != nil {
			continue
		}
		if session, err := unix.Getsid(pid); err == nil && session != ours {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) // nothing, if it lives
		}
	}
}

// launchReaped has orphans looked for, since that was put off while the zombie of a launch was there.
func launchReaped() {
	select {
	case childEnded <- unix.SIGCHLD:
	default: // a look is due already
	}
}

// launchEnded reports whether a Process has ended that is not reaped yet.
func launchEnded() bool {
	launched.Lock()
	defer launched.Unlock()
	for pid := range launched.pids {
		if hasEnded(unix.P_PID, pid) {
			return true
		}
	}
	return false
}

// hasEnded reports whether one of these children has ended, and leaves it as it is.
func hasEnded(which, id int) bool {
	var about unix.Siginfo
	err := unix.Waitid(which, id, &about, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && about.Signo != 0
}
