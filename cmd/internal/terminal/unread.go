package terminal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// WhenUnread calls f once nobody can read any more what is written to out, if that is a pipe: a command that follows
// something would notice only when it has something to write. Stop must be called; it waits for a call of f that is
// under way.
func WhenUnread(out *os.File, f func()) (stop func(), err error) {
	info, err := out.Stat()
	if err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return func() {}, nil // what is wrong with it, the first write tells
	}
	waker, ring, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("preparing to wait for the end of a pipe: %w", err)
	}
	var waiting sync.WaitGroup
	waiting.Go(func() {
		// No events are asked for: that the other side is gone is told unasked.
		fds := []unix.PollFd{{Fd: int32(waker.Fd()), Events: unix.POLLIN}, {Fd: int32(out.Fd())}}
		for {
			_, err := unix.Poll(fds, -1)
			switch {
			case errors.Is(err, unix.EINTR):
			case err != nil, fds[0].Revents != 0:
				return
			case fds[1].Revents != 0:
				f()
				return
			}
		}
	})
	return func() {
		ring.Close()
		waiting.Wait()
		waker.Close()
	}, nil
}
