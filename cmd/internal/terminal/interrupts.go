package terminal

import (
	"os"
	"syscall"
	"time"
)

// echoTime is within which a second Ctrl-C is the first one over again: a program that waits for this one, as timeout
// and npm do, passes on what the terminal has sent to both.
const echoTime = 100 * time.Millisecond

// Interrupts tells the wishes of a person to leave from the signals that bring them. One wish may bring many: a
// terminal that closes sends SIGHUP by the kernel and by the shell, and timeout sends SIGTERM to its child and to the
// group. So only a Ctrl-C, and a SIGTERM after one, is a second wish. The zero value is ready.
type Interrupts struct {
	first os.Signal // nil: none has come
	last  time.Time // when the latest Ctrl-C came
}

// Wish reports whether a signal is a wish of its own.
func (i *Interrupts) Wish(sig os.Signal, now time.Time) bool {
	echo := sig == os.Interrupt && !i.last.IsZero() && now.Sub(i.last) < echoTime
	if sig == os.Interrupt {
		i.last = now
	}
	if i.first == nil {
		i.first = sig
		return true
	}
	return !echo && (sig == os.Interrupt || sig == syscall.SIGTERM && i.first == os.Interrupt)
}
