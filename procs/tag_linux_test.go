package procs

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"claude-supervise/procs/internal/childtest"
)

func TestATagIsPassedToTheLaunchOnly(t *testing.T) {
	limit := func() (l unix.Rlimit) {
		noError(t, unix.Getrlimit(unix.RLIMIT_RTTIME, &l))
		return l
	}
	tag := spec(t, "").Marker.tag()
	before := limit()
	taken := tag.pass()
	ours := childtest.Again("stubborn silent", nil, os.Environ())
	launch := childtest.Again("stubborn silent", &syscall.SysProcAttr{Setsid: true}, os.Environ())
	noError(t, ours.Start())
	noError(t, launch.Start())
	taken()
	if limit() != before {
		t.Errorf("this process's limit was %v and is %v", before, limit())
	}
	if tag.on(ours.Process.Pid) {
		t.Error("what somebody else started meanwhile has it")
	}
	if !tag.on(launch.Process.Pid) {
		t.Error("the launch does not have it")
	}
	if other := spec(t, "").Marker.tag(); other.on(launch.Process.Pid) {
		t.Error("the launch has another's, too")
	}
	if tag.kill(ours.Process.Pid) || !tag.kill(launch.Process.Pid) {
		t.Error("killed is not who has it")
	}
	if err := ours.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = ours.Wait()
	_ = launch.Wait()
	if _, err := tagOn(launch.Process.Pid); !errors.Is(err, unix.ESRCH) {
		t.Errorf("a process that was reaped is not gone: %v", err)
	}
}
