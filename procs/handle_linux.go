package procs

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// hold opens a handle on a process, which may have ended since its identity was read.
func hold(id identity) (*handle, error) {
	fd, err := unix.PidfdOpen(id.pid, unix.PIDFD_NONBLOCK)
	switch err {
	case nil:
	case unix.ESRCH:
		return nil, os.ErrProcessDone
	default: // an old kernel, or a sandbox that forbids it
		return &handle{id: id}, nil
	}
	h := &handle{id: id, fd: os.NewFile(uintptr(fd), "pidfd")}
	if p, err := read(id.pid); err != nil || p.identity != id {
		h.release()
		return nil, os.ErrProcessDone
	}
	return h, nil
}

func (h *handle) release() {
	if h.fd != nil {
		h.fd.Close()
	}
}

func (h *handle) send(sig unix.Signal) error {
	if h.fd == nil {
		if !h.id.alive() {
			return unix.ESRCH
		}
		return unix.Kill(h.id.pid, sig)
	}
	raw, err := h.fd.SyscallConn()
	if err != nil {
		return err
	}
	if ctlErr := raw.Control(func(fd uintptr) { err = unix.PidfdSendSignal(int(fd), sig, nil, 0) }); ctlErr != nil {
		return ctlErr
	}
	return err
}

// tells reports whether wait is told by the kernel and costs nothing meanwhile.
func (h *handle) tells() bool { return h.fd != nil }

// wait blocks until the process has ended, though it may not be reaped yet, or ctx is done. It reports whether the
// process has ended.
func (h *handle) wait(ctx context.Context) bool {
	if h.fd == nil {
		return h.poll(ctx)
	}
	raw, err := h.fd.SyscallConn()
	if err != nil {
		return h.poll(ctx)
	}
	stop := context.AfterFunc(ctx, func() { _ = h.fd.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err = raw.Read(func(fd uintptr) bool {
		// A pidfd is readable once its process has ended.
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
	return !errors.Is(err, os.ErrDeadlineExceeded)
}
