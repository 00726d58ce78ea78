package pack

import "golang.org/x/sys/unix"

const leaseClock = unix.CLOCK_MONOTONIC // on macOS it goes on while the machine sleeps
