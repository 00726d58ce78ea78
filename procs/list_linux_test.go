package procs

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

// whileSeen has the looks of a test believe what it says of processes.
func whileSeen(t *testing.T, s sights) {
	t.Helper()
	before := seen.Load()
	seen.Store(&s)
	t.Cleanup(func() { seen.Store(before) })
}

func entryOfSelf(t *testing.T) entry {
	t.Helper()
	entries, err := list()
	noError(t, err)
	i := slices.IndexFunc(entries, func(e entry) bool { return e.pid == os.Getpid() })
	if i < 0 {
		t.Fatal("this process is not listed")
	}
	return entries[i]
}

func TestTheTableKnowsAProcessByMoreThanItsNumber(t *testing.T) {
	self, err := read(os.Getpid())
	noError(t, err)
	own := entryOfSelf(t)
	for _, c := range []struct {
		name  string
		known sights
		found bool
	}{
		{"what is not known is looked at", sights{}, true},
		{"what is known to be older is not", sights{own: {start: self.start - 1}}, false},
		{"what had the number before is another", sights{{own.pid, own.inode + 1}: {start: self.start - 1}}, true},
		{"what has no inode is not known", sights{{own.pid, noInode}: {start: self.start - 1}}, true},
		{"what is known to be younger is looked at", sights{own: {start: self.start}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			whileSeen(t, c.known)
			all, err := table(self.start)
			noError(t, err)
			if found := slices.ContainsFunc(all, func(p process) bool { return p.identity == self.identity }); found != c.found {
				t.Errorf("found: %v", found)
			}
		})
	}
}

func TestALookLearnsWhenAllBegan(t *testing.T) {
	gone := entry{pid: 1 << 30, inode: 7}
	whileSeen(t, sights{gone: {start: 1}})
	if _, err := table(0); err != nil {
		t.Fatal(err)
	}
	self, err := read(os.Getpid())
	noError(t, err)
	if one, known := seen.Load().of(entryOfSelf(t)); !known || one.start != self.start {
		t.Errorf("this process is known (%v) to have begun at %d, not %d", known, one.start, self.start)
	}
	if _, known := seen.Load().of(gone); known {
		t.Error("a process that is not there any more is not forgotten")
	}
}

func TestARecordThatIsCutShortEndsTheListing(t *testing.T) {
	whole := append([]byte{9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 24, 0, 4}, "42\x00\x00\x00"...)
	two := slices.Concat(whole, whole)
	for cut := range two {
		if got, want := len(appendEntries(nil, two[:cut])), cut/len(whole); got < want || got > want+1 {
			t.Errorf("%d entries in %d bytes", got, cut)
		}
	}
	if got := appendEntries(nil, two); !slices.Equal(got, []entry{{42, 9}, {42, 9}}) {
		t.Errorf("got %v", got)
	}
}

func TestAProcessThatShowsNoArgumentsIsNamed(t *testing.T) {
	cmd := &exec.Cmd{Path: "/bin/cat", Args: []string{""}}
	stdin, err := cmd.StdinPipe()
	noError(t, err)
	noError(t, cmd.Start())
	if got := commandLine(cmd.Process.Pid); got != "[cat]" {
		t.Errorf("it is named %q", got)
	}
	_ = stdin.Close()
	_ = cmd.Wait()
	if got := commandLine(cmd.Process.Pid); got != "" {
		t.Errorf("gone, it is named %q", got)
	}
}
