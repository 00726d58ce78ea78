package procs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"claude-supervise/procs/internal/childtest"
)

// work is how much each of a computing child's relatives computes.
const work = 100 * time.Millisecond

func compute() {
	for {
		var spent unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &spent); err != nil {
			panic(err)
		}
		if time.Duration(spent.Utime.Nano()+spent.Stime.Nano()) >= work {
			return
		}
	}
}

func init() {
	// computer computes what it reads: by itself, by a child that it waits for, or by one that stays, with neither its
	// environment nor its session.
	parts["computer"] = func(c *childtest.Child) {
		for v := c.Read(); v != nil; v = c.Read() {
			if v["type"] != "user" {
				continue
			}
			what := v["message"].(map[string]any)["content"].(string)
			switch what {
			case "itself":
				compute()
			case "a child":
				if err := childtest.Again("computing", nil, os.Environ()).Run(); err != nil {
					panic(err)
				}
			case "a stranger":
				startTalking(stranger())
			}
			c.Text(what)
		}
	}
	parts["computing"] = func(*childtest.Child) { compute() }
	parts["computing stranger"] = func(*childtest.Child) {
		compute()
		fmt.Println("done")
		childtest.Stay()
	}
}

func stranger() *exec.Cmd {
	cmd := childtest.Again("computing stranger", &syscall.SysProcAttr{Setsid: true}, nil)
	cmd.Args, cmd.Env = []string{"sh", childtest.PartArgument + "computing stranger"}, []string{}
	return cmd
}

func TestCPUCountsWhateverBelongsToTheLaunch(t *testing.T) {
	r := start(t, spec(t, "computer"))
	const ticks = 5 * time.Second / userHZ // lost in rounding, by a few processes
	for _, who := range []string{"itself", "a child", "a stranger"} {
		before, err := r.CPU()
		noError(t, err)
		noError(t, r.Send("u", who))
		next[Text](r)
		after, err := r.CPU()
		noError(t, err)
		if after-before < work-ticks {
			t.Errorf("%s computed %v, counted are %v", who, work, after-before)
		}
	}
	r.End(context.Background(), Kill)
	if _, err := r.CPU(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("after the end: %v", err)
	}
}

func TestCPUDoesNotCountOthers(t *testing.T) {
	r, other := start(t, spec(t, "polite")), start(t, spec(t, "computer"))
	before, err := r.CPU()
	noError(t, err)
	noError(t, other.Send("u", "a stranger"))
	next[Text](other)
	if after, err := r.CPU(); err != nil || after-before >= work {
		t.Errorf("%v, and then %v: %v", before, after, err)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("sh", 1, 7, uint64(5), uint64(100), uint64(2000))
	f.Add("a) Z (b) 1 2", 1, 7, uint64(5), uint64(100), uint64(1))
	f.Add("\n\x00)", 0, 0, uint64(0), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, name string, parent, session int, start, ticks, pages uint64) {
		want := process{
			identity: identity{start: start}, parent: parent, session: session,
			cpu: time.Duration(ticks) * 10 * time.Millisecond, rss: int64(pages) * pageSize,
		}
		line := fmt.Sprintf("42 (%s) S %d 6 %d 34816 6 4194560 1 2 3 4 %d 0 0 0 20 0 1 0 %d 1000 %d",
			name, parent, session, ticks, start, pages)
		got, err := parseStat([]byte(line))
		if valid := parent >= 0 && session >= 0 && start < 1<<63 && ticks < 1<<63 && pages < 1<<63; valid != (err == nil) ||
			valid && got != want {
			t.Errorf("%q: got %+v, %v", line, got, err)
		}
		// Twenty-two fields take 43 bytes.
		if _, err := parseStat([]byte(name)); err == nil && len(name) < 43 {
			t.Errorf("%q was read", name)
		}
	})
}
