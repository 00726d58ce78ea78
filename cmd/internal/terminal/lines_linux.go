package terminal

import (
	"time"

	"golang.org/x/sys/unix"
)

// poll is one wait of readable's, which a signal may interrupt (EINTR).
func poll(fds []int, limit time.Duration) ([]bool, error) {
	polled := make([]unix.PollFd, len(fds))
	for i, fd := range fds {
		polled[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	}
	millis := -1
	if limit >= 0 {
		millis = int(limit.Milliseconds())
	}
	if _, err := unix.Poll(polled, millis); err != nil {
		return nil, err
	}
	ready := make([]bool, len(fds))
	for i := range polled {
		ready[i] = polled[i].Revents != 0
	}
	return ready, nil
}

func flushInput(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
