package fleet

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
)

// askers is a server with runs that ask, of which it knows when they asked.
type askers struct {
	sdk.Client
	at             []time.Time // by run; zero: it does not say so
	lacks          bool        // the namespace does not have the attribute
	requests, rows int
}

var askedBy = regexp.MustCompile(`AskedAt <= '([^']+)'`)

// finds returns which runs a query finds.
func (a *askers) finds(query string) (found []int, err error) {
	a.requests++
	if a.lacks && strings.Contains(query, flow.AttributeAskedAt) {
		return nil, errors.New("invalid search attribute")
	}
	var by time.Time
	said := askedBy.FindStringSubmatch(query)
	if said != nil {
		if by, err = time.Parse(time.RFC3339Nano, said[1]); err != nil {
			return nil, err
		}
	}
	for i, at := range a.at {
		if said != nil && (at.IsZero() || at.After(by)) || strings.Contains(query, "AskedAt IS NULL") && !at.IsZero() {
			continue
		}
		found = append(found, i)
	}
	return found, nil
}

// CountWorkflow counts them.
func (a *askers) CountWorkflow(_ context.Context, r *workflowservice.CountWorkflowExecutionsRequest) (
	*workflowservice.CountWorkflowExecutionsResponse, error) {
	found, err := a.finds(r.GetQuery())
	return &workflowservice.CountWorkflowExecutionsResponse{Count: int64(len(found))}, err
}

// ListWorkflow lists all at once.
func (a *askers) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (
	*workflowservice.ListWorkflowExecutionsResponse, error) {
	found, err := a.finds(r.GetQuery())
	list := &workflowservice.ListWorkflowExecutionsResponse{}
	for _, i := range found {
		id := fmt.Sprintf("%08d", i)
		asked := a.at[i]
		if asked.IsZero() {
			asked = time.Unix(1, 0)
		}
		memo, err := converter.GetDefaultDataConverter().ToPayload(flow.Listed{RunInfo: flow.RunInfo{ID: "r-" + id},
			Questions: []flow.QuestionInfo{{ID: "q-" + id, Run: "r-" + id, AskedAt: asked}}})
		if err != nil {
			return nil, err
		}
		list.Executions = append(list.Executions, &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: "r-" + id},
			Memo:      &commonpb.Memo{Fields: map[string]*commonpb.Payload{flow.MemoRun: memo}}})
	}
	a.rows += len(found)
	return list, err
}

// However many runs ask, those that asked first are read, and a few more: with ten times as many, the same.
func TestTheQuestionsThatWereAskedFirstCostTheSameOfVeryMany(t *testing.T) {
	const most = 200
	began := time.Now()
	for name, when := range map[string]func(i, n int) time.Time{
		"evenly, over a month":  func(i, n int) time.Time { return began.Add(-time.Duration(i) * 30 * 24 * time.Hour / time.Duration(n)) },
		"evenly, in a minute":   func(i, n int) time.Time { return began.Add(-time.Duration(i) * time.Minute / time.Duration(n)) },
		"most of them just now": func(i, _ int) time.Time { return began.Add(-time.Duration(i*i*i) * time.Millisecond) },
		"most of them a month ago": func(i, _ int) time.Time {
			return began.Add(-30 * 24 * time.Hour).Add(time.Duration(i*i) * time.Millisecond)
		},
		"in two rushes": func(i, n int) time.Time {
			return began.Add(-time.Duration(i%2) * 24 * time.Hour).Add(time.Duration(i) * time.Microsecond)
		},
	} {
		for _, n := range []int{1000, 10_000} {
			a := &askers{}
			for i := range n {
				a.at = append(a.at, when(i, n))
			}
			f := Fleet{Client: a, Converter: converter.GetDefaultDataConverter()}
			open, runs, err := f.Asked(t.Context(), most)
			first := slices.SortedFunc(slices.Values(a.at), time.Time.Compare)[most-1]
			if err != nil || runs != n || len(open) != most || open[most-1].AskedAt.After(first) {
				t.Fatalf("%s: of %d runs %d questions of %d: %v", name, n, len(open), runs, err)
			}
			if limit := fewRead; a.requests > mostSteps+8 || a.rows > limit && !strings.Contains(name, "rushes") {
				t.Errorf("%s: of %d runs it takes %d requests, and %d rows", name, n, a.requests, a.rows)
			}
		}
	}
}

// Where one run does not say when it asked, or the namespace cannot say it, all are read: that one may have asked first.
func TestWhereItIsNotSaidWhoAskedFirstAllAreRead(t *testing.T) {
	for name, a := range map[string]*askers{"of one": {}, "of all": {lacks: true}} {
		for i := range 2000 {
			a.at = append(a.at, time.Unix(int64(1e9+i), 0))
		}
		if !a.lacks {
			a.at[900] = time.Time{}
		}
		open, _, err := Fleet{Client: a, Converter: converter.GetDefaultDataConverter()}.Asked(t.Context(), 5)
		if want := map[bool]string{false: "q-00000900", true: "q-00000000"}[a.lacks]; err != nil || len(open) != 5 ||
			open[0].ID != want || a.rows != 2000 {
			t.Errorf("%s: %d, the first %+v, of %d rows: %v", name, len(open), open[:min(1, len(open))], a.rows, err)
		}
	}
}
