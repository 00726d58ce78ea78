package procs

import (
	"encoding/binary"
	"math"
	"math/bits"
	"time"
)

// taskInfoSize is the size of a proc_taskinfo (sys/proc_info.h), in bytes.
const taskInfoSize = 96

// taskInfo reads what macOS tells of a process's use (proc_pidinfo, PROC_PIDTASKINFO): its virtual and its resident
// size in bytes, its user and its system time in ticks of the machine's clock, each in 64 bits, and more. It is
// compiled everywhere so that it can be tested everywhere.
func taskInfo(data []byte, ticksPerSecond uint64) use {
	if len(data) < taskInfoSize || ticksPerSecond == 0 {
		return use{}
	}
	field := func(n int) uint64 { return binary.NativeEndian.Uint64(data[8*n:]) }
	duration := func(ticks uint64) time.Duration {
		high, low := bits.Mul64(ticks, uint64(time.Second))
		if high >= ticksPerSecond {
			return 0 // more than the machine's age
		}
		ns, _ := bits.Div64(high, low, ticksPerSecond)
		return time.Duration(min(ns, math.MaxInt64/2))
	}
	return use{cpu: duration(field(2)) + duration(field(3)), rss: int64(min(field(1), math.MaxInt64))}
}
