package pack

import "golang.org/x/sys/unix"

const leaseClock = unix.CLOCK_MONOTONIC // on macOS it goes on while the machine sleeps

// thisBoot names the time since the machine was booted, of which leaseClock counts.
func thisBoot() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }
