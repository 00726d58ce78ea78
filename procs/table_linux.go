package procs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// read gives one process of the table, whoever it belongs to. fs.ErrNotExist or ESRCH: there is none.
func read(pid int) (process, error) {
	// proc_pid_stat(5). The name in parentheses may hold anything, so count from its end.
	data, err := os.ReadFile(procPath(pid, "stat"))
	if err != nil {
		return process{}, err
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 20 {
		return process{}, fmt.Errorf("read %s: %d fields", procPath(pid, "stat"), len(fields))
	}
	parent, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return process{}, fmt.Errorf("read %s: %w", procPath(pid, "stat"), err)
	}
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	if err != nil {
		return process{}, fmt.Errorf("read %s: %w", procPath(pid, "stat"), err)
	}
	state := fields[0][0]
	return process{identity: identity{pid, start}, parent: parent, ended: state == 'Z' || state == 'X'}, nil
}

// table lists this user's processes.
func table() ([]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var all []process
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		info, err := entry.Info()
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
			continue
		}
		if p, err := read(pid); err == nil {
			all = append(all, p)
		}
	}
	return all, nil
}

// environ gives the environment that a process was started with, its entries ended by NUL.
func environ(pid int) string {
	data, _ := os.ReadFile(procPath(pid, "environ")) // gone, or not ours to read: no marker
	return string(data)
}

// commandLine gives what a process was started as, for people.
func commandLine(pid int) string {
	data, _ := os.ReadFile(procPath(pid, "cmdline"))
	return strings.TrimSpace(strings.ReplaceAll(string(data), "\x00", " "))
}

// children lists the children of this process.
func children() ([]int, error) {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	if lists != nil {
		return pids, nil
	}
	all, err := table() // a kernel without CONFIG_PROC_CHILDREN
	for _, p := range all {
		if p.parent == os.Getpid() {
			pids = append(pids, p.pid)
		}
	}
	return pids, err
}

func procPath(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

func isNotProgram(err error) bool { return errors.Is(err, unix.ENOEXEC) }
