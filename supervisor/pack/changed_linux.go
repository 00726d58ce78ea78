package pack

import (
	"io/fs"
	"syscall"
)

// changedAt gives when a file's metadata was changed last, in Unix nanoseconds, and its inode.
func changedAt(info fs.FileInfo) (int64, uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return s.Ctim.Nano(), s.Ino
}
