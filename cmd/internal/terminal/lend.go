package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"
)

// endTime is how long a program that has the terminal may take to leave it once it has to.
const endTime = 2 * time.Second

// lend hands the terminal to another program, as a shell does: in a process group of its own, so that Ctrl-C and Ctrl-Z
// are that one's. It blocks until the program ends, which the end of ctx makes it do. Then the terminal is in the mode
// that it was in, whatever the program has left. A program that stops (Ctrl-Z) stops this one too, and goes on with it.
func (s *rawTerminal) lend(ctx context.Context, cmd *exec.Cmd) error {
	s.clear(ctx)
	s.leave()
	before, err := unix.IoctlGetTermios(s.lines.fd, getMode)
	if err != nil {
		return orHungUp(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.lines.file, s.lines.file, s.lines.file
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if _, err := unix.IoctlGetInt(s.lines.fd, unix.TIOCGPGRP); err == nil { // it controls this process
		cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, s.lines.fd
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	group := cmd.Process.Pid
	stop := endingGroup(ctx, group)
	status, err := s.follow(ctx, group)
	stop()
	_ = cmd.Process.Release() // it is waited for
	s.takeBack(group)
	if s.lines.foreground() {
		_ = unix.IoctlSetTermios(s.lines.fd, setMode, before) // fails where the terminal is gone
	}
	const byShell = 128                                     // what sh adds to a signal
	if status.Signaled() || status.ExitStatus() > byShell { // it had no time to clean up
		_, _ = io.WriteString(s.lines.file, ansi.ResetModeAltScreenSaveCursor+ansi.ShowCursor+ansi.ResetModeBracketedPaste)
	}
	s.discard()
	s.stopped.Store(true) // what stands there is the program's
	switch {
	case err != nil:
		return err
	case status.Signaled():
		return errors.New(unix.SignalName(status.Signal()))
	case status.ExitStatus() != 0:
		return fmt.Errorf("exit %d", status.ExitStatus())
	}
	return nil
}

// follow waits for the end of a program that has the terminal.
func (s *rawTerminal) follow(ctx context.Context, group int) (status unix.WaitStatus, err error) {
	for {
		switch _, err := unix.Wait4(group, &status, unix.WUNTRACED, nil); {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || !status.Stopped():
			return status, err
		}
		s.takeBack(group)
		stopGroup(unix.SIGTSTP)
		for ctx.Err() == nil && !s.lines.foreground() { // a shell may have it go on in the background
			if _, err := s.lines.wait(false, backgroundLook); err != nil {
				break
			}
		}
		if s.lines.foreground() {
			_ = unix.IoctlSetPointerInt(s.lines.fd, unix.TIOCSPGRP, group)
		}
		_ = unix.Kill(-group, unix.SIGCONT)
	}
}

// takeBack makes this process group that of the terminal again, if a program has it that it was lent to.
func (s *rawTerminal) takeBack(group int) {
	if now, err := unix.IoctlGetInt(s.lines.fd, unix.TIOCGPGRP); err == nil && now == group {
		signal.Ignore(unix.SIGTTOU) // from the background it would stop this program
		defer signal.Reset(unix.SIGTTOU)
		_ = unix.IoctlSetPointerInt(s.lines.fd, unix.TIOCSPGRP, unix.Getpgrp())
	}
}

// endingGroup ends a process group once ctx ends, until stop is called.
func endingGroup(ctx context.Context, group int) (stop func()) {
	done := make(chan struct{})
	var waited sync.WaitGroup
	waited.Go(func() {
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		_ = unix.Kill(-group, unix.SIGHUP)
		_ = unix.Kill(-group, unix.SIGCONT)
		select {
		case <-done:
		case <-time.After(endTime):
			_ = unix.Kill(-group, unix.SIGKILL)
		}
	})
	return func() { close(done); waited.Wait() }
}
