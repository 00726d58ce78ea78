// Command wrapper takes claude's place in the torture test: it plays the run's scenario as the stand-in does, or
// becomes the real CLI, and sees what no other can: whether a second process of its agent lives.
//
// Its folder is the run's; beside it, in the test's folder of the run, lie
//
//	scenario.yaml   what the stand-in plays
//	claude, api     the real CLI's path and the address of its Messages API, where it is to become that
//	lock            held as long as the process or anything that it started lives
//	pid             of the newest process
//	twice           a line for each process that found the lock taken
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"claude-supervise/examples"
	"claude-supervise/examples/standin"
)

func main() {
	code, err := play()
	if err != nil {
		fmt.Fprintln(os.Stderr, "wrapper:", err)
		code = 1
	}
	os.Exit(code)
}

func play() (int, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	folder := filepath.Dir(cwd)
	if err := attest(folder); err != nil {
		return 0, err
	}
	claude, err := os.ReadFile(filepath.Join(folder, "claude"))
	if err == nil {
		return 0, become(folder, string(claude))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	scenario, err := examples.Load(filepath.Join(folder, "scenario.yaml"))
	if err != nil {
		return 0, err
	}
	return standin.Main(context.Background(), scenario, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr), nil
}

// attest takes the lock for life, and complains where it is taken. What the process starts inherits the lock: a command
// that outlives its agent is a second process of it, too.
func attest(folder string) error {
	lock, err := syscall.Open(filepath.Join(folder, "lock"), syscall.O_CREAT|syscall.O_RDWR, 0o600) // no O_CLOEXEC
	if err != nil {
		return fmt.Errorf("open the lock: %w", err)
	}
	if err := syscall.Flock(lock, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if err := complain(folder, err); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(folder, "pid"), []byte(strconv.Itoa(os.Getpid())), 0o600)
}

func complain(folder string, taken error) error {
	f, err := os.OpenFile(filepath.Join(folder, "twice"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "launch %s, process %d: %v\n", os.Getenv("CLAUDE_SUPERVISE_LAUNCH"), os.Getpid(), taken)
	return errors.Join(err, f.Close())
}

// become turns this process into the real CLI.
func become(folder, claude string) error {
	api, err := os.ReadFile(filepath.Join(folder, "api"))
	if err != nil {
		return err
	}
	env := append(os.Environ(), "ANTHROPIC_BASE_URL="+strings.TrimSpace(string(api)))
	return syscall.Exec(claude, append([]string{claude}, os.Args[1:]...), env)
}
