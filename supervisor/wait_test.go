package supervisor

import (
	"context"
	"errors"
	"testing"

	"claude-supervise/checkpoints"
)

func TestAwaitReturnsWhenARunHasEndedOrIsLeft(t *testing.T) {
	code := ExitPartial
	for name, c := range map[string]struct {
		status Status
		ends   bool
		left   string
		want   int
	}{
		"ended":                       {checkpoints.Partial, true, leavingEnded, ExitPartial},
		"parked":                      {checkpoints.Parked, false, leavingParked, ExitParked},
		"interrupted":                 {checkpoints.Interrupted, false, leavingInterrupted, ExitInterrupted},
		"parked, then interrupted":    {checkpoints.Parked, false, leavingInterrupted, ExitParked},
		"its supervisor died at work": {checkpoints.Running, false, "", ExitInterrupted},
		"its supervisor died parked":  {checkpoints.Parked, false, "", ExitInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dirs := testDirs(t)
			s := newSaver(t, dirs, "r-awaited1")
			s.save(checkpoints.Parked, "asks") // parked under a supervisor that stays: that goes on
			w := watchRuns(t, dirs)
			w.next()
			ended := make(chan RunView, 1)
			go func() {
				v, err := Reader{Dirs: dirs}.Await(t.Context(), "r-awaited1")
				if err != nil {
					t.Error(err)
				}
				ended <- v
			}()
			s.save(checkpoints.Running, "answered")
			w.next()
			select {
			case v := <-ended:
				t.Fatalf("it did not wait: %+v", v)
			default:
			}
			if c.ends {
				at := now()
				s.run.EndedAt, s.run.ExitCode = &at, &code
			}
			s.save(c.status, "why")
			s.leave(c.left)
			if v := <-ended; v.GoesOn() || v.Code() != c.want {
				t.Errorf("exit %d, want %d: %+v", v.Code(), c.want, v)
			}
		})
	}
}

func TestAwaitLooksOnceThoughThereIsNoTime(t *testing.T) {
	dirs := testDirs(t)
	newSaver(t, dirs, "r-goeson01").save(checkpoints.Running, "launch 1")
	left := newSaver(t, dirs, "r-left0001")
	left.save(checkpoints.Parked, "asks")
	left.leave(leavingParked)
	noTime := errors.New("no time")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(noTime)
	var seen []string
	err := Reader{Dirs: dirs}.AwaitEach(ctx, []Node{{Run: "r-goeson01"}, {Run: "r-left0001"}}, func(a Awaited) error {
		v := a.View
		seen = append(seen, v.ID)
		return nil
	})
	if !errors.Is(err, noTime) || len(seen) != 1 || seen[0] != "r-left0001" {
		t.Errorf("%v, %v", seen, err)
	}
}

func TestAwaitOfNoRunIsAnError(t *testing.T) {
	_, err := Reader{Dirs: testDirs(t)}.Await(t.Context(), "r-none0001")
	if !NoSuchID(err) {
		t.Error(err)
	}
}

func TestTheWorstOfSeveralExitCodesCounts(t *testing.T) {
	order := []int{
		ExitInternal, ExitNoAgent, ExitFailed, ExitUnreported, ExitStopped, ExitBudget, ExitInterrupted, ExitParked,
		ExitPartial, ExitSuccess,
	}
	for i, worse := range order {
		for _, better := range order[i:] {
			if a, b := WorseCode(worse, better), WorseCode(better, worse); a != worse || b != worse {
				t.Errorf("of %d and %d the worse is %d, or %d", worse, better, a, b)
			}
		}
	}
}
