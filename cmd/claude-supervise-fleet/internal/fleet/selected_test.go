package fleet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
	"claude-supervise/supervisor/service"
)

// pages is a server that lists these runs page by page, the latest begun first, whatever else it is asked.
type pages struct {
	sdk.Client
	all     []*workflowpb.WorkflowExecutionInfo
	queries []string
	read    int // entries that it has given
	passed  int // entries that it has passed over, as a database does that is given a page token
}

var startedBefore = regexp.MustCompile(`StartTime < '([^']+)'`)

// ListWorkflow gives a page.
func (p *pages) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (
	*workflowservice.ListWorkflowExecutionsResponse, error) {
	at := 0
	p.queries = append(p.queries, r.GetQuery())
	_, _ = fmt.Sscan(string(r.GetNextPageToken()), &at)
	p.passed += at
	var found []*workflowpb.WorkflowExecutionInfo
	before := time.Unix(1<<40, 0)
	if said := startedBefore.FindStringSubmatch(r.GetQuery()); said != nil {
		before, _ = time.Parse(time.RFC3339Nano, said[1])
	}
	for _, w := range p.all {
		if w.GetStartTime().AsTime().Before(before) {
			found = append(found, w)
		}
	}
	end := min(at+int(r.GetPageSize()), len(found))
	p.read += end - at
	response := &workflowservice.ListWorkflowExecutionsResponse{Executions: found[at:end]}
	if end < len(found) {
		response.NextPageToken = fmt.Append(nil, end)
	}
	return response, nil
}

// CountWorkflow counts as many as there are letters in the query.
func (p *pages) CountWorkflow(_ context.Context, r *workflowservice.CountWorkflowExecutionsRequest) (
	*workflowservice.CountWorkflowExecutionsResponse, error) {
	return &workflowservice.CountWorkflowExecutionsResponse{Count: int64(len(r.GetQuery()))}, nil
}

func manyRuns(t *testing.T, n int) (*pages, Fleet) {
	t.Helper()
	key, err := seal.MakeKey(filepath.Join(t.TempDir(), "fleet.key"))
	if err != nil {
		t.Fatal(err)
	}
	p := &pages{}
	for i := range n {
		id := fmt.Sprintf("r-%08d", i)
		memo, err := converter.WithDataConverterSerializationContext(key.Converter(), converter.WorkflowSerializationContext{
			Namespace: "n", WorkflowID: id}).ToPayload(flow.Listed{Labels: []string{[]string{"gpu", "cpu"}[i%2]},
			RunInfo: flow.RunInfo{ID: id, Name: fmt.Sprintf("name %d", i), StartedAt: time.Unix(int64(1e9-i), 0)}})
		if err != nil {
			t.Fatal(err)
		}
		p.all = append(p.all, &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: id},
			Status: enums.WORKFLOW_EXECUTION_STATUS_RUNNING, StartTime: timestamppb.New(time.Unix(int64(1e9-i), 0)),
			Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{flow.MemoRun: memo}}})
	}
	return p, Fleet{Client: p, Namespace: "n", Converter: key.Converter()}
}

func TestOfVeryManyRunsOnlyThoseThatAreWantedAreRead(t *testing.T) {
	p, f := manyRuns(t, 2000)
	for name, c := range map[string]struct {
		of     service.Selection
		want   int
		last   string
		most   int // entries that are read
		query  string
		refuse bool
	}{
		"the newest":  {of: service.Selection{Most: 5}, want: 5, last: "r-00000004", most: 5, query: "ExecutionStatus = 'Running'"},
		"by labels":   {of: service.Selection{Most: 5, Labels: []string{"cpu"}}, want: 5, last: "r-00000009", most: 400},
		"by time":     {of: service.Selection{Since: time.Unix(1e9-9, 0)}, want: 10, last: "r-00000009", most: 2005, query: "StartTime >= '2001-09-09T01:46:31Z'"},
		"by statuses": {of: service.Selection{All: true, Most: 1, Statuses: []string{"parked", "failed"}}, want: 1, last: "r-00000000", most: 1, query: "ClaudeSuperviseStatus IN ('parked', 'failed')"},
		"queued":      {of: service.Selection{Most: 1, Statuses: []string{"queued"}}, want: 1, last: "r-00000000", most: 1, query: "IN ('queued') OR ClaudeSuperviseStatus IS NULL AND"},
		"all":         {of: service.Selection{}, want: 2000, last: "r-00001999", most: 2005},
		"a quote":     {of: service.Selection{Statuses: []string{"x' OR '"}}, refuse: true},
	} {
		p.read, p.queries = 0, nil
		runs, err := f.Selected(t.Context(), c.of)
		if c.refuse != (err != nil) || err == nil && (len(runs) != c.want || runs[len(runs)-1].ID != c.last) || p.read > c.most ||
			!strings.Contains(strings.Join(p.queries, ""), c.query) {
			t.Errorf("%s: %d runs, %d read by %q, %v", name, len(runs), p.read, p.queries, err)
		}
	}
	all, by, err := f.Count(t.Context(), service.Selection{})
	if err != nil || all == 0 || by["parked"] <= all || len(by) != len(counted) {
		t.Errorf("they are counted as %d, %v, %v", all, by, err)
	}
}

// A server reads each run once, however many there are, and passes over none of them to come to a page: ten times as many
// runs cost it ten times as much. Only where more than a page have begun in one moment does it take more.
func TestToListAllCostsAsMuchAsThereAre(t *testing.T) {
	for _, n := range []int{500, 5000} {
		p, f := manyRuns(t, n)
		runs, err := f.Runs(t.Context(), false, false)
		if least := (n + flow.MostListed - 1) / flow.MostListed; err != nil || len(runs) != n || p.passed > 0 ||
			p.read > n+least || len(p.queries) > least+1 {
			t.Errorf("of %d runs %d are listed: %d read, %d passed over, by %d requests: %v", n, len(runs), p.read, p.passed,
				len(p.queries), err)
		}
	}
	p, f := manyRuns(t, 3*flow.MostListed)
	for _, w := range p.all[10 : 10+2*flow.MostListed] {
		w.StartTime = p.all[10].StartTime
	}
	if runs, err := f.Runs(t.Context(), false, false); err != nil || len(runs) != 3*flow.MostListed {
		t.Errorf("%d of %d are listed: %v", len(runs), 3*flow.MostListed, err)
	}
}

// What has ended is listed after what goes on, and nothing is left out between them.
func TestWhatHasEndedIsListedAfterWhatGoesOn(t *testing.T) {
	p, f := manyRuns(t, flow.MostListed+100)
	ended := &pages{}
	p.all, ended.all = p.all[:flow.MostListed+10], p.all[flow.MostListed+10:]
	for i, w := range ended.all {
		w.Status, w.CloseTime = enums.WORKFLOW_EXECUTION_STATUS_COMPLETED, timestamppb.New(time.Unix(int64(2e9-i), 0))
		w.StartTime = timestamppb.New(time.Unix(3e9, 0)) // after all that go on
	}
	f.Client = both{p, ended}
	runs, err := f.Runs(t.Context(), true, false)
	if err != nil || len(runs) != flow.MostListed+100 || p.passed+ended.passed > 0 {
		t.Errorf("%d are listed: %v", len(runs), err)
	}
}

// both is a server with runs that go on and runs that have ended.
type both struct {
	*pages
	ended *pages
}

// ListWorkflow gives a page.
func (b both) ListWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (
	*workflowservice.ListWorkflowExecutionsResponse, error) {
	switch q := r.GetQuery(); {
	case strings.Contains(q, "ExecutionStatus = 'Running'"):
		return b.pages.ListWorkflow(ctx, r)
	case strings.Contains(q, "ExecutionStatus != 'Running'"):
		return b.ended.ListWorkflow(ctx, r)
	}
	all := &pages{all: slices.Concat(b.all, b.ended.all)}
	return all.ListWorkflow(ctx, r)
}

// Names are sealed, so that the lists are read for them; up to the first that has it, and for no id of anything.
func TestANameIsLookedForUpToTheRunThatHasIt(t *testing.T) {
	p, f := manyRuns(t, 2000)
	if r, err := f.Run(t.Context(), "name 7"); err != nil || r.ID != "r-00000007" || p.read > flow.MostListed {
		t.Errorf("it is %s, and %d were read: %v", r.ID, p.read, err)
	}
	p.read = 0
	for _, id := range []string{"q-abc234", "a-7Qm2xK9fWb4T", ""} {
		var none *NoRunError
		if _, err := f.Run(t.Context(), id); !errors.As(err, &none) || p.read > 0 {
			t.Errorf("%q: %d were read: %v", id, p.read, err)
		}
	}
	if _, err := f.Run(t.Context(), "no such name"); err == nil {
		t.Error("a name that no run has is found")
	}
}

// Whoever asks whose answer a question has, and what an id of a run asks, has no more read than that takes.
func TestAnIDHasNoMoreReadThanIsNeeded(t *testing.T) {
	p, f := manyRuns(t, 2000)
	memo, err := converter.WithDataConverterSerializationContext(f.Converter, converter.WorkflowSerializationContext{
		Namespace: "n", WorkflowID: "r-00000009"}).ToPayload(flow.Listed{RunInfo: flow.RunInfo{ID: "r-00000009"},
		Answered: []flow.Answer{{Question: "q-abc234", Text: "JWT"}}})
	if err != nil {
		t.Fatal(err)
	}
	p.all[9].Memo.Fields[flow.MemoRun] = memo
	if a, err := f.WhoseAnswer(t.Context(), "q-abc234"); err != nil || a == nil || a.Text != "JWT" || p.read > flow.MostListed {
		t.Errorf("it is %+v, and %d were read: %v", a, p.read, err)
	}
	if a, err := f.WhoseAnswer(t.Context(), "q-zzz234"); err != nil || a != nil {
		t.Errorf("of a question that nobody has answered it is %+v, %v", a, err)
	}
	p.all, p.read, p.queries = p.all[:0], 0, nil
	if open, err := f.QuestionsNamed(t.Context(), "q-abc234"); err != nil || len(open) > 0 || len(p.queries) != 1 {
		t.Errorf("%d are open, by %q: %v", len(open), p.queries, err)
	}
	p.queries = nil
	if open, err := f.QuestionsNamed(t.Context(), "r-00000009"); err != nil || len(open) > 0 || len(p.queries) > 0 {
		t.Errorf("%d are open, by %q: %v", len(open), p.queries, err)
	}
}

// DescribeWorkflowExecution knows none.
func (p *pages) DescribeWorkflowExecution(_ context.Context, run, _ string) (
	*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return nil, serviceerror.NewNotFound(run)
}
