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
)

// ticks is the unit of times in /proc: 1/100 s on every Linux that Go runs on.
const ticks = 10 * time.Millisecond

// Memory gives the bytes of a process that are in memory, the pages of its program that are in use included.
func Memory(pid int) (int64, error) {
	kib, err := field(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:")
	return kib << 10, err
}

// CPU gives how much processor time, user and system, a process has spent so far, in steps of 10 ms.
func CPU(pid int) (time.Duration, error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	// The second field is the name, in brackets, and may hold anything. utime and stime are the 14th and the 15th.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const utime = 14 - 3
	if len(fields) < utime+2 {
		return 0, fmt.Errorf("%s has %d fields behind the name", path, len(fields))
	}
	var sum int64
	for _, f := range fields[utime : utime+2] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		sum += n
	}
	return time.Duration(sum) * ticks, nil
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
