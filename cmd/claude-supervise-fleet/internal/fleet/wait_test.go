package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/exit"
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

// GetWorkflow returns a run whose end is not told.
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

// waits waits for a run until it has ended or is parked, and gives how it was seen last.
func waits(ctx context.Context, server *described) (flow.Listed, error) {
	f := Fleet{Client: server, Converter: converter.GetDefaultDataConverter()}
	last, err := f.Run(ctx, waitedFor)
	if err != nil {
		return last, err
	}
	err = f.Wait(ctx, []flow.Listed{last}, func(l flow.Listed) (bool, error) {
		last = l
		return l.ExitCode == nil && !l.Parked(), nil
	})
	return last, err
}

func TestWaitLooksUntilARunHasEndedOrIsParked(t *testing.T) {
	as := func(status supervisor.Status, worker string) flow.Listed {
		return flow.Listed{RunInfo: flow.RunInfo{ID: waitedFor, Status: status}, Worker: worker}
	}
	code := exit.Partial
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
				l, err := waits(t.Context(), &c.server)
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
		server := described{t: t, as: []flow.Listed{{RunInfo: flow.RunInfo{ID: waitedFor, Status: "running"}, Worker: "one"}}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*lookMost)
		defer cancel()
		_, err := waits(ctx, &server)
		if !errors.Is(err, context.DeadlineExceeded) || server.n < 10 {
			t.Errorf("it ends after %d looks: %v", server.n, err)
		}
	})
}

// What each returns as an error ends the wait for all, and nothing is given after it: it is how one of many is enough.
func TestTheWaitForManyRunsEndsWithTheFirstError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		going := flow.Listed{RunInfo: flow.RunInfo{ID: waitedFor, Status: "running"}, Worker: "one"}
		code := exit.Success
		ended := going
		ended.ExitCode = &code
		runs := make([]flow.Listed, 3*mostLooking) // more than are looked at at a time
		for i := range runs {
			runs[i] = going
			runs[i].ID = fmt.Sprintf("r-abcd%04d", i)
		}
		server := &endsAt{t: t, going: going, ended: ended, last: runs[len(runs)-1].ID}
		enough := errors.New("enough")
		given := 0
		f := Fleet{Client: server, Converter: converter.GetDefaultDataConverter()}
		err := f.Wait(t.Context(), runs, func(l flow.Listed) (bool, error) {
			if given > 0 {
				t.Errorf("%s is given after the error", l.ID)
			}
			if l.ExitCode == nil {
				return true, nil
			}
			given++
			return false, enough
		})
		if !errors.Is(err, enough) || given != 1 {
			t.Errorf("%d are given: %v", given, err)
		}
	})
}

// endsAt is a server on which every run goes on but the last.
type endsAt struct {
	described
	t            *testing.T
	going, ended flow.Listed
	last         string
}

// DescribeWorkflowExecution describes it.
func (e *endsAt) DescribeWorkflowExecution(ctx context.Context, id, run string) (
	*workflowservice.DescribeWorkflowExecutionResponse, error) {
	one := described{t: e.t, as: []flow.Listed{e.going}}
	if id == e.last {
		one.as[0] = e.ended
	}
	one.as[0].ID = id
	return one.DescribeWorkflowExecution(ctx, id, run)
}

// A wait that only looks gives what there is to give, and then says that the time is up.
func TestARunThatHasEndedIsGivenThoughTheTimeIsUp(t *testing.T) {
	up := errors.New("the time is up")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 0, up)
	defer cancel()
	going := flow.Listed{RunInfo: flow.RunInfo{ID: waitedFor}}
	ended := flow.Listed{RunInfo: flow.RunInfo{ID: "r-ended000"}}
	var given []string
	err := Fleet{Client: &described{t: t}}.Wait(ctx, []flow.Listed{going, ended}, func(l flow.Listed) (bool, error) {
		given = append(given, l.ID)
		return l.ID == waitedFor, nil
	})
	if !errors.Is(err, up) || !slices.Equal(given, []string{waitedFor, ended.ID}) {
		t.Errorf("given %q: %v", given, err)
	}
}

// Of many runs that are waited for the server lists those that have changed, and describes none.
func TestWhoWaitsForManyRunsCostsAsManyRowsAsHaveChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 500
		began := time.Now()
		server := &changing{described: described{t: t}}
		for i := range many {
			server.as = append(server.as, flow.Listed{Changed: began.Add(-time.Hour), Worker: "one",
				RunInfo: flow.RunInfo{ID: fmt.Sprintf("r-%08d", i), Status: "running"}})
		}
		f := Fleet{Client: server, Converter: converter.GetDefaultDataConverter()}
		server.as[7].Changed = time.Time{} // no worker has read it; it is described until one has
		const changes = 2 * many
		go func() {
			code := exit.Success
			for i := range many {
				time.Sleep(time.Second)
				server.changes(i, func(l *flow.Listed) { l.Reason = "it goes on" })
				time.Sleep(100 * time.Millisecond)
				server.changes(i, func(l *flow.Listed) { l.ExitCode = &code })
			}
		}()
		given := map[string]int{}
		err := f.Wait(t.Context(), slices.Clone(server.as), func(l flow.Listed) (bool, error) {
			given[l.ID]++
			return l.ExitCode == nil, nil
		})
		if err != nil || len(given) != many || server.n != 1 || server.rows > changes*(lateFor+1) {
			t.Errorf("%d runs are given, %d were described, and %d rows were listed of %d changes: %v", len(given), server.n,
				server.rows, changes, err)
		}
		for run, times := range given {
			if times > 3 && run != server.as[7].ID {
				t.Errorf("%s is given %d times, which has changed twice", run, times)
			}
		}
	})
}

// DescribeWorkflowExecution describes a run that a worker has read meanwhile.
func (c *changing) DescribeWorkflowExecution(_ context.Context, id, _ string) (
	*workflowservice.DescribeWorkflowExecutionResponse, error) {
	c.n++
	at := slices.IndexFunc(c.as, func(l flow.Listed) bool { return l.ID == id })
	c.changes(at, func(*flow.Listed) {})
	w, err := changedAs(c.as[at])
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: w}, err
}

// changing is a server whose runs say when they change.
type changing struct {
	described
	mu   sync.Mutex
	rows int
}

func (c *changing) changes(i int, how func(*flow.Listed)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.as[i].Changed = time.Now()
	how(&c.as[i])
}

// ListWorkflow lists those that have changed after a time.
func (c *changing) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (
	*workflowservice.ListWorkflowExecutionsResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, after, _ := strings.Cut(r.GetQuery(), flow.AttributeChanged+" > ")
	at, err := time.Parse("'"+time.RFC3339Nano+"'", after)
	if err != nil {
		return nil, err
	}
	list := &workflowservice.ListWorkflowExecutionsResponse{}
	for _, l := range c.as {
		if !l.Changed.After(at) {
			continue
		}
		c.rows++
		w, err := changedAs(l)
		if err != nil {
			return nil, err
		}
		list.Executions = append(list.Executions, w)
	}
	return list, nil
}

func changedAs(l flow.Listed) (*workflowpb.WorkflowExecutionInfo, error) {
	memo, err := converter.GetDefaultDataConverter().ToPayload(l)
	changed, err2 := converter.GetDefaultDataConverter().ToPayload(l.Changed)
	return &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: l.ID},
		Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{flow.MemoRun: memo}},
		SearchAttributes: &commonpb.SearchAttributes{
			IndexedFields: map[string]*commonpb.Payload{flow.AttributeChanged: changed}}}, errors.Join(err, err2)
}
