package machine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Most is how long a test of a short run may take on the busiest machine.
const Most = 15 * time.Minute

// What is printed of a test that takes too long.
const (
	slowAfter = 5 * time.Minute // for the first time
	lastWords = time.Minute     // before the whole package is out of time: to end the programs, and hear of it
	mostShown = 4 << 10         // of the end of each file, in bytes
)

// SpeakIfOverdue has a test that hangs say why. After five minutes the processes of its home, which find gives, and the
// ends of their logs are printed. Once the test is over its time, or its package nearly is, our programs are ended by
// SIGQUIT as well: each prints its goroutines to its stderr, and who waits for it goes on.
func SpeakIfOverdue(t *testing.T, home string, find func() []int) {
	t.Helper()
	says := func(after time.Duration, quits bool) {
		begun := time.Now()
		timer := time.AfterFunc(after, func() {
			fmt.Fprintf(os.Stderr, "\n%s has taken %v. Its processes and logs:\n%s\n", t.Name(),
				time.Since(begun).Round(time.Second), Described(home, find()))
			if quits {
				quit(find())
			}
		})
		t.Cleanup(func() { timer.Stop() })
	}
	most, bounded := Most, testing.Short()
	if deadline, ok := t.Deadline(); ok {
		if left := time.Until(deadline) - lastWords; !bounded || left < most {
			most, bounded = left, true
		}
	}
	says(slowAfter, false)
	if bounded {
		says(most, true)
	}
}

// quit ends the programs of ours among processes.
func quit(pids []int) {
	for _, pid := range pids {
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if err == nil && strings.HasPrefix(filepath.Base(exe), "claude-supervise") {
			_ = syscall.Kill(pid, syscall.SIGQUIT) // it may have ended
		}
	}
}

// Described returns the processes, each with its parent, state and where it waits in the kernel, and the ends of what
// supervisors and agents have written below a home.
func Described(home string, pids []int) string {
	var b strings.Builder
	read := func(pid int, name string) string {
		text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name)) // it may have ended
		return string(text)
	}
	for _, pid := range pids {
		_, stat, _ := strings.Cut(read(pid, "stat"), ") ")
		state, parent := "?", "?"
		if fields := strings.Fields(stat); len(fields) > 1 {
			state, parent = fields[0], fields[1]
		}
		command := strings.Join(strings.Fields(strings.ReplaceAll(read(pid, "cmdline"), "\x00", " ")), " ")
		fmt.Fprintf(&b, "%d below %s, %s in %s: %.200s\n", pid, parent, state, read(pid, "wchan"), command)
	}
	logs, _ := filepath.Glob(filepath.Join(home, ".local/state/claude-supervise/runs/*/*")) // the pattern is right
	for _, path := range logs {
		if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
			text = bytes.ToValidUTF8(text[max(0, len(text)-mostShown):], nil)
			fmt.Fprintf(&b, "--- the end of %s\n%s\n", path, text)
		}
	}
	return b.String()
}
