package procs

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
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
			r.patience.finish, r.patience.interrupt = hangs, r.patience.term
			if c.part != "echo" {
				next[Init](r) // its signal handlers are set
			}
			if c.part == "deaf" {
				r.patience.finish = r.patience.term
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
	r.patience.interrupt = hangs
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
	if err := <-blocked; !errors.Is(err, ErrGone) {
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

// family starts a child with relatives and gives their identities: one in a session of its own, an orphan, and one
// without our environment.
func family(t *testing.T) (*run, []identity) {
	t.Helper()
	r := start(t, spec(t, "family"))
	var pids []int
	if err := json.Unmarshal([]byte(next[Text](r).Text), &pids); err != nil {
		t.Fatal(err)
	}
	var relatives []identity
	for _, pid := range pids {
		p, err := read(pid)
		if err != nil {
			t.Fatal(err)
		}
		relatives = append(relatives, p.identity)
	}
	return r, relatives
}

func TestNothingOutlivesTheEnd(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the sweep is weaker here")
	}
	for name, how := range map[string]Ending{"finish": Finish, "park": Park, "kill": Kill} {
		t.Run(name, func(t *testing.T) {
			r, relatives := family(t)
			left := r.End(context.Background(), how)
			for i, id := range relatives {
				if id.alive() {
					t.Errorf("relative %d lives", i)
				}
			}
			var pids []int
			for _, s := range left {
				if s.Alive {
					t.Errorf("told to live: %v", s)
				}
				pids = append(pids, s.PID)
			}
			want := []int(nil)
			if how == Finish {
				want = []int{relatives[0].pid, relatives[1].pid, relatives[2].pid}
			}
			slices.Sort(pids)
			slices.Sort(want)
			if !slices.Equal(pids, want) {
				t.Errorf("survivors %v, want %v", left, want)
			}
		})
	}
}

func TestWhatIsKeptIsToldAndLives(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the sweep is weaker here")
	}
	r, relatives := family(t)
	left := r.End(context.Background(), Finish|KeepProcesses)
	if len(left) != len(relatives) {
		t.Errorf("told: %v", left)
	}
	for _, s := range left {
		if !s.Alive || s.Cmdline == "" {
			t.Errorf("told: %+v", s)
		}
	}
	for i, id := range relatives {
		if !id.alive() {
			t.Errorf("relative %d is gone", i)
		}
		h, err := hold(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.signal(unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		h.wait(context.Background())
		h.release()
	}
}

func TestASweepFindsALaunchByItsMarkerAlone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the sweep is weaker here")
	}
	r, relatives := family(t)
	other, _ := family(t)
	if err := syscall.Kill(r.PID(), syscall.SIGKILL); err != nil { // as if its supervisor were gone too
		t.Fatal(err)
	}
	next[Exit](r)
	s := sweep{marker: r.spec.Marker, patience: r.patience.term}
	ended, err := s.run(context.Background())
	if err != nil || len(ended) != 2 {
		t.Errorf("ended %v: %v", ended, err)
	}
	for i, id := range relatives[:2] {
		if id.alive() {
			t.Errorf("relative %d lives", i)
		}
	}
	if again, err := Sweep(r.spec.Marker); err != nil || again != nil {
		t.Errorf("a second sweep found %v: %v", again, err)
	}
	if !Alive(other.PID(), other.StartTicks()) {
		t.Error("another launch was ended")
	}
	h, err := hold(relatives[2]) // no marker and no parent: out of reach
	if err == nil {
		_ = h.signal(unix.SIGKILL)
		h.release()
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
	if !Alive(self.pid, self.start) {
		t.Error("this process is not alive")
	}
	if Alive(self.pid, self.start+1) {
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

func TestOnlyOrphansAreReaped(t *testing.T) {
	switch err := BecomeSubreaper(); {
	case errors.Is(err, errors.ErrUnsupported) && runtime.GOOS != "linux":
		t.Skip("no subreapers here")
	case err != nil:
		t.Fatal(err)
	}
	ours := exec.Command("/bin/sh", "-c", "exit 3")
	if err := ours.Start(); err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	h, err := hold(p.identity)
	if err != nil {
		t.Fatal(err)
	}
	defer h.release()
	h.wait(context.Background())
}
