package flow

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// A server ends a workflow whose history is too long (50 MiB or 51,200 events), and suggests long before that that the
// workflow continue in a new one. It cannot while a worker has the run: the worker's activity would belong to nobody.
// So the worker is asked to give the run back, as it does when it leaves: when the turns of the agents have ended. The
// next epoch begins in the new history.

// changeRenewal marks in histories that the workflow does so.
const changeRenewal = "renewal"

// long reports whether the workflow is to go on in a new history.
func (r *run) long(ctx workflow.Context) bool {
	return workflow.GetInfo(ctx).GetContinueAsNewSuggested() &&
		workflow.GetVersion(ctx, changeRenewal, workflow.DefaultVersion, 1) != workflow.DefaultVersion
}

// renews has the worker that has the run give it back, once the history is long.
func (r *run) renews(ctx workflow.Context) {
	if r.renewing || !r.long(ctx) {
		return
	}
	r.renewing = true
	epoch, queue := r.Epoch, r.Seen.Queue
	workflow.Go(ctx, func(ctx workflow.Context) {
		sent, cancel := workflow.WithCancel(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			TaskQueue: queue, StartToCloseTimeout: 20 * time.Second, ScheduleToCloseTimeout: tooLong,
			RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
		}))
		defer cancel()
		asking := workflow.ExecuteActivity(sent, GiveBack, GivingBack{Run: r.Task.Run, Epoch: epoch})
		err := workflow.Await(ctx, func() bool { return asking.IsReady() || !r.held || r.Epoch != epoch })
		if err != nil {
			r.log.Warn("the worker was not asked to give the run back", "error", err)
		}
	})
}

// anew gives the error that has the workflow go on in a new history. Answers that are on their way are settled first.
func (r *run) anew(ctx workflow.Context) error {
	r.renewing = true // nobody waits in this one any more
	if err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) }); err != nil {
		return err
	}
	r.Parked = false
	r.showsNow(ctx)
	return workflow.NewContinueAsNewError(ctx, WorkflowName, r.Input)
}
