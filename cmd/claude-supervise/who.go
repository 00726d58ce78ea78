package main

import (
	"fmt"
	"os"
	"strings"
)

// who names this process to others: by its terminal where it has one.
func who(command string) string {
	for _, f := range []*os.File{os.Stdin, os.Stderr} {
		name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
		if err == nil && strings.HasPrefix(name, "/dev/pts/") || strings.HasPrefix(name, "/dev/tty") {
			return fmt.Sprintf("%s on %s", command, strings.TrimPrefix(name, "/dev/"))
		}
	}
	return fmt.Sprintf("%s (pid %d)", command, os.Getpid())
}
