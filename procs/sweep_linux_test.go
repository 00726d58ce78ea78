package procs

import (
	"context"
	"encoding/json"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// What is left behind is found and ended completely only here; elsewhere the sweep is weaker.

// family starts a child with relatives and gives their identities: one in a session of its own, an orphan, and one
// without our environment.
func family(t *testing.T) (*run, []identity) {
	t.Helper()
	r := start(t, spec(t, "family"))
	var pids []int
	noError(t, json.Unmarshal([]byte(next[Text](r).Text), &pids))
	var relatives []identity
	for _, pid := range pids {
		p, err := read(pid)
		noError(t, err)
		relatives = append(relatives, p.identity)
	}
	return r, relatives
}

func TestNothingOutlivesTheEnd(t *testing.T) {
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
		noError(t, err)
		noError(t, h.signal(unix.SIGKILL))
		h.wait(context.Background())
		h.release()
	}
}

func TestASweepFindsALaunchByItsMarkerAlone(t *testing.T) {
	r, relatives := family(t)
	other, _ := family(t)
	if err := syscall.Kill(r.PID(), syscall.SIGKILL); err != nil { // as if its supervisor were gone too
		t.Fatal(err)
	}
	next[Exit](r)
	s := sweep{marker: r.Spec.Marker, patience: r.Patience.Term}
	ended, err := s.run(context.Background())
	if err != nil || len(ended) != len(relatives) {
		t.Errorf("ended %v: %v", ended, err)
	}
	for i, id := range relatives {
		if id.alive() {
			t.Errorf("relative %d lives", i)
		}
	}
	if again, err := Sweep(r.Spec.Marker); err != nil || again != nil {
		t.Errorf("a second sweep found %v: %v", again, err)
	}
	if !other.id.alive() {
		t.Error("another launch was ended")
	}
}
