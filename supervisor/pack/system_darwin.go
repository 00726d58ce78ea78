package pack

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

const leaseClock = unix.CLOCK_MONOTONIC // on macOS it goes on while the machine sleeps

// thisBoot names the time since the machine was booted, of which leaseClock counts.
func thisBoot() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }

// changedAt returns when a file's metadata was changed last, in Unix nanoseconds, and its inode.
func changedAt(info fs.FileInfo) (int64, uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return s.Ctimespec.Nano(), s.Ino
}
