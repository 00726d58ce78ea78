package host

import (
	"context"

	"golang.org/x/sys/unix"
)

// watchMemory returns at once: shortOfMemory is looked at instead.
func watchMemory(context.Context, func()) {}

// criticalPressure is what kern.memorystatus_vm_pressure_level says once the system is about to end processes.
const criticalPressure = 4

// shortOfMemory reports whether too little memory is available for more processes.
func shortOfMemory() bool {
	level, err := unix.SysctlUint32("kern.memorystatus_vm_pressure_level")
	return err == nil && level >= criticalPressure
}
