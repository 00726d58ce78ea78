package host

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// memoryTrigger asks the kernel to say when tasks were stalled for want of memory for half of two seconds: the unit of
// time is the microsecond, and a window of less is for root alone (Documentation/accounting/psi.rst of Linux).
const memoryTrigger = "some 1000000 2000000"

// watchMemory tells, until ctx ends, whenever memory is short, as the kernel says it (pressure stall information). It
// returns at once where the kernel says nothing: shortOfMemory is then all there is.
func watchMemory(ctx context.Context, short func()) {
	psi, err := os.OpenFile("/proc/pressure/memory", os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer func() { _ = psi.Close() }() // nothing was written that could be lost
	if _, err := psi.WriteString(memoryTrigger + "\x00"); err != nil {
		return
	}
	ended, end, err := os.Pipe()
	if err != nil {
		return
	}
	defer func() { _ = ended.Close() }()
	defer context.AfterFunc(ctx, func() { _ = end.Close() })()
	fds := []unix.PollFd{{Fd: int32(psi.Fd()), Events: unix.POLLPRI}, {Fd: int32(ended.Fd()), Events: unix.POLLIN}}
	for {
		switch _, err := unix.Poll(fds, -1); {
		case err == unix.EINTR:
			continue
		case err != nil, fds[1].Revents != 0, fds[0].Revents&unix.POLLERR != 0:
			return
		case fds[0].Revents&unix.POLLPRI != 0:
			if stallMeansShort("/proc", "/sys/fs/cgroup") {
				short()
			}
		}
	}
}

// leastAvailable is the part of the memory that has to be available for more processes to start.
const leastAvailable = 0.04

// plentyAvailable is the part of the memory with which a stall says nothing of a shortage, where no cgroup limits it:
// files that are read for the second time were waited for, as by a compiler beside.
const plentyAvailable = 0.5

// shortOfMemory reports whether too little memory is available for more processes.
func shortOfMemory() bool {
	total, available := memorySizes("/proc")
	return available < leastAvailable*total
}

// stallMeansShort reports whether tasks that are stalled for want of memory are so because it is short. proc and
// cgroups are /proc and /sys/fs/cgroup.
func stallMeansShort(proc, cgroups string) bool {
	total, available := memorySizes(proc)
	return available < plentyAvailable*total || total == 0 || isMemoryLimited(proc, cgroups, total)
}

// memorySizes returns the memory of the machine and what of it is available, in KiB; 0 where the kernel does not say
// it.
func memorySizes(proc string) (total, available float64) {
	f, err := os.Open(filepath.Join(proc, "meminfo"))
	if err != nil {
		return 0, 0
	}
	defer func() { _ = f.Close() }() // it was only read
	size := map[string]float64{}
	for lines := bufio.NewScanner(f); lines.Scan() && len(size) < 2; {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		if name == "MemTotal" || name == "MemAvailable" {
			n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			if err != nil {
				return 0, 0
			}
			size[name] = n
		}
	}
	if len(size) < 2 {
		return 0, 0
	}
	return size["MemTotal"], size["MemAvailable"]
}

// isMemoryLimited reports whether a cgroup of this process has less memory than the machine, whose total is in KiB:
// what is available says nothing then. Each line of /proc/self/cgroup is ID:CONTROLLERS:PATH (cgroups(7)).
func isMemoryLimited(proc, cgroups string, total float64) bool {
	own, err := os.ReadFile(filepath.Join(proc, "self/cgroup"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(own)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		root, limit := cgroups, "memory.max"
		switch {
		case slices.Contains(strings.Split(controllers, ","), "memory"):
			root, limit = filepath.Join(cgroups, "memory"), "memory.limit_in_bytes"
		case controllers != "":
			continue
		}
		for at := filepath.Join("/", path); ; at = filepath.Dir(at) {
			said, err := os.ReadFile(filepath.Join(root, at, limit))
			n, noNumber := strconv.ParseFloat(strings.TrimSpace(string(said)), 64) // "max" is none
			if err == nil && noNumber == nil && n/1024 < total {
				return true
			}
			if at == "/" {
				break
			}
		}
	}
	return false
}
