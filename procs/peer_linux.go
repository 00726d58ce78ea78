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
	var who *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		who, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return Other{}, err
	}
	if failed != nil {
		return Other{}, failed
	}
	if int(who.Uid) != os.Geteuid() {
		return Other{}, os.ErrPermission
	}
	o := other(int(who.Pid))
	if o.PID == 0 {
		return o, os.ErrProcessDone
	}
	return o, nil
}
