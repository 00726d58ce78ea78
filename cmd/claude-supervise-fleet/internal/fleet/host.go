package fleet

import (
	"sync"
	"time"

	"go.temporal.io/sdk/workflow"

	sdkworker "go.temporal.io/sdk/worker"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
)

// What is said to a run is taken by the run's workflow, and that is decided about by workers. Where none is up, or
// those that are stand still, whoever says it decides here, with the fleet's key, until it is taken: an answer is kept,
// and a run that nobody has is stopped. No run is had here: that takes a worker. It is only for the moment, for a
// laptop that always asked for decisions would keep runs from them whenever it sleeps.

const (
	// hostAfter is how long nobody may have taken what was said, before it is decided about here.
	hostAfter = time.Second
	// leavesWithin is how long a host may take to let go of what it was about to decide.
	leavesWithin = 2 * time.Second
)

// withoutCache keeps the SDK from having the server send what comes for a workflow here first, where soon nobody is.
var withoutCache = sync.OnceFunc(func() { sdkworker.SetStickyWorkflowCacheSize(0) })

// decides has this process decide about runs from hostAfter on, until done is called.
func (f Fleet) decides() (done func()) {
	if f.Hosts == nil {
		return func() {}
	}
	over, left := make(chan struct{}), make(chan struct{})
	go func() { // waited for by done, within bounds: a server that does not answer may hold it
		defer close(left)
		wait := time.NewTimer(hostAfter)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-over:
			return
		}
		stop, err := f.Hosts()
		if err != nil {
			return // whoever has said something says what is wrong
		}
		<-over
		stop()
	}()
	return func() {
		close(over)
		bound := time.NewTimer(leavesWithin)
		defer bound.Stop()
		select {
		case <-left:
		case <-bound.C:
		}
	}
}

// Host decides about the runs of the fleet until stop is called, as its workers do. Of a process that hosts, no
// goroutine may be a worker.
func (f Fleet) Host() (stop func(), err error) {
	withoutCache()
	w := sdkworker.New(f.Client, flow.BaseQueue, sdkworker.Options{LocalActivityWorkerOnly: true,
		DeadlockDetectionTimeout: flow.DecidesWithin, OnFatalError: func(error) {}})
	Decide(w, flow.Deciding{}) // what it leaves out is said by the next worker
	return w.Stop, w.Start()
}

// Decide has a worker decide about runs.
func Decide(w sdkworker.WorkflowRegistry, d flow.Deciding) {
	w.RegisterWorkflowWithOptions(d.Run, workflow.RegisterOptions{Name: flow.WorkflowName})
	w.RegisterWorkflowWithOptions(flow.Again, workflow.RegisterOptions{Name: flow.AgainName})
}
