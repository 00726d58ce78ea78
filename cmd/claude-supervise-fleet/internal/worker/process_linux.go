package worker

import "syscall"

// ofItsOwn puts the supervisor into a process group, so that a Ctrl-C at a terminal is for the worker, which lets turns
// end. When the worker dies, the kernel asks the supervisor to leave: it ends its agents, and saves.
func ofItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
