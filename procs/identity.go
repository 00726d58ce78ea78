package procs

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// An identity is what a process is known by: its number, which is used again, and when it started, in ticks of the
// system's own (Linux: clock ticks since boot; macOS: microseconds since 1970).
type identity struct {
	pid   int
	start uint64
}

// A process is one line of the system's process table.
type process struct {
	identity
	parent  int
	session int
	ended   bool          // a zombie: it has ended and waits for its parent
	stopped bool          // suspended by a signal
	cpu     time.Duration // computed by it and the children that it has waited for; 0 where the table does not say
	rss     int64         // bytes of memory that it holds; 0 where the table does not say
}

// Suspended reports whether the process of this number is suspended, as by Ctrl-Z.
func Suspended(pid int) bool {
	p, err := read(pid)
	return err == nil && p.stopped
}

// Began returns when this process was started, to a hundredth of a second and never earlier: what came before it is
// before this, and however long it took a busy machine to come to what was typed, that is not counted. Where the system
// does not say it is now.
func Began() time.Time {
	p, err := read(os.Getpid())
	if err != nil {
		return time.Now()
	}
	at := began(p.start)
	if now := time.Now(); now.Before(at) {
		return now
	}
	return at
}

// Exists reports whether there is a process of this number, whichever it is.
func Exists(pid int) bool {
	_, err := read(pid)
	return err == nil
}

// alive reports whether the process still runs.
func (id identity) alive() bool {
	p, err := read(id.pid)
	return err == nil && p.identity == id && !p.ended
}

// A handle holds on to one process, so that a signal can reach no other. Where the system has pidfds it is one; else
// the identity is compared first, which leaves a gap of microseconds.
type handle struct {
	id identity
	fd *os.File // nil without pidfds
}

// signal sends sig. A process that is gone is no error.
func (h *handle) signal(sig unix.Signal) error {
	err := h.send(sig)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return os.NewSyscallError("kill", err)
}

// pollEvery is how often a process is looked at where the kernel does not tell.
const pollEvery = 10 * time.Millisecond

// poll waits for the process by looking at it again and again.
func (h *handle) poll(ctx context.Context) bool {
	again := time.NewTicker(pollEvery)
	defer again.Stop()
	for h.id.alive() {
		select {
		case <-ctx.Done():
			return false
		case <-again.C:
		}
	}
	return true
}
