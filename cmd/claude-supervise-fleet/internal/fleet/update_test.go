package fleet

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"go.temporal.io/api/serviceerror"
	sdk "go.temporal.io/sdk/client"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
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
