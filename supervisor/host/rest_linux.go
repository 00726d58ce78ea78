package host

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// unmapProgram has the kernel forget which pages of the program are in this process's memory. They stay in the page
// cache, for other supervisors and for this one, which finds there what it needs next; but where memory is wanted, what
// nobody has mapped goes first. Most of what has run at the start of a run does not run again while it waits.
func unmapProgram() error {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return err
	}
	for _, m := range untouched(string(maps), program) {
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, m.begin, m.end-m.begin, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("unmap the program: %w", errno)
		}
	}
	return nil
}

// A mapping is a range of addresses.
type mapping struct{ begin, end uintptr }

// untouched returns the mappings of a file that can only be read and hold what the file does, of what /proc/PID/smaps
// says: what was written to one, as the loader does to some, the file could not give back.
func untouched(maps, file string) (found []mapping) {
	var m mapping
	readable := false
	for line := range strings.Lines(maps) {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 5 && !strings.HasSuffix(fields[0], ":"): // begin-end modes offset device inode path
			begin, end, _ := strings.Cut(fields[0], "-")
			first, err1 := strconv.ParseUint(begin, 16, 64)
			after, err2 := strconv.ParseUint(end, 16, 64)
			m = mapping{uintptr(first), uintptr(after)}
			readable = err1 == nil && err2 == nil && (fields[1] == "r-xp" || fields[1] == "r--p") &&
				strings.Join(fields[5:], " ") == file
		case len(fields) > 1 && fields[0] == "Anonymous:" && fields[1] == "0" && readable:
			found = append(found, m)
		}
	}
	return found
}
