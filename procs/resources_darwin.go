package procs

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// What proc_pidinfo(3) passes to the system call proc_info.
const (
	callPIDInfo  = 2 // PROC_INFO_CALL_PIDINFO
	flavTaskInfo = 4 // PROC_PIDTASKINFO
)

// resources returns nothing for a process of another user, which the kernel keeps to itself.
func (p process) resources() use {
	ticks, err := unix.SysctlUint64("hw.tbfrequency")
	if err != nil {
		return use{}
	}
	var info [taskInfoSize]byte
	n, _, errno := unix.Syscall6(unix.SYS_PROC_INFO, callPIDInfo, uintptr(p.pid), flavTaskInfo, 0,
		uintptr(unsafe.Pointer(&info[0])), uintptr(len(info)))
	if errno != 0 {
		return use{}
	}
	return taskInfo(info[:n], ticks)
}
