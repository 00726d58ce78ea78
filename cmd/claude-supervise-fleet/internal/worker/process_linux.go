package worker

import "syscall"

// diesWithUs has the kernel ask the supervisor to leave when this process dies: it ends its agents, and saves.
func diesWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
