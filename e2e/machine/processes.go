package machine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// With returns the processes that have, for each of the starts, an environment variable that begins so.
func With(starts ...string) []int {
	return processes(func(pid int) bool {
		env, err := environment(pid)
		env = append([]byte{0}, env...)
		lacks := func(start string) bool { return !bytes.Contains(env, []byte("\x00"+start)) }
		return err == nil && !slices.ContainsFunc(starts, lacks) // else it is gone, another user's, or not meant
	})
}

// environment returns what a process has in its environment, ended by NUL. In the middle of an exec it shows none; then
// the exec is waited for, or a git that a killed command has just begun goes on unseen.
func environment(pid int) (env []byte, err error) {
	for range 50 {
		if env, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err != nil || len(env) > 0 {
			break
		}
		if _, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil {
			break // it has ended, or is the kernel's
		}
		time.Sleep(time.Millisecond)
	}
	return env, err
}

// InHome is the variable of what lives in a home.
func InHome(home string) string { return "HOME=" + home + "\x00" }

// Marked returns the processes of this machine that carry a run's marker.
func Marked(run string) []int { return With("CLAUDE_SUPERVISE_RUN=" + run) }

// Children returns the processes that a process has started itself.
func Children(of int) []int {
	return processes(func(pid int) bool { return Parent(pid) == of })
}

// Parent returns a process's parent, 0 if it is gone.
func Parent(pid int) int { return stat(pid, 1) }

// Group returns a process's group, 0 if it is gone.
func Group(pid int) int { return stat(pid, 2) }

// stat returns a number of a process's status after its name: the state is the first.
func stat(pid, at int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	n, _ := strconv.Atoi(fields[at]) // the kernel writes numbers
	return n
}

// StandStill stops a child of this process, and returns once all of it stands still: on a busy machine that takes until
// the thread which is given the signal comes to run, and its others go on meanwhile. It is not to end meanwhile.
func StandStill(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	for {
		_, err := syscall.Wait4(pid, nil, syscall.WUNTRACED, nil)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// EndAll kills what still lives in a home.
func EndAll(home string) {
	for range 100 { // what one leaves behind while it is killed
		left := With(InHome(home))
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

func processes(is func(pid int) bool) (found []int) {
	entries, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
	for _, path := range entries {
		if pid, err := strconv.Atoi(filepath.Base(path)); err == nil && is(pid) {
			found = append(found, pid)
		}
	}
	return found
}
