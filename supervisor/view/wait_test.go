package view

import (
	"context"
	"errors"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/internal/storetest"
	"claude-supervise/supervisor/records"
)

func TestAwaitReturnsWhenARunHasEndedOrIsLeft(t *testing.T) {
	code := exit.Partial
	for name, c := range map[string]struct {
		status supervisor.Status
		ends   bool
		left   string
		want   int
	}{
		"ended":  {checkpoints.Partial, true, records.LeavingEnded, exit.Partial},
		"parked": {checkpoints.Parked, false, records.LeavingParked, exit.Parked},
		"interrupted": {checkpoints.Interrupted, false, records.LeavingInterrupted,
			exit.Interrupted},
		"parked, then interrupted": {checkpoints.Parked, false, records.LeavingInterrupted,
			exit.Parked},
		"its supervisor died at work": {checkpoints.Running, false, "", exit.Interrupted},
		"its supervisor died parked":  {checkpoints.Parked, false, "", exit.Interrupted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dirs := storetest.TestDirs(t)
			s := storetest.NewSaver(t, dirs, "r-awaited1")
			s.Save(checkpoints.Parked, "asks") // parked under a supervisor that stays: that goes on
			w := watchRuns(t, dirs)
			w.next()
			ended := make(chan RunView, 1)
			go func() {
				v, err := Reader{Dirs: dirs}.await(t.Context(), Node{Run: "r-awaited1"})
				if err != nil {
					t.Error(err)
				}
				ended <- v
			}()
			s.Save(checkpoints.Running, "answered")
			w.next()
			select {
			case v := <-ended:
				t.Fatalf("it did not wait: %+v", v)
			default:
			}
			if c.ends {
				at := checkpoints.Now()
				s.Run.EndedAt, s.Run.ExitCode = &at, &code
			}
			s.Save(c.status, "why")
			s.Leave(c.left)
			if v := <-ended; v.GoesOn() || v.code() != c.want {
				t.Errorf("exit %d, want %d: %+v", v.code(), c.want, v)
			}
		})
	}
}

func TestAwaitLooksOnceThoughThereIsNoTime(t *testing.T) {
	dirs := storetest.TestDirs(t)
	storetest.NewSaver(t, dirs, "r-goeson01").Save(checkpoints.Running, "launch 1")
	left := storetest.NewSaver(t, dirs, "r-left0001")
	left.Save(checkpoints.Parked, "asks")
	left.Leave(records.LeavingParked)
	noTime := errors.New("no time")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(noTime)
	var seen []string
	err := Reader{Dirs: dirs}.AwaitEach(ctx, []Node{{Run: "r-goeson01"}, {Run: "r-left0001"}}, func(a Awaited) error {
		v := a.View
		seen = append(seen, v.ID)
		return nil
	}, func(Awaited) {})
	if !errors.Is(err, noTime) || len(seen) != 1 || seen[0] != "r-left0001" {
		t.Errorf("%v, %v", seen, err)
	}
}

func TestAwaitOfNoRunIsAnError(t *testing.T) {
	_, err := Reader{Dirs: storetest.TestDirs(t)}.await(t.Context(), Node{Run: "r-none0001"})
	if !NoSuchID(err) {
		t.Error(err)
	}
}

func TestTheWorstOfSeveralExitCodesCounts(t *testing.T) {
	order := []int{
		exit.Internal, exit.NoAgent, exit.Failed, exit.Unreported,
		exit.Stopped, exit.Budget, exit.Interrupted, exit.Parked,
		exit.Partial, exit.Success,
	}
	for i, worse := range order {
		for _, better := range order[i:] {
			if a, b := WorseCode(worse, better), WorseCode(better, worse); a != worse || b != worse {
				t.Errorf("of %d and %d the worse is %d, or %d", worse, better, a, b)
			}
		}
	}
}

// await is AwaitEach of one node.
func (r Reader) await(ctx context.Context, n Node) (RunView, error) {
	var end RunView
	err := r.AwaitEach(ctx, []Node{n}, func(a Awaited) error { end = a.View; return nil }, func(Awaited) {})
	return end, err
}
