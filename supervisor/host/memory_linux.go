package host

import (
	"bufio"
	"context"
	"os"
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
			short()
		}
	}
}

// leastAvailable is the part of the memory that has to be available for more processes to start.
const leastAvailable = 0.04

// shortOfMemory reports whether too little memory is available for more processes.
func shortOfMemory() bool {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	size := map[string]float64{}
	for lines := bufio.NewScanner(f); lines.Scan() && len(size) < 2; {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		if name == "MemTotal" || name == "MemAvailable" {
			n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			if err != nil {
				return false
			}
			size[name] = n
		}
	}
	return len(size) == 2 && size["MemAvailable"] < leastAvailable*size["MemTotal"]
}
