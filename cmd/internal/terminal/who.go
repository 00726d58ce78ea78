package terminal

import (
	"fmt"
	"os"
	"strings"

	"claude-supervise/supervisor/questions"
)

// Who names this process to others: by its terminal where it has one.
func Who(command string) string {
	for _, f := range []*os.File{os.Stdin, os.Stderr} {
		name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
		if err == nil && (strings.HasPrefix(name, "/dev/pts/") || strings.HasPrefix(name, "/dev/tty")) {
			return questions.OnTerminal + strings.TrimPrefix(name, "/dev/")
		}
	}
	return fmt.Sprintf("`claude-supervise %s`, process %d", command, os.Getpid())
}
