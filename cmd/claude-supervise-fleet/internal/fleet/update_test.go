package fleet

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/api/serviceerror"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor/view"
)

// updated is a server that says these things in turn to an update, and then goes on to say the last.
type updated struct {
	sdk.Client
	sdk.WorkflowUpdateHandle
	says []error
	said int
	last sdk.UpdateWorkflowOptions
	ends error // of the update, once it is accepted
}

// UpdateWorkflow says the next.
func (u *updated) UpdateWorkflow(_ context.Context, o sdk.UpdateWorkflowOptions) (sdk.WorkflowUpdateHandle, error) {
	if u.said > 0 && u.last.UpdateID != o.UpdateID {
		return nil, errors.New("it is another update")
	}
	u.last = o
	err := u.says[min(u.said, len(u.says)-1)]
	u.said++
	return u, err
}

// Get is the end of the update.
func (u *updated) Get(context.Context, any) error { return u.ends }

func TestAnAnswerWaitsForAWorkflowThatIsNotReady(t *testing.T) {
	busy := serviceerror.NewWorkflowNotReady("Workflow Task in failed state")
	cut := sdk.NewWorkflowUpdateServiceTimeoutOrCanceledError(errors.New("stream terminated by RST_STREAM"))
	for name, c := range map[string]struct {
		server updated
		want   error
	}{
		"and then is":                   {updated{says: []error{busy, busy, nil}}, nil},
		"and is after a minute":         {updated{says: append(slices.Repeat([]error{busy}, 120), nil)}, nil},
		"and never is":                  {updated{says: []error{busy}}, ErrNoWorker},
		"whose server ends the call":    {updated{says: []error{busy, cut}}, errUncertain},
		"and is slow once it has it":    {updated{says: []error{nil}, ends: cut}, nil},
		"and is not reachable any more": {updated{says: []error{errUnreachable}}, errUnreachable},
		"that no worker decides about":  {updated{says: []error{context.DeadlineExceeded}}, errUncertain},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := Fleet{Client: &c.server}.Answer(t.Context(), "r-abcdefgh", flow.Answer{})
				var perhaps *UncertainError
				sent := errors.Is(c.want, errUncertain) || errors.Is(c.want, errUnreachable)
				if errors.As(err, &perhaps) != sent || !errors.Is(c.want, errUncertain) && !errors.Is(err, c.want) {
					t.Errorf("it is %v", err)
				}
				if sent && (perhaps.ExitsWith() != ExitUncertain || !strings.Contains(err.Error(), "may still be taken")) {
					t.Errorf("it exits with %d: %v", perhaps.ExitsWith(), err)
				}
				if o := c.server.last; o.UpdateID == "" || o.UpdateID != o.Args[0].(flow.Answer).ID {
					t.Errorf("the update is %q, and the answer is of %q", o.UpdateID, o.Args[0].(flow.Answer).ID)
				}
			})
		})
	}
}

// errUncertain stands for an *UncertainError without a cause.
var errUncertain = errors.New("uncertain")

var errUnreachable = serviceerror.NewUnavailable("nobody listens")

// accepted is a server whose workflow accepts an update, and whose worker never has it.
type accepted struct {
	sdk.Client
	sdk.WorkflowUpdateHandle
	after time.Duration // it is accepted
}

// UpdateWorkflow returns once it is accepted.
func (a accepted) UpdateWorkflow(ctx context.Context, _ sdk.UpdateWorkflowOptions) (sdk.WorkflowUpdateHandle, error) {
	select {
	case <-time.After(a.after):
		return a, nil
	case <-ctx.Done():
		return nil, sdk.NewWorkflowUpdateServiceTimeoutOrCanceledError(ctx.Err())
	}
}

// Get never ends by itself.
func (accepted) Get(ctx context.Context, _ any) error { <-ctx.Done(); return ctx.Err() }

// A worker that is dead or stands still has its lease: nobody waits for the end of that to know that an answer is kept.
func TestAnAnswerThatIsAcceptedIsWaitedForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		answered, err := Fleet{Client: accepted{after: 3 * time.Second}}.Answer(t.Context(), "r-abcdefgh", flow.Answer{})
		if took := time.Since(began); err != nil || answered.Given || took != 3*time.Second+given {
			t.Errorf("after %s it is %+v, %v", took, answered, err)
		}
	})
}

// Where nobody decides, whoever says something does, and only then.
func TestWhoSaysSomethingDecidesWhereNobodyElseDoes(t *testing.T) {
	for after, want := range map[time.Duration]int{0: 0, hostAfter / 2: 0, 2 * hostAfter: 1} {
		synctest.Test(t, func(t *testing.T) {
			hosting, hosted := 0, 0
			f := Fleet{Client: accepted{after: after}, Hosts: func() (func(), error) {
				hosting, hosted = hosting+1, hosted+1
				return func() { hosting-- }, nil
			}}
			if after < hostAfter { // a worker has it at once
				f.Client = &updated{says: []error{nil}}
			}
			if _, err := f.Answer(t.Context(), "r-abcdefgh", flow.Answer{}); err != nil || hosting != 0 || hosted != want {
				t.Errorf("accepted after %s it was hosted %d times, and is %d times still: %v", after, hosted, hosting, err)
			}
		})
	}
}

// When a question was answered is said by the clock of whoever is late, as all times are.
func TestWhoIsLateIsToldByTheirOwnClockWhenSomebodyAnswered(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	taken := temporal.NewNonRetryableApplicationError("q-1 was answered before, by ann at 2026-01-02T03:04:05Z: yes",
		flow.ErrTaken, nil, flow.Answer{Question: "q-1", Text: "yes", By: "ann", At: at})
	server := updated{says: []error{nil}, ends: taken}
	_, err := Fleet{Client: &server}.Answer(t.Context(), "r-abcdefgh", flow.Answer{Question: "q-1"})
	if want := "q-1 was answered before, by ann at " + view.Clock(at) + ": yes"; err == nil || err.Error() != want {
		t.Errorf("it is told %v, not %s", err, want)
	}
}
