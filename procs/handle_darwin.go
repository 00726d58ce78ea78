package procs

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

func hold(id identity) (*handle, error) {
	if !id.alive() {
		return nil, os.ErrProcessDone
	}
	return &handle{id: id}, nil
}

func (h *handle) release() {}

func (h *handle) send(sig unix.Signal) error {
	if !h.id.alive() {
		return unix.ESRCH
	}
	return unix.Kill(h.id.pid, sig)
}

func (h *handle) tells() bool { return false }

func (h *handle) wait(ctx context.Context) bool { return h.poll(ctx) }
