package worker

import "syscall"

// ofItsOwn puts the supervisor into a process group, so that a Ctrl-C at a terminal is for the worker, which lets turns
// end. When the worker dies, nobody ends the supervisor: it delivers nothing once its lease has run out, and the next
// worker in this folder ends it.
func ofItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
