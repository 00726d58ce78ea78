package worker

import "syscall"

// diesWithUs does nothing here: the supervisor of a worker that dies delivers nothing once its lease has run out, and
// the next worker in this folder ends it.
func diesWithUs() *syscall.SysProcAttr { return nil }
