package procs

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// PeerOf returns the process at the other end of a connection, as the kernel saw it connect.
func PeerOf(c *net.UnixConn) (Other, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return Other{}, err
	}
	var pid int
	var who *unix.Xucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		if pid, failed = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID); failed == nil {
			who, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		}
	}); err != nil {
		return Other{}, err
	}
	if failed != nil {
		return Other{}, failed
	}
	if int(who.Uid) != os.Geteuid() {
		return Other{}, os.ErrPermission
	}
	o := other(pid)
	if o.PID == 0 {
		return o, os.ErrProcessDone
	}
	return o, nil
}
