package procs

import (
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"claude-supervise/procs/internal/childtest"
)

// askedNext returns how many take part in the look that comes next.
func (l *looks[Q, A]) askedNext() int {
	l.asking.Lock()
	defer l.asking.Unlock()
	if l.next == nil {
		return 0
	}
	return len(l.next.asked)
}

// bornBefore starts a process, which lives until the test is over.
func bornBefore(t *testing.T) identity {
	t.Helper()
	cmd := childtest.Again("stubborn silent", nil, os.Environ())
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return identity{}
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p, err := read(cmd.Process.Pid)
	if err != nil {
		t.Error(err)
	}
	return p.identity
}

// Who asks while a look is under way shares the one that follows, which sees what was born before they asked.
func TestManyAtOnceShareALookThatSeesWhatWasThereWhenTheyAsked(t *testing.T) {
	const many = 30
	var made atomic.Int32
	begun, goOn := make(chan struct{}), make(chan struct{})
	l := looks[glance, *view]{look: func(asked []glance) *view {
		v := newView(asked)
		if made.Add(1) == 1 {
			close(begun)
			<-goOn
		}
		return v
	}}
	var all sync.WaitGroup
	all.Go(func() { l.ask(glance{}) })
	<-begun
	for range many {
		all.Go(func() {
			born := bornBefore(t)
			v := l.ask(glance{since: born.start})
			if v.err != nil {
				t.Error(v.err)
			}
			if _, known := v.ties().known[born]; !known {
				t.Errorf("process %d is not seen", born.pid)
			}
		})
	}
	for l.askedNext() < many {
		runtime.Gosched() // all ask, or the test hangs
	}
	close(goOn)
	all.Wait()
	if made := made.Load(); made != 2 {
		t.Errorf("%d looks were made, not 2", made)
	}
	l.ask(glance{})
	if made := made.Load(); made != 3 {
		t.Errorf("who asks alone got one of %d looks, not one of their own", made)
	}
}

// A look is shared by launches of different age, and each is told what is younger than it only.
func TestASharedLookHidesWhatIsOlderThanALaunch(t *testing.T) {
	self, err := read(os.Getpid())
	noError(t, err)
	all, err := table(self.start + 1)
	if err != nil || slices.ContainsFunc(all, func(p process) bool { return p.identity == self.identity }) {
		t.Errorf("what is older is in the table: %v", err)
	}
	v := newView([]glance{{since: self.start + 1}, {}})
	if _, known := v.ties().known[self.identity]; !known {
		t.Error("who asks for all does not get all")
	}
	mine := map[identity]bool{}
	for _, p := range v.ties().children[os.Getppid()] {
		mine[p.identity] = true
	}
	if !mine[self.identity] {
		t.Error("this process is not a child of its parent")
	}
	parent, err := read(os.Getppid())
	noError(t, err)
	set := map[identity]bool{parent.identity: true}
	if v.ties().addDescendants(set, self.start+1); set[self.identity] {
		t.Error("what is older than the launch descends from it")
	}
	if v.ties().addDescendants(set, 0); !set[self.identity] {
		t.Error("a child does not descend from its parent")
	}
}
