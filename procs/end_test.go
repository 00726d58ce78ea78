package procs

import (
	"context"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"claude-supervise/procs/internal/childtest"
)

func TestASweepSparesWhoSweeps(t *testing.T) {
	self, err := read(os.Getpid())
	noError(t, err)
	parent, err := read(os.Getppid())
	noError(t, err)
	s := sweep{marker: Marker{Run: "r", Agent: "a"}, known: map[identity]bool{self.identity: true, parent.identity: true}}
	found, err := s.members()
	if err != nil || len(found) != 0 {
		t.Errorf("would end %v: %v", found, err)
	}
}

func TestAliveKnowsAProcessByMoreThanItsNumber(t *testing.T) {
	self, err := read(os.Getpid())
	noError(t, err)
	if !(identity{self.pid, self.start}).alive() {
		t.Error("this process is not alive")
	}
	if (identity{self.pid, self.start + 1}).alive() {
		t.Error("a process that started at another time is alive")
	}
}

func TestWaitingWithoutPidfdsIsTheSame(t *testing.T) {
	cmd := childtest.Again("stubborn silent", nil, os.Environ())
	noError(t, cmd.Start())
	p, err := read(cmd.Process.Pid)
	noError(t, err)
	h := &handle{id: p.identity}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if h.wait(done) {
		t.Error("it has ended by itself")
	}
	noError(t, h.signal(unix.SIGKILL))
	if !h.wait(context.Background()) {
		t.Error("it was not waited for")
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it was not killed")
	}
	if err := h.signal(unix.SIGKILL); err != nil {
		t.Errorf("a signal to nobody: %v", err)
	}
}
