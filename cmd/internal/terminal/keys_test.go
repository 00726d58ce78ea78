package terminal

import (
	"context"
	"testing"

	"golang.org/x/sys/unix"

	"claude-supervise/procs/pty"
)

func TestAKeyIsTakenWithoutEnterAndTheModeIsRestored(t *testing.T) {
	for name, leave := range map[string]func(*testing.T, func(string), context.CancelFunc){
		"a key":  func(_ *testing.T, press func(string), _ context.CancelFunc) { press("xyz"); press("q") },
		"an end": func(_ *testing.T, _ func(string), cancel context.CancelFunc) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			person, tty, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = person.Close(); _ = tty.Close() }()
			before, err := unix.IoctlGetTermios(int(tty.Fd()), getMode)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error)
			ready := make(chan *unix.Termios, 1)
			go func() {
				done <- AwaitKey(ctx, tty, "qQ", func() {
					mode, _ := unix.IoctlGetTermios(int(tty.Fd()), getMode)
					ready <- mode
				})
			}()
			if mode := <-ready; mode == nil || mode.Lflag&unix.ECHO != 0 {
				t.Errorf("it is ready in the mode %+v: what is typed is shown", mode)
			}
			press := func(keys string) {
				if _, err := person.WriteString(keys); err != nil {
					t.Error(err)
				}
			}
			leave(t, press, cancel)
			if err := <-done; err != nil {
				t.Error(err)
			}
			after, err := unix.IoctlGetTermios(int(tty.Fd()), getMode)
			if err != nil {
				t.Fatal(err)
			}
			if *after != *before {
				t.Errorf("the mode was %+v, and is %+v", before, after)
			}
		})
	}
}

func TestATerminalThatIsGoneIsNotWaitedFor(t *testing.T) {
	person, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tty.Close() }()
	done := make(chan error)
	go func() { done <- AwaitKey(t.Context(), tty, "q", func() {}) }()
	if err := person.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
