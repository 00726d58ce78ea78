package checkpoints

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The kernel rings for a client that is killed between leaving something and ringing.
func TestWhoDiesWhileLeavingSomethingIsRungFor(t *testing.T) {
	if path := os.Getenv("TEST_RING_AHEAD"); path != "" { // the client
		RingAhead(path)
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
		select {}
	}
	b := listen(t, shortDirs(t))
	for range 3 {
		client := exec.Command(os.Args[0], "-test.run=^TestWhoDiesWhileLeavingSomethingIsRungFor$")
		client.Env = append(os.Environ(), "TEST_RING_AHEAD="+b.Path())
		if err := client.Run(); err == nil {
			t.Fatal("the client was not killed")
		}
		<-b.C()
	}
}

func TestWhoRingsIsRungForOnce(t *testing.T) {
	b := listen(t, shortDirs(t))
	for range 3 * maxAhead { // each lets go of its pipe
		rung := RingAhead(b.Path())
		if len(b.C()) > 0 {
			t.Fatal("it is woken up before anything is left")
		}
		Ring(b.Path())
		<-b.C()
		rung()
	}
	b.closeAhead() // waits for none that has rung, and for none that was let go
	if len(b.C()) > 0 {
		t.Error("it is woken up twice")
	}
}

// Nobody may be there: a program that is told of SIGPIPE, as the board is, must not take that for its terminal's end.
func TestARingAheadToNobodyRaisesNoSignal(t *testing.T) {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	after := make(chan os.Signal, 1)
	signal.Notify(after, syscall.SIGUSR1)
	defer signal.Stop(after)
	RingAhead(filepath.Join(t.TempDir(), "nobody"))()
	noError(t, unix.Kill(os.Getpid(), unix.SIGUSR1))
	<-after // what was raised before has come, too: they are told in order
	if len(broken) > 0 {
		t.Error("it raises SIGPIPE")
	}
}

// What is sent in the place of a pipe, or too many of them, keeps no wake-up socket from its work, nor open files.
func TestWhatIsNoPipeWakesAndIsLetGo(t *testing.T) {
	b := listen(t, shortDirs(t))
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	noError(t, err)
	defer func() { _ = file.Close() }()
	tty, err := os.Open("/dev/ptmx")
	noError(t, err)
	defer func() { _ = tty.Close() }()
	for _, fd := range []int{int(file.Fd()), int(tty.Fd())} {
		send(b.Path(), unix.UnixRights(fd))
		<-b.C()
	}
	for range maxAhead + 1 { // without the socket, whose queue is short
		heard, kept, err := os.Pipe()
		noError(t, err)
		defer func() { _ = kept.Close() }()
		fd, err := unix.Dup(int(heard.Fd()))
		noError(t, err)
		_ = heard.Close()
		b.ahead(unix.UnixRights(fd))
	}
	<-b.C() // the one that is too many
	noError(t, b.Close())
	if n := len(b.pipes); n > 0 {
		t.Errorf("%d pipes are open after the end", n)
	}
}
