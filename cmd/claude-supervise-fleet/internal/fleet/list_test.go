package fleet

import (
	"context"
	"path/filepath"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
)

// lister is a server that lists these.
type lister struct {
	sdk.Client
	all []*workflowpb.WorkflowExecutionInfo
}

// ListWorkflow lists them.
func (l lister) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (
	*workflowservice.ListWorkflowExecutionsResponse, error) {
	return &workflowservice.ListWorkflowExecutionsResponse{Executions: l.all}, nil
}

// Whoever reaches the server can put anything into its lists. What was not sealed for its place in them is said to be
// so, keeps nobody from the rest, and is no sign of a wrong key beside what opens.
func TestWhatOthersPutIntoTheListsKeepsNobodyFromThem(t *testing.T) {
	key := func() *seal.Key {
		k, err := seal.MakeKey(filepath.Join(t.TempDir(), "fleet.key"))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	own, other := key(), key()
	entry := func(id string, k *seal.Key, of string) *workflowpb.WorkflowExecutionInfo {
		memo, err := converter.WithDataConverterSerializationContext(k.Converter(), converter.WorkflowSerializationContext{
			Namespace: "n", WorkflowID: of}).ToPayload(flow.Listed{RunInfo: flow.RunInfo{ID: of, Status: "running"}})
		if err != nil {
			t.Fatal(err)
		}
		return &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: id},
			Status: enums.WORKFLOW_EXECUTION_STATUS_RUNNING,
			Memo:   &commonpb.Memo{Fields: map[string]*commonpb.Payload{flow.MemoRun: memo}}}
	}
	all := []*workflowpb.WorkflowExecutionInfo{entry("r-forged00", other, "r-forged00"), entry("r-copied00", own, "r-running0"),
		entry("\x1b]0;x", other, "r-forged00"), entry("r-running0", own, "r-running0")}
	f := Fleet{Client: lister{all: all}, Namespace: "n", Converter: own.Converter()}
	runs, err := f.Runs(t.Context(), true, false)
	if err != nil || len(runs) != 3 || runs[0].ID != "r-running0" || runs[0].ExitCode != nil {
		t.Fatalf("listed are %+v, %v", runs, err)
	}
	for i, id := range []string{"r-forged00", "r-copied00"} {
		if l := runs[i+1]; l.ID != id || l.ExitCode == nil || l.Status != "failed" || l.Worker != "" {
			t.Errorf("%s is listed as %+v", id, l)
		}
	}
	if err := f.KeyOpens(t.Context()); err != nil {
		t.Errorf("with the key: %v", err)
	}
	f.Converter = key().Converter()
	if err := f.KeyOpens(t.Context()); err == nil {
		t.Error("a key that opens nothing is taken")
	}
	if _, err := f.Runs(t.Context(), true, false); err == nil {
		t.Error("a key that opens nothing lists")
	}
}
