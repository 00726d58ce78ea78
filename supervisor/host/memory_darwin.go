package host

import (
	"context"

	"golang.org/x/sys/unix"
)

// watchMemory returns at once: shortOfMemory is looked at instead.
func watchMemory(context.Context, func()) {}

// unmapProgram does nothing: the kernel takes what of the program is not used.
func unmapProgram() error { return nil }

// criticalPressure is what kern.memorystatus_vm_pressure_level says once the system is about to end processes.
const criticalPressure = 4

// shortOfMemory reports whether too little memory is available for more processes.
func shortOfMemory() bool {
	level, err := unix.SysctlUint32("kern.memorystatus_vm_pressure_level")
	return err == nil && level >= criticalPressure
}
