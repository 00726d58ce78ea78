package terminal

import "golang.org/x/sys/unix"

// The requests of tcgetattr and tcsetattr.
const (
	getMode = unix.TIOCGETA
	setMode = unix.TIOCSETA
)

// disabled stands in the place of a control character that is none (_POSIX_VDISABLE).
const disabled = 0xff
