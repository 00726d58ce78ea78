package procs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// An entry is a folder of /proc: one process. The kernel makes its inode for the process, not for the number, and
// removes it with the process. So two processes that have one number after the other are two entries, which listing
// them tells: it takes no call for each.
type entry struct {
	pid   int
	inode uint64
}

// list returns the entries of all processes, in rising order of their numbers.
func list() ([]entry, error) {
	dir, err := unix.Open("/proc", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer unix.Close(dir)
	var entries []entry
	buffer := make([]byte, 32<<10)
	for {
		n, err := unix.Getdents(dir, buffer)
		if err != nil {
			return nil, fmt.Errorf("list processes: %w", os.NewSyscallError("getdents64", err))
		}
		if n == 0 {
			return entries, nil
		}
		entries = appendEntries(entries, buffer[:n])
	}
}

// appendEntries reads records of getdents64(2), of which the libraries give the names only: eight bytes of inode,
// eight of offset, two of the record's length, one of type, and the name up to a NUL.
func appendEntries(entries []entry, records []byte) []entry {
	const lengthAt, nameAt = 16, 19
	for len(records) > nameAt {
		length := min(int(binary.NativeEndian.Uint16(records[lengthAt:])), len(records))
		if length <= nameAt {
			break
		}
		name, _, _ := bytes.Cut(records[nameAt:length], []byte{0})
		if pid, err := strconv.Atoi(string(name)); err == nil {
			entries = append(entries, entry{pid, binary.NativeEndian.Uint64(records)})
		}
		records = records[length:]
	}
	return entries
}
