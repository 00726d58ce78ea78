package procs

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// splitProcArgs takes apart what macOS tells of a process (sysctl kern.procargs2): the number of arguments as a
// native 32-bit integer, the program's path, padding, the arguments, then the environment, all ended by NUL. It is
// written against the kernel's sysctl_procargsx and compiled everywhere so that it can be tested everywhere.
func splitProcArgs(data []byte) (args []string, environ string) {
	if len(data) < 4 {
		return nil, ""
	}
	count := int(binary.NativeEndian.Uint32(data))
	_, rest, ok := bytes.Cut(data[4:], []byte{0})
	if !ok {
		return nil, ""
	}
	rest = bytes.TrimLeft(rest, "\x00")
	for range count {
		arg, after, ok := bytes.Cut(rest, []byte{0})
		if !ok {
			return args, ""
		}
		args = append(args, string(arg))
		rest = after
	}
	return args, strings.Clone(string(rest))
}
