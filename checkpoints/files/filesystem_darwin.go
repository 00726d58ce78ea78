package files

import "golang.org/x/sys/unix"

// NetworkFS names the network file system that holds path; empty for a local one.
func NetworkFS(path string) (string, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return "", err
	}
	if stat.Flags&unix.MNT_LOCAL != 0 {
		return "", nil
	}
	return unix.ByteSliceToString(stat.Fstypename[:]), nil
}
