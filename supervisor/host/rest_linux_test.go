package host

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOnlyWhatAFileCouldGiveBackIsUnmapped(t *testing.T) {
	const maps = `00400000-0107c000 r-xp 00001000 fd:00 1 /usr/bin/claude-supervise
Rss:                8192 kB
Anonymous:             0 kB
0107c000-01c80000 r--p 00c7c000 fd:00 1 /usr/bin/claude-supervise
Anonymous:             4 kB
01c80000-01d70000 rw-p 01880000 fd:00 1 /usr/bin/claude-supervise
Anonymous:             0 kB
01d70000-01e00000 r--p 01880000 fd:00 1 /usr/bin/claude-supervise
Anonymous:             0 kB
7f0000000000-7f0000100000 r-xp 00000000 fd:00 2 /usr/lib/libc.so.6
Anonymous:             0 kB
7f0000200000-7f0000300000 r--p 00000000 00:00 0
Anonymous:             0 kB
`
	want := []mapping{{0x400000, 0x107c000}, {0x1d70000, 0x1e00000}}
	got := untouched(maps, "/usr/bin/claude-supervise")
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(mapping{})); diff != "" {
		t.Error(diff)
	}
}

func TestAProgramWhosePagesWereUnmappedGoesOn(t *testing.T) {
	before := resident(t)
	if err := unmapProgram(); err != nil {
		t.Fatal(err)
	}
	if after := resident(t); after >= before {
		t.Errorf("%d kB of the program are in memory, where %d were", after, before)
	}
}

// resident is how much of the program this process has in memory, in kB.
func resident(t *testing.T) (kB int) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	ours := false
	for line := range strings.Lines(string(maps)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 5 && !strings.HasSuffix(fields[0], ":"):
			ours = filepath.Base(fields[5]) == filepath.Base(program)
		case len(fields) == 3 && fields[0] == "Rss:" && ours:
			n, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			kB += n
		}
	}
	return kB
}
