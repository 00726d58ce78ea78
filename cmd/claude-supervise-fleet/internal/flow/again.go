package flow

import (
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"
)

// A run that has ended is begun again by a workflow of its own, whose id names the run and the last epoch: of several
// people who do so, the server takes one, and its epochs go on from there. So no epoch is had twice, whoever asks,
// however late.

// AgainID is the id of the workflow that begins a run again after an epoch.
func AgainID(run string, epoch int) string { return fmt.Sprintf("%s/after/%d", run, epoch) }

// Again begins a run again. It returns once the run's workflow is there.
func Again(ctx workflow.Context, in Input) error {
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: in.Task.Run, TaskQueue: BaseQueue,
		ParentClosePolicy: enums.PARENT_CLOSE_POLICY_ABANDON, WorkflowTaskTimeout: DecideWithin,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE})
	return workflow.ExecuteChildWorkflow(ctx, WorkflowName, in).GetChildWorkflowExecution().Get(ctx, nil)
}

// DecideWithin is how long a worker may take to have a workflow decide, before another is asked: one that stands still
// is given a few such tasks by the server, one after the other.
const DecideWithin = 3 * time.Second

// DecidesWithin is how long a workflow may take to decide. They do nothing else: one that takes long is on a machine
// that is busy, or stood still.
const DecidesWithin = time.Minute
