package flow

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"claude-supervise/supervisor/exit"
)

func TestARunThatIsBegunAgainTakesTheNextEpochAndHasNotEnded(t *testing.T) {
	s := onStage(t, func(_ context.Context, a Attempt) (Outcome, error) { return succeeded(a.Epoch) })
	before := seen(4, "failed", "q-1")
	at, code := time.Now(), exit.Failed
	before.Run.EndedAt, before.Run.ExitCode = &at, &code
	var waiting Listed
	s.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) {
		value, err := s.QueryWorkflow(QueryRun)
		if err == nil {
			err = value.Get(&waiting)
		}
		if err != nil {
			t.Error(err)
		}
	})
	s.ExecuteWorkflow(WorkflowName, Input{Task: Task{Run: id, Prompt: "do it", Lease: time.Minute}, Epoch: 4,
		Retry: true, Seen: before, Answers: []Answer{{Question: "q-1", Text: "yes"}}})
	if err := s.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if len(s.attempts) != 1 || s.attempts[0].Epoch != 5 || !s.attempts[0].Retry || s.attempts[0].Revive != 4 || len(s.attempts[0].Answers) != 1 {
		t.Errorf("the attempts are %+v", s.attempts)
	}
	if waiting.ExitCode != nil || waiting.EndedAt != nil || waiting.Status != StatusQueued {
		t.Errorf("meanwhile it is %+v", waiting.RunInfo)
	}
}

func TestWhoeverBeginsARunAgainHandsItToItsOwnWorkflow(t *testing.T) {
	s := onStage(t, nil)
	s.RegisterWorkflowWithOptions(Again, workflow.RegisterOptions{Name: AgainName})
	var begun Input
	var own string
	s.OnWorkflow(WorkflowName, mock.Anything, mock.Anything).Return(func(ctx workflow.Context, in Input) (Listed, error) {
		own, begun = workflow.GetInfo(ctx).WorkflowExecution.ID, in
		return Listed{}, nil
	})
	s.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: AgainID(id, 4)})
	s.ExecuteWorkflow(AgainName, Input{Task: Task{Run: id}, Epoch: 4, Retry: true})
	if err := s.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if own != id || begun.Epoch != 4 || !begun.Retry {
		t.Errorf("%s is begun with %+v", own, begun)
	}
}

func TestWhatWaitsToBeTriedAgainIsTriedNow(t *testing.T) {
	begun := map[int]time.Time{}
	var s *stage
	s = onStage(t, func(_ context.Context, a Attempt) (Outcome, error) {
		begun[a.Epoch] = s.Now()
		if a.Epoch < 9 {
			return Outcome{}, context.DeadlineExceeded // for now
		}
		return succeeded(a.Epoch)
	})
	s.RegisterDelayedCallback(func() { s.SignalWorkflow(SignalNow, Now{By: "ann"}) }, 300*time.Second)
	s.plays()
	if len(begun) != 9 {
		t.Fatalf("it is tried %d times", len(begun))
	}
	signalled := begun[1].Add(300 * time.Second)
	at := 0
	for epoch, when := range begun {
		if when.Equal(signalled) {
			at = epoch
		}
	}
	if at == 0 {
		t.Errorf("it is tried at %v, and not at %v", begun, signalled)
	}
}
