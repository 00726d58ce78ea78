package fleet

import (
	"errors"
	"testing"

	failures "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/temporal"
)

// What the loser of several who begin a run again gets from the server is known for what it is.
func TestARunThatIsUnderWayIsKnownByWhatTheServerSays(t *testing.T) {
	wire := temporal.GetDefaultFailureConverter()
	child := func(cause error) *failures.Failure {
		return &failures.Failure{Cause: wire.ErrorToFailure(cause), FailureInfo: &failures.
			Failure_ChildWorkflowExecutionFailureInfo{ChildWorkflowExecutionFailureInfo: &failures.
			ChildWorkflowExecutionFailureInfo{}}}
	}
	if err := wire.FailureToError(child(&temporal.ChildWorkflowExecutionAlreadyStartedError{})); !underWay(err) {
		t.Errorf("it is %v", err)
	}
	if err := wire.FailureToError(child(errors.New("child workflow execution already started"))); underWay(err) {
		t.Error("any failure is taken for it")
	}
}
