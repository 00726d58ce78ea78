package flow

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"

	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
	"claude-supervise/supervisor/exit"
)

// A stop ends a run that waits for a worker, at once, and also one that a worker has begun with and not spoken of.
func TestAStopEndsARunThatNoWorkerHasSpokenOf(t *testing.T) {
	for name, before := range map[string]func(*stage){
		"that was not begun": func(s *stage) {
			s.OnActivity(Supervise, mock.Anything, mock.Anything).After(time.Hour).Return(succeeded(1))
		},
		"that goes on elsewhere": func(s *stage) {
			s.OnActivity(Supervise, mock.Anything, mock.MatchedBy(func(a Attempt) bool { return a.Epoch == 1 })).
				Return(Outcome{Seen: seen(1, "interrupted"), Back: true}, nil)
			s.OnActivity(Supervise, mock.Anything, mock.Anything).After(time.Hour).Return(succeeded(2))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := onStage(t, nil)
			before(s)
			stopped := s.stops(time.Minute, stop)
			began := s.Now()
			l := s.plays()
			if *stopped != nil || l.Status != "stopped" || l.ExitCode == nil || *l.ExitCode != exit.Stopped {
				t.Errorf("it is told %v, and ends as %+v", *stopped, l)
			}
			if took := s.Now().Sub(began); took > 10*time.Minute {
				t.Errorf("it ends after %s", took)
			}
		})
	}
}

// Only what was said to this execution of the run, in this update, stops it.
func TestAStopThatIsRepeatedStopsNothing(t *testing.T) {
	for name, said := range map[string]Stop{
		"said to an execution before": {By: "ann", Mark: seal.Mark{ID: stop.ID, Execution: "another"}},
		"in another update":           {By: "ann", Mark: seal.Mark{ID: "another", Execution: execution}},
		"that names nothing":          {By: "ann"},
	} {
		t.Run(name, func(t *testing.T) {
			s := onStage(t, func(_ context.Context, a Attempt) (Outcome, error) {
				if a.Epoch == 1 {
					return parked(1, "q-1")
				}
				return succeeded(a.Epoch)
			})
			became := s.stops(time.Minute, said)
			s.answers(time.Hour, "q-1", "yes", "ann")
			if l := s.plays(); l.Status != "succeeded" || !isKind(*became, ErrForeign) {
				t.Errorf("it is told %v, and the run ends as %s", *became, l.Status)
			}
		})
	}
}

// An answer that is repeated in another update is none.
func TestAnAnswerIsTakenInItsUpdateAlone(t *testing.T) {
	s := onStage(t, func(_ context.Context, a Attempt) (Outcome, error) {
		if a.Epoch == 1 {
			return parked(1, "q-1")
		}
		return succeeded(a.Epoch)
	})
	repeated := new(error)
	s.RegisterDelayedCallback(func() {
		s.UpdateWorkflow(UpdateAnswer, "another", whatBecame(repeated),
			Answer{Mark: seal.Mark{ID: "first"}, Question: "q-1", Text: "no", By: "eve"})
	}, time.Minute)
	s.answers(time.Hour, "q-1", "yes", "ann")
	if s.plays(); !isKind(*repeated, ErrForeign) || len(s.attempts) != 2 || s.attempts[1].Answers[0].Text != "yes" {
		t.Errorf("it is told %v; the attempts are %+v", *repeated, s.attempts)
	}
}

// How a worker has left an earlier epoch is not how it leaves this one.
func TestTheEndOfAnotherEpochEndsNothing(t *testing.T) {
	for name, out := range map[string]Outcome{
		"of another":              {Seen: seen(7, "succeeded"), Code: exit.Success},
		"of none":                 {Code: exit.Success},
		"with no room in another": {Full: true, Seen: Seen{Epoch: 7}},
	} {
		t.Run(name, func(t *testing.T) {
			s := onStage(t, func(_ context.Context, a Attempt) (Outcome, error) {
				if a.Epoch == 1 {
					return out, nil
				}
				return parked(2, "q-1")
			})
			s.stops(time.Hour, stop)
			if l := s.plays(); l.Status != "stopped" || l.Epoch != 2 {
				t.Errorf("it ends as %s in epoch %d", l.Status, l.Epoch)
			}
		})
	}
}

// What a worker has told is not told again: a question that was answered on the worker would be listed as open.
func TestWhatAWorkerHasToldIsNotToldAgain(t *testing.T) {
	s := onStage(t, nil)
	s.OnActivity(Supervise, mock.Anything, mock.Anything).After(time.Hour).Return(succeeded(1))
	first, second := seen(1, "waiting", "q-1"), seen(1, "running")
	first.Seq, second.Seq = 1, 2
	for i, told := range []Seen{first, second, first} {
		s.RegisterDelayedCallback(func() { s.SignalWorkflow(SignalSeen, told) }, time.Duration(i+1)*time.Minute)
	}
	var l Listed
	s.RegisterDelayedCallback(func() {
		v, err := s.QueryWorkflow(QueryRun)
		if err == nil {
			err = v.Get(&l)
		}
		if err != nil {
			t.Error(err)
		}
	}, 10*time.Minute)
	if s.plays(); l.Status != "running" || len(l.Questions) != 0 {
		t.Errorf("it is %s, and asks %v", l.Status, l.Questions)
	}
}
