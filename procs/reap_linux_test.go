package procs

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOnlyOrphansAreReaped(t *testing.T) {
	noError(t, BecomeSubreaper())
	ours := exec.Command("/bin/sh", "-c", "exit 3")
	noError(t, ours.Start())
	waitEnded(t, ours.Process.Pid)

	r, relatives := family(t)
	orphan, err := read(relatives[1].pid)
	if err != nil || orphan.parent != os.Getpid() {
		t.Fatalf("the orphan's parent is %d (%v), not %d", orphan.parent, err, os.Getpid())
	}
	r.End(context.Background(), Kill)
	reapOrphans()
	if p, err := read(orphan.pid); err == nil && p.identity == orphan.identity {
		t.Error("the orphan is still in the table")
	}
	if exit := new(exec.ExitError); !errors.As(ours.Wait(), &exit) || exit.ExitCode() != 3 {
		t.Error("a child of os/exec was reaped")
	}
}

// waitEnded waits until a child of ours has ended, without reaping it.
func waitEnded(t *testing.T, pid int) {
	t.Helper()
	p, err := read(pid)
	noError(t, err)
	h, err := hold(p.identity)
	noError(t, err)
	defer h.release()
	h.wait(context.Background())
}

func TestOrphansAreReapedAfterALaunchThatHidThem(t *testing.T) {
	noError(t, BecomeSubreaper())
	r, relatives := family(t)
	orphan := relatives[1]
	r.reaping.Lock() // so the launch stays a zombie
	for _, pid := range []int{r.PID(), orphan.pid} {
		noError(t, syscall.Kill(pid, syscall.SIGKILL))
		waitEnded(t, pid)
	}
	reapOrphans()
	if p, err := read(orphan.pid); err != nil || p.identity != orphan {
		t.Errorf("the orphan was looked for while the launch had ended: %v", err)
	}
	r.reaping.Unlock()
	for p, err := read(orphan.pid); err == nil && p.identity == orphan; p, err = read(orphan.pid) {
		runtime.Gosched() // the look that comes after the launch was reaped reaps it, or the test hangs
	}
	r.End(context.Background(), Kill)
}

// While orphans die as fast as they can, everybody who waits for a child of their own is told how it ended.
func TestWhoWaitsForAChildIsNotRobbedOfIt(t *testing.T) {
	noError(t, BecomeSubreaper())
	storm := spec(t, "hostile")
	life := newLife(t)
	storm.Extra = append(storm.Extra, "TRICK=a chain of sessions", "FIFO="+life.path)
	r := start(t, storm)
	life.await()

	var waiting sync.WaitGroup
	waiting.Go(func() {
		for i := range 2000 {
			cmd := exec.Command("/bin/sh", "-c", "exit 3")
			err := cmd.Run()
			if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != 3 {
				t.Errorf("child %d of os/exec: %v", i, err)
				return
			}
		}
	})
	waiting.Go(func() {
		for i := range 200 {
			exits := make(chan Exit, 1)
			p, err := Start(teller{}, Spec{Path: "/bin/sh", Prefix: []string{"-c", "exit 3"}, Marker: spec(t, "").Marker},
				func(m Message) {
					if e, ok := m.(Exit); ok {
						exits <- e
					}
				})
			if err != nil {
				t.Error(err)
				return
			}
			if e := <-exits; e.Code != 3 {
				t.Errorf("launch %d: %+v", i, e)
			}
			p.End(context.Background(), Finish)
		}
	})
	waiting.Wait()
	if !life.goesOn() {
		t.Error("the storm was over too early to show anything")
	}

	r.End(context.Background(), Kill)
	for hasEnded(unix.P_ALL, 0) {
		reapOrphans() // the kernel's list may lack who ends while it is read: the next look reaps them, or the test hangs
	}
}
