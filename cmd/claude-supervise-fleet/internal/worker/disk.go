package worker

import "golang.org/x/sys/unix"

// leastFree is how much of a disk is free, in bytes, that is not full: a run that begins needs about as much for its
// state. What its work needs nobody knows.
const leastFree = 2 << 20

// isFull reports whether the disk of a folder is full. One that does not say is not.
func isFull(dir string) bool {
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return false
	}
	return disk.Bavail*uint64(disk.Bsize) < leastFree //nolint:gosec,unconvert // signed on some systems
}
