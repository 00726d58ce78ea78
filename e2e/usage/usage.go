// Package usage tells what a process takes of the machine, as Linux counts it (proc(5)). Tests and benchmarks look at
// processes that they did not write: the built program, and the real CLI.
package usage

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Memory returns the bytes of a process that are in memory, the pages of its program that are in use included.
func Memory(pid int) (int64, error) {
	kib, err := field(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:")
	return kib << 10, err
}

// Shared returns the bytes of a process that are in memory, those that it shares with others divided by their number.
func Shared(pid int) (int64, error) {
	kib, err := field(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss:")
	return kib << 10, err
}

// CPU returns how much processor time, user and system, a process has spent so far.
func CPU(pid int) (time.Duration, error) {
	// The number of another process's clock: clock_getcpuclockid(3) in the C library.
	const scheduler = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduler), &t); err != nil {
		return 0, fmt.Errorf("the processor time of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// Switches counts for each thread of a process how often it gave up the processor by itself: it was woken as often.
func Switches(pid int) (map[string]int64, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	for _, path := range threads {
		n, err := field(path, "voluntary_ctxt_switches:")
		if err != nil {
			return nil, err
		}
		counts[filepath.Base(filepath.Dir(path))] = n
	}
	return counts, nil
}

// field reads a number of a status file.
func field(path, name string) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strconv.ParseInt(strings.Fields(value)[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", path, name)
}
