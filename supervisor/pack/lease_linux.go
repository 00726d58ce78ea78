package pack

import "golang.org/x/sys/unix"

const leaseClock = unix.CLOCK_BOOTTIME
