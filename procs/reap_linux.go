package procs

import (
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"
)

var becomeSubreaper = sync.OnceValue(func() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	go func() { // for as long as the program runs, as the kernel's setting does
		for range ended {
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

func reapOrphans() {
	launched.Lock()
	defer launched.Unlock()
	pids, err := children()
	if err != nil {
		return // zombies cost a line in a table; the next SIGCHLD looks again
	}
	ours, err := unix.Getsid(0)
	if err != nil {
		return
	}
	for _, pid := range pids {
		if launched.pids[pid] {
			continue
		}
		if session, err := unix.Getsid(pid); err == nil && session != ours {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) // nothing, if it lives
		}
	}
}
