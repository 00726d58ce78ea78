package procs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// userHZ is in how many ticks a second the kernel tells times (USER_HZ), on every architecture that Go runs on.
const userHZ = 100

var pageSize = int64(os.Getpagesize())

// began returns the end of the tick in which a process started, as its identity has it. The two clocks are read again
// where a busy machine came between them, and what is left of that makes the time later, never earlier.
func began(start uint64) time.Time {
	const tries, near = 10, 100 * time.Microsecond
	var at time.Time
	least := time.Duration(math.MaxInt64)
	for range tries {
		var up unix.Timespec
		before := time.Now()
		if unix.ClockGettime(unix.CLOCK_BOOTTIME, &up) != nil {
			return time.Now()
		}
		after := time.Now()
		if between := after.Sub(before); between < least {
			least, at = between, after.Add(time.Duration(start+1)*time.Second/userHZ-time.Duration(up.Nano()))
		}
		if least < near {
			break
		}
	}
	return at
}

// maxStat is longer than any line of proc_pid_stat(5): 52 numbers of up to 20 digits and a name of up to 64 bytes.
const maxStat = 2048

// read returns one process of the table, of any user. fs.ErrNotExist or ESRCH: there is none.
func read(pid int) (process, error) {
	// Not os.ReadFile: without its stat, its poller and its second read this takes half the time, for each process there
	// is.
	fd, err := unix.Open(procPath(pid, "stat"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return process{}, err
	}
	defer unix.Close(fd)
	var line [maxStat]byte
	n, err := unix.Read(fd, line[:])
	if err != nil {
		return process{}, err
	}
	p, err := parseStat(line[:n])
	if err != nil {
		return process{}, fmt.Errorf("read %s: %w", procPath(pid, "stat"), err)
	}
	p.pid = pid
	return p, nil
}

// parseStat reads a line of proc_pid_stat(5), but for the number it begins with.
func parseStat(line []byte) (p process, err error) {
	// The name in parentheses may hold anything, so count from its end: fields[0] is what the page calls (3).
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) <= 24-3 {
		return process{}, fmt.Errorf("%d fields", len(fields))
	}
	number := func(of int) uint64 {
		n, parseErr := strconv.ParseUint(string(fields[of-3]), 10, 63)
		err = cmp.Or(err, parseErr)
		return n
	}
	p = process{
		identity: identity{start: number(22)},
		parent:   int(number(4)),
		session:  int(number(6)),
		ended:    bytes.ContainsAny(fields[0][:1], "ZX"),
		stopped:  fields[0][0] == 'T',
		rss:      int64(number(24)) * pageSize,
	}
	// Its own user and system time, and that of the children it has waited for.
	for _, field := range []int{14, 15, 16, 17} {
		p.cpu += time.Duration(number(field)) * (time.Second / userHZ)
	}
	return p, err
}

// readTable lists the processes that began at since or later, of other users too: what an agent has started may pass
// through one. What is known to descend from another launch of this supervisor than those asked for is left out; nil:
// nothing is. What is known to be left out costs no look of its own.
func readTable(since uint64, of map[Marker]bool) ([]process, error) {
	entries, err := list()
	if err != nil {
		return nil, err
	}
	var all []process
	var newcomers []newcomer
	known := seen.Load()
	for _, e := range entries {
		one, isKnown := known.of(e)
		if isKnown && (one.start < since || of != nil && one.owner != (Marker{}) && !of[one.owner]) {
			continue
		}
		p, err := read(e.pid)
		if err != nil {
			continue // it has ended
		}
		if !isKnown {
			newcomers = append(newcomers, newcomer{e, p})
		}
		if p.start >= since {
			all = append(all, p)
		}
	}
	if len(newcomers) > 0 {
		seen.Store(known.with(known.learn(newcomers, entries), entries))
	}
	return all, nil
}

// environ returns the environment that a process was started with, its entries ended by NUL.
func environ(pid int) string {
	// Not os.ReadFile, which takes a read for each few hundred bytes of a file that says no size.
	fd, err := unix.Open(procPath(pid, "environ"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "" // gone, or not ours to read: no marker
	}
	defer unix.Close(fd)
	room := make([]byte, usualEnviron)
	for size := 0; ; {
		n, err := unix.Read(fd, room[size:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return string(room[:size])
		}
		if size += n; size == len(room) {
			room = append(room, make([]byte, len(room))...)
		}
	}
}

// usualEnviron is more than most environments take.
const usualEnviron = 16 << 10

// commandLine returns what a process was started as, for people. One that shows nothing of it, as in the middle of an
// exec, is given by its name: [sleep].
func commandLine(pid int) string {
	if line := strings.TrimSpace(strings.Join(arguments(pid), " ")); line != "" {
		return line
	}
	name, err := os.ReadFile(procPath(pid, "comm"))
	if err != nil {
		return "" // gone
	}
	return "[" + strings.TrimSpace(string(name)) + "]"
}

// arguments returns what a process was started with; none where it is gone.
func arguments(pid int) []string {
	data, _ := os.ReadFile(procPath(pid, "cmdline"))
	return strings.Split(string(data), "\x00")
}

// folderOf is the folder in which a process works; "" where it is gone, or not ours to look at.
func folderOf(pid int) string {
	path, _ := os.Readlink(procPath(pid, "cwd"))
	return path
}

// children lists the children of this process that may have ended.
func children() ([]int, error) {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	if lists != nil {
		return pids, nil
	}
	all, err := table(0) // a kernel without CONFIG_PROC_CHILDREN
	for _, p := range all {
		if p.parent == os.Getpid() && p.ended {
			pids = append(pids, p.pid)
		}
	}
	return pids, err
}

func procPath(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

func isNotProgram(err error) bool { return errors.Is(err, unix.ENOEXEC) }
