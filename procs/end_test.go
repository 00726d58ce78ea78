package procs

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTheLadder(t *testing.T) {
	for _, c := range []struct {
		name, part string
		how        Ending
		want       Exit
	}{
		{"finish ends the input", "echo", Finish, Exit{Code: 0}},
		{"finish climbs to a signal", "deaf", Finish, Exit{Code: -1, Signal: "SIGTERM"}},
		{"park is a SIGTERM", "polite", Park, Exit{Code: 143}},
		{"park climbs to a kill", "stubborn", Park, Exit{Code: -1, Signal: "SIGKILL"}},
		{"stop climbs to a kill", "stubborn", Stop, Exit{Code: -1, Signal: "SIGKILL"}},
		{"kill asks nobody", "polite", Kill, Exit{Code: -1, Signal: "SIGKILL"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := start(t, spec(t, c.part))
			short := r.patience.term
			r.patience = patience{hangs, short, hangs}
			if c.part == "stubborn" {
				r.patience.term = short
			}
			if c.part != "echo" {
				next[Init](r) // its signal handlers are set
			}
			if c.part == "deaf" {
				r.patience.finish = short
			}
			r.End(context.Background(), c.how)
			e := r.rest()
			got := e[len(e)-1].(Exit)
			got.Spoke, got.Stderr = false, ""
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestStopCutsTheTurnFirst(t *testing.T) {
	r := start(t, spec(t, "polite"))
	r.patience = patience{hangs, hangs, hangs}
	next[Init](r)
	r.End(context.Background(), Stop)
	if got := next[Result](r); got.Text != "interrupted" {
		t.Errorf("got %+v", got)
	}
	if got := next[Exit](r); got.Code != 143 {
		t.Errorf("got %+v", got)
	}
}

func TestADoneContextLeavesNoPatience(t *testing.T) {
	r := start(t, spec(t, "stubborn"))
	next[Init](r)
	r.patience = patience{hangs, hangs, hangs}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r.End(ctx, Finish)
	if got := next[Exit](r); got.Signal != "SIGKILL" {
		t.Errorf("got %+v", got)
	}
}

func TestTheEndFreesWhoWrites(t *testing.T) {
	r := start(t, spec(t, "deaf"))
	next[Init](r)
	blocked := make(chan error, 1)
	go func() { blocked <- r.Send("u", strings.Repeat("x", 1<<20)) }()
	r.patience.interrupt = r.patience.term
	r.End(context.Background(), Stop)
	if err := <-blocked; !errors.Is(err, errGone) {
		t.Errorf("got %v", err)
	}
}

func TestEndMayBeCalledTwiceAtOnce(t *testing.T) {
	r := start(t, spec(t, "stubborn"))
	next[Init](r)
	r.patience = patience{hangs, hangs, hangs}
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		r.End(ctx, Park)
		close(ended)
	}()
	r.End(context.Background(), Kill)
	<-ended
	if got := next[Exit](r); got.Signal != "SIGKILL" {
		t.Errorf("got %+v", got)
	}
}

func TestASweepSparesWhoSweeps(t *testing.T) {
	self, err := read(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	parent, err := read(os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	s := sweep{marker: Marker{Run: "r", Agent: "a"}, known: map[identity]bool{self.identity: true, parent.identity: true}}
	found, err := s.members()
	if err != nil || len(found) != 0 {
		t.Errorf("would end %v: %v", found, err)
	}
}

func TestAliveKnowsAProcessByMoreThanItsNumber(t *testing.T) {
	self, err := read(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !(identity{self.pid, self.start}).alive() {
		t.Error("this process is not alive")
	}
	if (identity{self.pid, self.start + 1}).alive() {
		t.Error("a process that started at another time is alive")
	}
}

func TestWaitingWithoutPidfdsIsTheSame(t *testing.T) {
	cmd := again("stubborn silent", nil, os.Environ())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, err := read(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	h := &handle{id: p.identity}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if h.wait(done) {
		t.Error("it has ended by itself")
	}
	if err := h.signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
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
