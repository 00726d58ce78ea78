package commands

import (
	"context"
	"math"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/internal/runs"
)

// queued is a server on which every run is still to begin. Nothing else can be asked of it.
type queued struct{ sdk.Client }

// DescribeWorkflowExecution describes it.
func (queued) DescribeWorkflowExecution(_ context.Context, id, _ string) (
	*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: id}}}, nil
}

// GetWorkflow gives a run whose end is not told.
func (queued) GetWorkflow(context.Context, string, string) sdk.WorkflowRun { return untold{} }

type untold struct{ sdk.WorkflowRun }

// Get waits.
func (untold) Get(ctx context.Context, _ any) error { <-ctx.Done(); return ctx.Err() }

// An agent that waited for its own run would wait for itself. It may look, and wait for others.
func TestAnAgentDoesNotWaitForItsOwnRun(t *testing.T) {
	t.Setenv("CLAUDE_SUPERVISE_RUN", "r-aaaaaaaa")
	t.Setenv("CLAUDE_SUPERVISE_AGENT", "a-7Qm2xK9fWb4T")
	t.Setenv("CLAUDE_SUPERVISE_LAUNCH", "1")
	f := connected{Fleet: fleet.Fleet{Client: queued{}}}
	err := waitFor(t.Context(), f, []string{"r-bbbbbbbb", "r-aaaaaaaa"}, runs.Waiting{Program: fleetProgram, Limit: math.MaxInt64})
	if err == nil || !strings.Contains(err.Error(), "inside agent a-7Qm2xK9fWb4T for its own run r-aaaaaaaa: neither would end") {
		t.Errorf("it is told: %v", err)
	}
	if err := waitFor(t.Context(), f, []string{"r-aaaaaaaa"}, runs.Waiting{Program: fleetProgram}); err != nil &&
		strings.Contains(err.Error(), "refused") {
		t.Errorf("it may not look: %v", err)
	}
}
