package pack

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

const leaseClock = unix.CLOCK_BOOTTIME

// thisBoot names the time since the machine was booted, of which leaseClock counts: random(4).
func thisBoot() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)), err
}
