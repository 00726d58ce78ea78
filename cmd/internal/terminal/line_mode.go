package terminal

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// lineMode is the terminal's own line mode, in which no half line is lost: Ctrl-C leaves what was typed where it can be
// read, and Ctrl-Z and Ctrl-\ end a line as Enter does, with their own byte behind it. They stop and quit nothing
// then: who reads the line has to. In the kernel's hands they would throw half a line away, or leave it to the shell.
type lineMode struct {
	keyMode
	stops map[byte]unix.Signal // what the keys that end a line stand for
}

// enter sets the mode, again if a shell has set another one meanwhile. A terminal that reads no lines, or obeys no
// keys, is left as it is.
func (m *lineMode) enter() error {
	now, err := m.get()
	if err != nil || now.Lflag&unix.ICANON == 0 || now.Lflag&unix.ISIG == 0 {
		return err
	}
	if now.Cc[unix.VSUSP] == disabled && now.Cc[unix.VQUIT] == disabled && now.Lflag&unix.NOFLSH != 0 {
		return nil // it is set
	}
	m.stops = map[byte]unix.Signal{}
	for _, key := range []struct {
		of, ends int
		does     unix.Signal
	}{{unix.VSUSP, unix.VEOL, unix.SIGTSTP}, {unix.VQUIT, unix.VEOL2, unix.SIGQUIT}} {
		if pressed := now.Cc[key.of]; pressed != disabled {
			m.stops[pressed] = key.does
			now.Cc[key.ends], now.Cc[key.of] = pressed, disabled
		}
	}
	now.Lflag |= unix.NOFLSH | unix.IEXTEN // without the latter Linux knows no VEOL2
	if err := unix.IoctlSetTermios(m.fd, setMode, now); err != nil {
		return fmt.Errorf("setting the terminal's mode: %w", err)
	}
	return nil
}
