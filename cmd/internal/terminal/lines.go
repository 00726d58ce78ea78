package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// pasteQuiet is how long a terminal has to be silent before a paste counts as complete.
const pasteQuiet = 30 * time.Millisecond

// kernelLine is where the line discipline of Linux cuts a line in silence (N_TTY_BUF_SIZE less the newline).
const kernelLine = 4095

// lines reads whole lines from a terminal that is in line mode, without ever being stuck in a read: it asks the kernel
// first, and a byte in a pipe of its own calls the wait off. Only wake may be called from another goroutine than the
// reader's.
type lines struct {
	fd      int
	file    *os.File // keeps fd open
	waker   *os.File
	ring    *os.File
	woken   atomic.Bool
	mode    lineMode
	pending []byte      // the start of a line
	stop    unix.Signal // what the key that ended it stands for; 0: none did
}

// arrival is what one look at the terminal brought.
type arrival struct {
	lines   []string
	ended   bool // Ctrl-D on an empty line, or the terminal is gone
	tooLong bool // a line or a paste was longer than can be taken; it was dropped

	stop unix.Signal // Ctrl-Z or Ctrl-\ was pressed, and half a line may be pending; 0: none was
}

func newLines(in *os.File) (*lines, error) {
	waker, ring, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("preparing to read the terminal: %w", err)
	}
	fd := int(in.Fd())
	return &lines{fd: fd, file: in, waker: waker, ring: ring, mode: lineMode{keyMode: keyMode{fd: fd}}}, nil
}

func (l *lines) close() {
	l.waker.Close()
	l.ring.Close()
}

// wake ends the present wait, or the next one at once.
func (l *lines) wake() {
	if l.woken.CompareAndSwap(false, true) {
		_, _ = l.ring.Write([]byte{0}) // fails only after close, when nobody waits
	}
}

// wait blocks until the terminal has a line (if listen is set), wake is called, or the time is over; for a negative
// limit it never is. It reports whether there is a line.
func (l *lines) wait(listen bool, limit time.Duration) (bool, error) {
	fds := []int{int(l.waker.Fd())}
	if listen {
		fds = append(fds, l.fd)
	}
	ready, err := readable(fds, limit)
	if err != nil {
		return false, fmt.Errorf("waiting for the terminal: %w", err)
	}
	if ready[0] {
		var b [1]byte
		l.woken.Store(false) // before the read: a wake in between writes again and is not lost
		_, _ = l.waker.Read(b[:])
	}
	return listen && ready[1], nil
}

// waiting reports whether a line was typed already.
func (l *lines) waiting() bool {
	ready, err := readable([]int{l.fd}, 0)
	return err == nil && ready[0]
}

// arrived takes what the terminal has. It goes on until the terminal falls silent or ctx ends, so lines that were
// pasted come together. Of what is too long nothing is kept, but all of it is read: its rest must not become an answer.
func (l *lines) arrived(ctx context.Context) (arrival, error) {
	var got arrival
	for size := 0; ; {
		batch, ended, err := l.read()
		if err != nil {
			return arrival{}, err
		}
		for _, line := range batch {
			size += len(line) + 1
			got.tooLong = got.tooLong || len(line) >= kernelLine || size > maxText
			got.lines = append(got.lines, line)
		}
		if got.tooLong || len(l.pending) > maxText {
			got.tooLong, got.lines, l.pending = true, nil, nil
		}
		got.ended, got.stop, l.stop = ended, l.stop, 0
		if ended || got.stop != 0 || ctx.Err() != nil || size == 0 {
			return got, nil
		}
		ready, err := readable([]int{l.fd}, pasteQuiet)
		if err != nil || !ready[0] {
			return got, err
		}
	}
}

// read takes what one read gives: in line mode one line at most.
func (l *lines) read() (batch []string, ended bool, err error) {
	buf := make([]byte, kernelLine+1)
	n, err := unix.Read(l.fd, buf)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return nil, false, nil
	case errors.Is(err, unix.EIO): // the terminal hung up
		return nil, true, nil
	case err != nil:
		return nil, false, fmt.Errorf("reading the terminal: %w", err)
	case n == 0:
		l.pending = nil
		return nil, true, nil
	}
	if l.stop = l.mode.stops[buf[n-1]]; l.stop != 0 {
		n--
	}
	l.pending = append(l.pending, buf[:n]...)
	for {
		line, rest, found := bytes.Cut(l.pending, []byte("\n"))
		if !found {
			return batch, false, nil
		}
		batch = append(batch, string(line))
		l.pending = rest
	}
}

// discard throws away what was typed and not read, half a line too.
func (l *lines) discard() {
	l.pending = nil
	_ = flushInput(l.fd) // if it fails, what was typed is seen again, and can be taken back
}

// foreground reports whether this process may read the terminal: a background job that does is stopped by the kernel. A
// terminal that does not control this process may always be read.
func (l *lines) foreground() bool {
	group, err := unix.IoctlGetInt(l.fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// readable waits until one of fds can be read or has ended, at most limit (for ever if it is negative), and tells which
// can. The runtime's own signals do not cut the wait short: half a paste would look like a whole one.
func readable(fds []int, limit time.Duration) ([]bool, error) {
	until := time.Now().Add(limit)
	for {
		ready, err := poll(fds, limit)
		if !errors.Is(err, unix.EINTR) {
			return ready, err
		}
		if limit >= 0 {
			limit = max(time.Until(until), 0)
		}
	}
}
