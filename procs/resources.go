package procs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Resources returns the processor time, user and system, and the resident memory in bytes, of a process with all that
// descends from it. What descends from it through a process that has ended is not known here, and not counted; pages
// that several processes share are counted for each. It reads the system's process table, and runs nothing. The error
// is os.ErrProcessDone if there is no such process.
func Resources(pid int) (cpu time.Duration, rss int64, err error) {
	root, err := read(pid)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) || err == nil && root.ended {
		return 0, 0, os.ErrProcessDone
	}
	if err != nil {
		return 0, 0, err
	}
	all, err := table(root.start)
	if err != nil {
		return 0, 0, fmt.Errorf("count what process %d uses: %w", pid, err)
	}
	children := map[int][]process{}
	for _, p := range all {
		if p.identity != root.identity {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	for tree := []process{root}; len(tree) > 0; {
		p := tree[0]
		tree = append(tree[1:], children[p.pid]...)
		delete(children, p.pid) // once, whatever the table says: it is not read in one moment
		used := p.resources()
		cpu, rss = cpu+used.cpu, rss+used.rss
	}
	return cpu, rss, nil
}

// A use is what one process uses.
type use struct {
	cpu time.Duration
	rss int64 // bytes
}
