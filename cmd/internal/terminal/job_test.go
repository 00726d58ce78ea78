package terminal

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"claude-supervise/procs/pty"
)

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "shell":
		os.Exit(beShell())
	case "job":
		os.Exit(beJob())
	}
	os.Exit(m.Run())
}

// beShell starts a job in the background of the terminal that it leads, and waits for it.
func beShell() int {
	job := exec.Command(os.Args[0])
	job.Env = append(os.Environ(), role+"=job", "GORACE=atexit_sleep_ms=0")
	job.Stdin, job.Stdout, job.Stderr = os.Stdin, os.Stdout, os.Stderr
	job.ExtraFiles = []*os.File{os.NewFile(3, "end")}
	job.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if job.Run() != nil {
		return 1
	}
	return 0
}

// beJob asks a question until its end pipe is closed.
func beJob() int {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.NewFile(3, "end"))
		cancel()
	}()
	p := NewPrinter(os.Stdout, os.Stderr, Look{})
	asked := NewPrompter(os.Stdin, p, func(context.Context, string, Reply) error {
		p.Notice("an answer was taken")
		return nil
	})
	asked.Set([]Question{question("q-1", "Red")})
	if asked.Run(ctx) != nil || p.Close(context.Background()) != nil {
		return 1
	}
	return 0
}

func TestABackgroundJobDoesNotReadTheTerminal(t *testing.T) {
	keyboard, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer keyboard.Close()
	end, live, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	shell := exec.Command(os.Args[0])
	shell.Env = append(os.Environ(), role+"=shell", "GORACE=atexit_sleep_ms=0")
	shell.Stdin, shell.Stdout, shell.Stderr = tty, tty, tty
	shell.ExtraFiles = []*os.File{end}
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	end.Close()
	d := &testTerminal{t: t, keyboard: keyboard, more: make(chan struct{}, 1)}
	go func() { _, _ = io.Copy(d, keyboard) }()

	d.types("1\n") // meant for the shell; a job that reads it is stopped
	d.sees("From another terminal: claude-supervise answer q-1")
	live.Close()
	if err := shell.Wait(); err != nil { // a stopped job would never end
		t.Error(err)
	}
	if got := d.everything(); strings.Contains(got, "q-1> ") || strings.Contains(got, "taken") {
		t.Errorf("a prompt was opened in the background: %s", got)
	}
}

// The environment variable that makes the test binary the shell of TestABackgroundJobDoesNotReadTheTerminal, or its
// job.
const role = "TERMINAL_TEST_ROLE"
