package procs

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// outsideTag is what a claude that we did not start, and all that it starts from then on, has as its hard
// RLIMIT_RTTIME: inherited over fork and exec, and nothing but root can raise it again. It is more than any tag of a
// launch (tag_linux.go), so that a run that is started below can have its own. At 292,000 years it bounds nothing.
const outsideTag = 1<<63 | 0x636c61756465

// Tag marks the process and all that descends from it now, as far as the processes between are there.
func (o Other) Tag() error {
	if !o.Alive() {
		return os.ErrProcessDone
	}
	if err := tagOutside(o.PID); err != nil {
		return err
	}
	all, err := readTable(o.Start, nil)
	if err != nil {
		return err
	}
	below := map[int]bool{o.PID: true}
	for more := true; more; {
		more = false
		for _, p := range all {
			if below[p.parent] && !below[p.pid] {
				below[p.pid], more = true, true
				_ = tagOutside(p.pid) // gone, or of another user
			}
		}
	}
	return nil
}

func tagOutside(pid int) error {
	var limit unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &limit); err != nil {
		return fmt.Errorf("read a limit of process %d: %w", pid, err)
	}
	if limit.Max <= outsideTag {
		return nil
	}
	next := unix.Rlimit{Cur: min(limit.Cur, outsideTag), Max: outsideTag}
	if err := unix.Prlimit(pid, unix.RLIMIT_RTTIME, &next, nil); err != nil {
		return fmt.Errorf("set a limit of process %d: %w", pid, err)
	}
	return nil
}

// outsideTagged reports whether a process has that tag, or has lowered the limit since: most have none.
func outsideTagged(pid int) bool {
	var limit unix.Rlimit
	return unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &limit) == nil && limit.Max <= outsideTag
}

// terminalOf names the controlling terminal of a process by proc_pid_stat(5); "": it has none.
func terminalOf(pid int) string {
	line, err := os.ReadFile(procPath(pid, "stat"))
	if err != nil {
		return ""
	}
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) <= 7-3 {
		return ""
	}
	device, err := strconv.ParseUint(string(fields[7-3]), 10, 32)
	if err != nil || device == 0 {
		return ""
	}
	major, minor := unix.Major(device), unix.Minor(device)
	switch {
	case major >= 136 && major <= 143:
		return "pts/" + strconv.Itoa(int(major-136)<<20+int(minor))
	case major == 4:
		return "tty" + strconv.Itoa(int(minor))
	}
	return fmt.Sprintf("terminal %d:%d", major, minor)
}
