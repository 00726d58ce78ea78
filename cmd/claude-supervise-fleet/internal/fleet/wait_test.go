package fleet

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	commonpb "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

const waitedFor = "r-abcd1234"

// described is a server that describes a run in these ways in turn, and then as the last. It takes nothing that is said
// to a run: the client below it is nil.
type described struct {
	sdk.Client
	t    *testing.T
	as   []flow.Listed
	ways enums.WorkflowExecutionStatus
	away []int // in which of them err is said
	err  error
	n    int
}

// GetWorkflow gives a run whose end is not told.
func (d *described) GetWorkflow(context.Context, string, string) sdk.WorkflowRun { return untold{} }

type untold struct{ sdk.WorkflowRun }

// Get waits.
func (untold) Get(ctx context.Context, _ any) error { <-ctx.Done(); return ctx.Err() }

// DescribeWorkflowExecution describes it.
func (d *described) DescribeWorkflowExecution(_ context.Context, id, _ string) (
	*workflowservice.DescribeWorkflowExecutionResponse, error) {
	info := &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: id}, Status: d.ways}
	if slices.Contains(d.away, d.n) {
		d.n++
		return nil, d.err
	}
	if d.n < len(d.as) || d.err == nil {
		memo, err := converter.GetDefaultDataConverter().ToPayload(d.as[min(d.n, len(d.as)-1)])
		if err != nil {
			d.t.Error(err)
		}
		info.Memo = &commonpb.Memo{Fields: map[string]*commonpb.Payload{flow.MemoRun: memo}}
		d.n++
		return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: info}, nil
	}
	return nil, d.err
}

func TestWaitLooksUntilARunHasEndedOrIsParked(t *testing.T) {
	as := func(status supervisor.Status, worker string) flow.Listed {
		return flow.Listed{RunView: view.RunView{ID: waitedFor, Status: status}, Worker: worker}
	}
	code := supervisor.ExitPartial
	ended := as("partial", "one")
	ended.ExitCode = &code
	running, leaving := as("running", "one"), as("parked", "one")
	terminated := enums.WORKFLOW_EXECUTION_STATUS_TERMINATED
	for name, c := range map[string]struct {
		server described
		status supervisor.Status
		err    error
	}{
		"that ends":                   {described{as: []flow.Listed{as("queued", ""), running, ended}}, "partial", nil},
		"that its worker parks":       {described{as: []flow.Listed{running, leaving, as("parked", "")}}, "parked", nil},
		"that is ended on the server": {described{as: []flow.Listed{running}, ways: terminated}, "failed", nil},
		"on a server that goes away":  {described{as: []flow.Listed{running}, err: errUnreachable}, "running", errUnreachable},
		"whose server is away": {described{as: []flow.Listed{running, {}, {}, ended}, away: []int{1, 2}, err: errUnreachable},
			"partial", nil},
		"that there is not": {described{err: serviceerror.NewNotFound("none")}, "", &NoRunError{waitedFor}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.server.t = t
				l, err := Fleet{Client: &c.server, Converter: converter.GetDefaultDataConverter()}.Wait(t.Context(), waitedFor)
				var none *NoRunError
				if l.Status != c.status || !errors.Is(err, c.err) && !(errors.As(err, &none) && errors.As(c.err, &none)) {
					t.Errorf("it is %+v, %v", l, err)
				}
			})
		})
	}
}

func TestWhoWaitsForARunThatGoesOnWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := described{t: t, as: []flow.Listed{{RunView: view.RunView{ID: waitedFor, Status: "running"}, Worker: "one"}}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*lookMost)
		defer cancel()
		_, err := Fleet{Client: &server, Converter: converter.GetDefaultDataConverter()}.Wait(ctx, waitedFor)
		if !errors.Is(err, context.DeadlineExceeded) || server.n < 10 {
			t.Errorf("it ends after %d looks: %v", server.n, err)
		}
	})
}
