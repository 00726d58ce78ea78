package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// A rawTerminal is the person's terminal while a form has it: keys are read one by one. Ctrl-C stays the kernel's. So
// does what Ctrl-Z and Ctrl-\ do, to all of the pipeline that the program may stand in, but the terminal is as it was
// before they do it. It asks the terminal nothing: a reply could end up in the person's shell, or be taken for an
// answer.
//
// It is not a tea.Program: that draws sixty times a second, which wakes a program that may wait for days; it asks the
// terminal what it can do; and it sets modes in the background too, where that stops the whole run.
type rawTerminal struct {
	lines   *lines
	clear   func(context.Context) // takes what is drawn off the terminal, before the program stops
	mode    keyMode
	keys    keyboard
	arrived time.Time // when something last did
	restore func()    // nil while the terminal is not taken

	stopped     atomic.Bool // others have had the terminal since the form was drawn
	interrupted atomic.Bool // Ctrl-C was pressed since lines are read
}

func newRawTerminal(l *lines, out *Printer) *rawTerminal {
	s := &rawTerminal{lines: l, mode: keyMode{fd: l.fd, stops: true}}
	s.clear = func(ctx context.Context) {
		if s.restore != nil { // a form is drawn
			out.draw([]string{}, false)
		}
		out.finishLine(ctx)
	}
	return s
}

// errHungUp is the end of the terminal: nobody is there any more.
var errHungUp = errors.New("the terminal is gone")

// take sets the mode in which keys are read, again if a shell has set another one meanwhile. What was typed before the
// form was to be seen is no answer to it. The error is errHungUp if the terminal is gone.
func (s *rawTerminal) take() error {
	if s.restore == nil {
		s.lines.mode.leave(s.lines.foreground)
		s.discard()
	}
	if err := s.mode.enter(); err != nil {
		return orHungUp(err)
	}
	if s.restore == nil {
		s.restore = onReturn(func(sig os.Signal) { // after a SIGWINCH the next turn draws what fits
			if sig == syscall.SIGCONT {
				s.stopped.Store(true)
			}
			s.lines.wake()
		}, syscall.SIGWINCH)
	}
	return nil
}

// takeLines has the terminal keep the half line that Ctrl-C, Ctrl-Z or Ctrl-\ cut off. The error is errHungUp if the
// terminal is gone.
func (s *rawTerminal) takeLines() error {
	if s.restore != nil {
		s.leave()
	}
	if s.lines.mode.before == nil {
		s.interrupted.Store(false)
	}
	return orHungUp(s.lines.mode.enter())
}

func orHungUp(err error) error {
	if errors.Is(err, unix.EIO) {
		return errHungUp
	}
	return err
}

// leave gives the terminal back as it was.
func (s *rawTerminal) leave() {
	s.lines.mode.leave(s.lines.foreground)
	if s.restore == nil {
		return
	}
	s.restore()
	s.restore = nil
	s.mode.leave(s.lines.foreground)
}

// discard forgets what was typed.
func (s *rawTerminal) discard() {
	s.lines.discard()
	s.keys.reset()
}

// halfLine takes what was typed of a line, and not sent, from a terminal in line mode. Out of that mode all of it can
// be read.
func (s *rawTerminal) halfLine() string {
	if s.restore != nil || !s.lines.foreground() {
		return ""
	}
	mode := keyMode{fd: s.lines.fd}
	if mode.enter() != nil {
		return ""
	}
	defer mode.leave(s.lines.foreground)
	buf := make([]byte, kernelLine+1)
	n, _ := unix.Read(s.lines.fd, buf)
	half := string(s.lines.pending) + string(buf[:max(n, 0)])
	s.lines.pending = nil
	return half
}

// minute is how often a form is drawn anew though nothing happens: it says how long ago it was asked.
const minute = time.Minute

// await blocks until keys come, wake is called or the time is over; for a negative limit it never is. What was begun
// and is not completed is a key of its own soon after. A key that stops or quits the program does so, and is not among
// the keys. quiet reports whether the terminal is the program's and nothing is being typed on it. The error is
// errHungUp if the terminal is gone.
func (s *rawTerminal) await(limit time.Duration) (keys []tea.Msg, quiet bool, err error) {
	if s.keys.half() {
		limit = escapeTime
	}
	ready, err := s.lines.wait(true, limit)
	if err != nil || !s.lines.foreground() {
		return nil, false, err
	}
	if keys, err = s.read(ready); err != nil || s.onKey(keys) {
		return nil, false, err
	}
	return keys, !ready && !s.keys.open(), nil
}

// read returns the keys that have arrived, if any.
func (s *rawTerminal) read(ready bool) (got []tea.Msg, err error) {
	if !ready {
		if s.keys.half() && time.Since(s.arrived) >= escapeTime {
			got = s.keys.settle()
		}
		return got, nil
	}
	var in []byte
	buf := make([]byte, 4096)
	for len(in) < maxText {
		n, err := unix.Read(s.lines.fd, buf)
		switch {
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
			n = 0
		case errors.Is(err, unix.EIO):
			return nil, errHungUp
		case err != nil:
			return nil, fmt.Errorf("reading the terminal: %w", err)
		case n == 0 && len(in) == 0 && s.lines.waiting():
			return nil, errHungUp
		}
		in = append(in, buf[:n]...)
		// A paste without marks comes in pieces; keys that are pressed come one by one.
		if n == 0 || n == 1 && len(in) == 1 {
			break
		}
		if more, err := readable([]int{s.lines.fd}, pasteQuiet); err != nil || !more[0] {
			break
		}
	}
	s.arrived = time.Now()
	return s.keys.take(in), nil
}

// onKey stops or quits the program where a key asks for that, and tells so. What was typed with it is forgotten, as the
// kernel would.
func (s *rawTerminal) onKey(got []tea.Msg) bool {
	for _, msg := range got {
		key, ok := msg.(tea.KeyPressMsg)
		switch {
		case !ok:
		case key.String() == "ctrl+z":
			s.suspend(unix.SIGTSTP)
			return true
		case key.String() == `ctrl+\`:
			s.suspend(unix.SIGQUIT)
			return true
		}
	}
	return false
}

// stopTime is how long a stop by a signal may take to happen. In a process group that nobody could wake again none
// happens.
const stopTime = 100 * time.Millisecond

// suspend leaves the terminal as it was and sends a signal to whom the kernel would: all of this process group. That
// stops the program as nothing here ever asks for SIGTSTP: the runtime would take it from then on, for ever, to no
// effect. It reports whether the program was stopped, and goes on now.
func (s *rawTerminal) suspend(sig unix.Signal) bool {
	// a terminal that stands still does not hold a Ctrl-Z up
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s.clear(ctx)
	s.leave()
	s.stopped.Store(true)
	return stopGroup(sig)
}

// stopGroup sends a signal that stops to all of this process group, and reports whether the program was stopped, and
// goes on now.
func stopGroup(sig unix.Signal) bool {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if err := unix.Kill(0, sig); err != nil {
		return false
	}
	for range 2 { // going on, the time may be over before the signal arrives; then it comes at once
		select {
		case <-continued:
			return true
		case <-time.After(stopTime):
		}
	}
	return false
}
