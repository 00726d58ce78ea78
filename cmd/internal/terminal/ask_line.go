package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// AskLine shows a question on out and returns the line that a person types on the terminal in, without the space around
// it. The prompt is shown once the question's grace is over; what was typed before is dropped. It blocks until a line
// or the end of input comes, which is io.EOF. A signal that ends the process leaves the terminal as it was.
func AskLine(in *os.File, out io.Writer, question, prompt string) (string, error) {
	return askLine(in, out, question, prompt, time.Now)
}

func askLine(in *os.File, out io.Writer, question, prompt string, now func() time.Time) (string, error) {
	_, _ = io.WriteString(out, question) // a terminal that shows nothing is not typed on
	if err := awaitGrace(in, now); err != nil {
		return "", err
	}
	_, _ = io.WriteString(out, prompt)
	line, err := bufio.NewReader(in).ReadString('\n') // a terminal gives one line at a time: nothing is read ahead
	if line = strings.TrimSpace(line); line != "" {
		return line, nil
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("reading what was typed: %w", err)
	}
	return "", err
}

// awaitGrace drops what is typed until the grace of a question that was just shown is over. Keys are read one by one
// meanwhile, and not shown.
func awaitGrace(in *os.File, now func() time.Time) error {
	l, err := newLines(in)
	if err != nil {
		return err
	}
	defer l.close()
	var ended atomic.Pointer[os.Signal]
	var continued atomic.Bool
	signals := []os.Signal{syscall.SIGCONT}
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signals = append(signals, s)
		}
	}
	defer onSignal(func(s os.Signal) {
		if s == syscall.SIGCONT {
			continued.Store(true)
		} else {
			ended.Store(&s)
		}
		l.wake()
	}, signals...)()
	mode := keyMode{fd: l.fd}
	defer mode.leave(l.foreground)
	var g grace
	for {
		limit := backgroundLook
		listen := l.foreground()
		if listen {
			if err := mode.enter(); errors.Is(err, unix.EIO) {
				return nil // the terminal hung up, which who reads it is told
			} else if err != nil {
				return err
			}
			if continued.Swap(false) || !g.on() {
				l.discard()
				g.begin(now())
			}
			limit = g.left(now())
		} else {
			g = grace{}
		}
		ready, err := l.wait(listen, limit)
		if err != nil {
			return err
		}
		switch {
		case ended.Load() != nil:
			mode.leave(l.foreground)
			again(*ended.Load())
		case !listen || !l.foreground():
		case ready:
			if gone := l.drop(); gone {
				return nil
			}
			g.drop(now())
		case !continued.Load() && g.end(now()):
			l.discard()
			return nil
		}
	}
}

// again lets a signal do what it would have done.
func again(s os.Signal) {
	signal.Reset(s)
	if err := unix.Kill(unix.Getpid(), s.(syscall.Signal)); err == nil {
		select {} // it ends the process
	}
}

// drop reads what waits and forgets it, in a mode in which a read does not block. It reports whether the terminal is
// gone.
func (l *lines) drop() (gone bool) {
	buf := make([]byte, 4096)
	n, err := unix.Read(l.fd, buf)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
		return false
	}
	return err != nil || n == 0 && l.waiting()
}
