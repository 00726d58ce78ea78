package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// AwaitKey blocks until one of the keys is pressed on the terminal in, the terminal is gone, or ctx ends. Meanwhile
// keys are read one by one and are not shown; Ctrl-C and Ctrl-Z keep their meaning. Then the terminal is as it was
// before. A background job touches nothing until it is in the foreground. It fails only if the terminal cannot be
// waited for.
//
// ready is called once: from then on nothing that is typed is shown, or this is a background job.
func AwaitKey(ctx context.Context, in *os.File, keys string, ready func()) error {
	l, err := newLines(in)
	if err != nil {
		return err
	}
	defer l.close()
	defer context.AfterFunc(ctx, l.wake)()
	defer onContinue(l.wake)()
	mode := keyMode{fd: l.fd}
	defer mode.leave(l.foreground)
	ready = sync.OnceFunc(ready)
	buf := make([]byte, 64)
	for ctx.Err() == nil {
		listen, limit := l.foreground(), time.Duration(-1)
		if !listen {
			limit = backgroundLook
		} else if err := mode.enter(); errors.Is(err, unix.EIO) {
			return nil // the terminal hung up
		} else if err != nil {
			return err
		}
		ready()
		typed, err := l.wait(listen, limit)
		if err != nil {
			return err
		}
		if !typed || !l.foreground() {
			continue
		}
		n, err := unix.Read(l.fd, buf)
		switch {
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		case n == 0 && !l.waiting(): // a Ctrl-C has thrown away what was there to read
		case err != nil, n == 0, strings.ContainsAny(string(buf[:n]), keys):
			return nil
		}
	}
	return nil
}

// onContinue calls f whenever this process goes on after a Ctrl-Z.
func onContinue(f func()) (stop func()) {
	return onSignal(func(os.Signal) { f() }, syscall.SIGCONT)
}

// leaveTime is how long after a SIGCONT the signal may come that was sent before it: threads take them side by side.
const leaveTime = 50 * time.Millisecond

// onReturn calls f with each SIGCONT, and with each of the other signals, until the program is to leave. Who ends one
// sends a SIGCONT behind the SIGTERM or the SIGHUP, lest it stand still (timeout, systemd, a shell's kill): nobody
// returns by that, and what stands on the terminal is not to be drawn again. For programs that take both themselves.
func onReturn(f func(os.Signal), others ...os.Signal) (stop func()) {
	wanted := append([]os.Signal{syscall.SIGCONT, syscall.SIGTERM}, others...)
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		wanted = append(wanted, syscall.SIGHUP)
	}
	arrived, done := make(chan os.Signal, 8), make(chan struct{})
	signal.Notify(arrived, wanted...)
	var taking sync.WaitGroup
	taking.Go(func() {
		var returned <-chan time.Time
		for leaves := false; ; {
			select {
			case s := <-arrived:
				switch {
				case s == syscall.SIGTERM, s == syscall.SIGHUP:
					leaves, returned = true, nil
				case s != syscall.SIGCONT:
					f(s)
				case !leaves:
					returned = time.After(leaveTime)
				}
			case <-returned:
				returned = nil
				f(syscall.SIGCONT)
			case <-done:
				return
			}
		}
	})
	return func() { signal.Stop(arrived); close(done); taking.Wait() }
}

// onSignal calls f, one call after the other, with each of the signals that arrives.
func onSignal(f func(os.Signal), signals ...os.Signal) (stop func()) {
	arrived, done := make(chan os.Signal, 4), make(chan struct{})
	signal.Notify(arrived, signals...)
	var taking sync.WaitGroup
	taking.Go(func() {
		for {
			select {
			case s := <-arrived:
				f(s)
			case <-done:
				return
			}
		}
	})
	return func() { signal.Stop(arrived); close(done); taking.Wait() }
}

// keyMode is the mode of a terminal in which single keys can be read.
type keyMode struct {
	fd     int
	stops  bool          // Ctrl-Z and Ctrl-\ are read as keys too
	before *unix.Termios // nil until it was entered
}

// enter sets the mode, again if a shell has set another one meanwhile.
func (m *keyMode) enter() error {
	now, err := m.get()
	if err != nil {
		return err
	}
	now.Lflag &^= unix.ICANON | unix.ECHO | unix.IEXTEN
	now.Iflag &^= unix.ICRNL | unix.INLCR | unix.IGNCR // Enter is \r, and Ctrl-J is not
	if m.stops {
		now.Cc[unix.VSUSP], now.Cc[unix.VQUIT] = disabled, disabled
	}
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 0, 0 // a read never blocks
	if err := unix.IoctlSetTermios(m.fd, setMode, now); err != nil {
		return fmt.Errorf("setting the terminal's mode: %w", err)
	}
	return nil
}

// get returns the terminal's mode. The first is kept.
func (m *keyMode) get() (*unix.Termios, error) {
	now, err := unix.IoctlGetTermios(m.fd, getMode)
	if err != nil {
		return nil, fmt.Errorf("reading the terminal's mode: %w", err)
	}
	if m.before == nil {
		before := *now
		m.before = &before
	}
	return now, nil
}

// leave restores the mode. In the background the shell has done so, and who tries it is stopped.
func (m *keyMode) leave(foreground func() bool) {
	if m.before != nil && foreground() {
		_ = unix.IoctlSetTermios(m.fd, setMode, m.before) // fails where the terminal is gone
	}
	m.before = nil
}
