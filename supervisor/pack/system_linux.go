package pack

import (
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const leaseClock = unix.CLOCK_BOOTTIME

// thisBoot names the time since the machine was booted, of which leaseClock counts: random(4).
func thisBoot() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)), err
}

// changedAt returns when a file's metadata was changed last, in Unix nanoseconds, and its inode.
func changedAt(info fs.FileInfo) (int64, uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return s.Ctim.Nano(), s.Ino
}
