package claude

import (
	"context"
	"errors"
	"strings"
	"testing"

	"claude-supervise/procs"
)

func TestTheLadder(t *testing.T) {
	for _, c := range []struct {
		name, part string
		how        procs.Ending
		want       procs.Exit
	}{
		{"finish ends the input", "echo", procs.Finish, procs.Exit{Code: 0}},
		{"finish climbs to a signal", "deaf", procs.Finish, procs.Exit{Code: -1, Signal: "SIGTERM"}},
		{"park is a SIGTERM", "polite", procs.Park, procs.Exit{Code: 143}},
		{"park climbs to a kill", "stubborn", procs.Park, procs.Exit{Code: -1, Signal: "SIGKILL"}},
		{"stop climbs to a kill", "stubborn", procs.Stop, procs.Exit{Code: -1, Signal: "SIGKILL"}},
		{"kill asks nobody", "polite", procs.Kill, procs.Exit{Code: -1, Signal: "SIGKILL"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := start(t, spec(t, c.part))
			short := r.Patience.Term
			r.Patience = procs.Patience{Finish: hangs, Interrupt: short, Term: hangs}
			if c.part == "stubborn" {
				r.Patience.Term = short
			}
			if c.part != "echo" {
				next[procs.Init](r) // its signal handlers are set
			}
			if c.part == "deaf" {
				r.Patience.Finish = short
			}
			r.End(context.Background(), c.how)
			e := r.rest()
			got := e[len(e)-1].(procs.Exit)
			got.Spoke, got.Stderr = false, ""
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestStopCutsTheTurnFirst(t *testing.T) {
	r := start(t, spec(t, "polite"))
	r.Patience = procs.Patience{Finish: hangs, Interrupt: hangs, Term: hangs}
	next[procs.Init](r)
	r.End(context.Background(), procs.Stop)
	if got := next[procs.Result](r); got.Text != "interrupted" {
		t.Errorf("got %+v", got)
	}
	if got := next[procs.Exit](r); got.Code != 143 {
		t.Errorf("got %+v", got)
	}
}

func TestADoneContextLeavesNoPatience(t *testing.T) {
	r := start(t, spec(t, "stubborn"))
	next[procs.Init](r)
	r.Patience = procs.Patience{Finish: hangs, Interrupt: hangs, Term: hangs}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r.End(ctx, procs.Finish)
	if got := next[procs.Exit](r); got.Signal != "SIGKILL" {
		t.Errorf("got %+v", got)
	}
}

func TestTheEndFreesWhoWrites(t *testing.T) {
	r := start(t, spec(t, "deaf"))
	next[procs.Init](r)
	blocked := make(chan error, 1)
	go func() { blocked <- r.Send("u", strings.Repeat("x", 1<<20)) }()
	r.Patience.Interrupt = r.Patience.Term
	r.End(context.Background(), procs.Stop)
	if err := <-blocked; !errors.Is(err, errGone) {
		t.Errorf("got %v", err)
	}
}

func TestEndMayBeCalledTwiceAtOnce(t *testing.T) {
	r := start(t, spec(t, "stubborn"))
	next[procs.Init](r)
	r.Patience = procs.Patience{Finish: hangs, Interrupt: hangs, Term: hangs}
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		r.End(ctx, procs.Park)
		close(ended)
	}()
	r.End(context.Background(), procs.Kill)
	<-ended
	if got := next[procs.Exit](r); got.Signal != "SIGKILL" {
		t.Errorf("got %+v", got)
	}
}
