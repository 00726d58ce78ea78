package procs

import (
	"strings"
	"testing"
)

func TestWhatMacOSTellsOfAProcessIsTakenApart(t *testing.T) {
	args, env := splitProcArgs([]byte("\x02\x00\x00\x00/bin/sh\x00\x00\x00\x00sh\x00-c\x00A=1\x00B=2\x00"))
	if strings.Join(args, " ") != "sh -c" || env != "A=1\x00B=2\x00" {
		t.Errorf("got %q, %q", args, env)
	}
}

func FuzzSplitProcArgs(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00/bin/sh\x00\x00sh\x00-c\x00A=1\x00"))
	f.Add([]byte("\xff\xff\xff\xff/bin/sh\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		args, env := splitProcArgs(data)
		total := len(env)
		for _, arg := range args {
			total += len(arg)
		}
		if total > len(data) {
			t.Errorf("%d bytes out of %d", total, len(data))
		}
	})
}
