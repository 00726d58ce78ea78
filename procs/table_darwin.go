package procs

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Of sys/proc.h: SSTOP and SZMB.
const (
	stopped = 4
	zombie  = 5
)

func read(pid int) (process, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return process{}, fmt.Errorf("read process %d: %w", pid, err)
	}
	if int(info.Proc.P_pid) != pid {
		return process{}, unix.ESRCH
	}
	return described(info), nil
}

// began returns the time at which a process started, as its identity has it.
func began(start uint64) time.Time { return time.UnixMicro(int64(start)) }

func described(info *unix.KinfoProc) process {
	pid, start := int(info.Proc.P_pid), info.Proc.P_starttime
	session, _ := unix.Getsid(pid) // gone: it is nobody's
	return process{
		identity: identity{pid, uint64(start.Sec)*1e6 + uint64(start.Usec)},
		parent:   int(info.Eproc.Ppid),
		session:  session,
		ended:    info.Proc.P_stat == zombie,
		stopped:  info.Proc.P_stat == stopped,
	}
}

// readTable lists this user's processes that began at since or later. One call reads all of them, so none is left out.
func readTable(since uint64, _ map[Marker]bool) ([]process, error) {
	infos, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Geteuid())
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	all := make([]process, 0, len(infos))
	for i := range infos {
		if p := described(&infos[i]); p.start >= since {
			all = append(all, p)
		}
	}
	return all, nil
}

// environ is empty for the system's own protected programs, whose environment the kernel keeps to itself: one reason
// why the sweep is weaker here.
func environ(pid int) string {
	data, _ := unix.SysctlRaw("kern.procargs2", pid)
	_, env := splitProcArgs(data)
	return env
}

func commandLine(pid int) string { return strings.Join(arguments(pid), " ") }

func arguments(pid int) []string {
	data, _ := unix.SysctlRaw("kern.procargs2", pid)
	args, _ := splitProcArgs(data)
	return args
}

// folderOf is not told by this system: a script is found by its whole path only.
func folderOf(int) string { return "" }

func isNotProgram(err error) bool {
	return errors.Is(err, unix.ENOEXEC) || errors.Is(err, unix.EBADARCH)
}
