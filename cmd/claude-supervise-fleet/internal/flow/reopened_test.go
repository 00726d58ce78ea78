package flow

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
)

// What was answered on a worker's machine, and is in no snapshot, is asked again where the run goes on: an answer to it
// counts there.
func TestAQuestionThatIsAskedAgainElsewhereCanBeAnswered(t *testing.T) {
	s := onStage(t, func(context.Context, Attempt) (Outcome, error) { return Outcome{}, nil })
	s.OnActivity(Supervise, mock.Anything, mock.MatchedBy(func(a Attempt) bool { return a.Epoch == 1 })).
		After(time.Minute).Return(Outcome{}, temporal.NewTimeoutError(enums.TIMEOUT_TYPE_HEARTBEAT, nil))
	s.OnActivity(Supervise, mock.Anything, mock.MatchedBy(func(a Attempt) bool { return a.Epoch == 2 })).
		After(time.Minute).Return(succeeded(2))
	s.OnActivity(Deliver, mock.Anything, mock.MatchedBy(func(d Delivery) bool { return d.Epoch == 1 })).
		Return(temporal.NewNonRetryableApplicationError("q-1 was answered before, by a person on pts/3", ErrTaken, nil))
	s.OnActivity(Deliver, mock.Anything, mock.MatchedBy(func(d Delivery) bool { return d.Epoch == 2 })).Return(nil)
	at := func(after time.Duration, epoch int) {
		s.RegisterDelayedCallback(func() { s.SignalWorkflow(SignalSeen, seen(epoch, "waiting", "q-1")) }, after)
	}
	at(time.Second, 1)
	later := s.answers(2*time.Second, "q-1", "no", "bob")
	at(3*time.Second, 1) // it was under way
	closed := s.answers(4*time.Second, "q-1", "no", "bob")
	at(time.Minute+time.Second, 2)
	counts := s.answers(time.Minute+2*time.Second, "q-1", "yes", "ann")
	l := s.plays()
	if !isKind(*later, ErrTaken) || !isKind(*closed, ErrTaken) {
		t.Errorf("on the worker that has its answer: %v, then %v", *later, *closed)
	}
	if *counts != nil || len(l.Answered) != 1 || l.Answered[0].By != "ann" {
		t.Errorf("elsewhere: %v; answered: %+v", *counts, l.Answered)
	}
}
