package terminal

import (
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// poll is one wait of readable's, which a signal may interrupt (EINTR). It is select, because poll of this system does
// not know every terminal device.
func poll(fds []int, limit time.Duration) ([]bool, error) {
	if highest := slices.Max(fds); highest >= unix.FD_SETSIZE {
		return nil, errors.New("too many open files to wait for a terminal")
	}
	var set unix.FdSet
	for _, fd := range fds {
		set.Set(fd)
	}
	var timeout *unix.Timeval
	if limit >= 0 {
		t := unix.NsecToTimeval(limit.Nanoseconds())
		timeout = &t
	}
	ready := make([]bool, len(fds))
	if _, err := unix.Select(slices.Max(fds)+1, &set, nil, nil, timeout); err != nil {
		return nil, err
	}
	for i, fd := range fds {
		ready[i] = set.IsSet(fd)
	}
	return ready, nil
}

// flushInput is tcflush(TCIFLUSH), which this system spells as the flag FREAD.
func flushInput(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, unix.TCIFLUSH) }
