package flow

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/exit"
)

// A stage is a server without a server, and workers that do what a test says.
type stage struct {
	*testsuite.TestWorkflowEnvironment
	t        *testing.T
	attempts []Attempt
	given    []Answer
	key      *seal.Key
}

// values converts what is of a workflow.
func (s *stage) values(workflow string) converter.DataConverter {
	return converter.WithDataConverterSerializationContext(s.key.Converter(), converter.WorkflowSerializationContext{
		Namespace: "default-test-namespace", WorkflowID: workflow})
}

func onStage(t *testing.T, supervises func(context.Context, Attempt) (Outcome, error)) *stage {
	var suite testsuite.WorkflowTestSuite
	s := &stage{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t}
	key, err := seal.MakeKey(filepath.Join(t.TempDir(), "fleet.key"))
	if err != nil {
		t.Fatal(err)
	}
	s.key = key
	s.SetDataConverter(key.Converter())
	s.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: id})
	s.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // the machine may be busy
	s.RegisterWorkflowWithOptions(Run, workflow.RegisterOptions{Name: WorkflowName})
	s.RegisterActivityWithOptions(func(ctx context.Context, a Attempt) (Outcome, error) {
		s.attempts = append(s.attempts, a)
		return supervises(ctx, a)
	}, activity.RegisterOptions{Name: Supervise})
	s.RegisterActivityWithOptions(func(_ context.Context, d Delivery) error {
		s.given = append(s.given, d.Answer)
		return nil
	}, activity.RegisterOptions{Name: Deliver})
	s.RegisterActivityWithOptions(func(context.Context, Stopping) error { return nil },
		activity.RegisterOptions{Name: Halt})
	return s
}

const id = "r-abcd1234"

func (s *stage) plays() Listed {
	s.t.Helper()
	s.ExecuteWorkflow(WorkflowName, Input{Task: Task{Run: id, Prompt: "do it", Lease: time.Minute}})
	if !s.IsWorkflowCompleted() {
		s.t.Fatal("it does not end")
	}
	var l Listed
	if err := s.GetWorkflowResult(&l); err != nil {
		s.t.Fatal(err)
	}
	return l
}

// answers returns an answer after a while, and what became of it.
func (s *stage) answers(after time.Duration, question, text, by string) *error {
	became := new(error)
	s.RegisterDelayedCallback(func() {
		s.UpdateWorkflow(UpdateAnswer, by+question, whatBecame(became), Answer{Mark: seal.Mark{ID: by + question},
			Question: question, Text: text, By: by})
	}, after)
	return became
}

// stops stops the run after a while, and returns what became of that.
func (s *stage) stops(after time.Duration, said Stop) *error {
	became := new(error)
	s.RegisterDelayedCallback(func() { s.UpdateWorkflow(UpdateStop, "by ann", whatBecame(became), said) }, after)
	return became
}

// execution is what the test environment calls that of a workflow.
const execution = "default-test-run-id"

var stop = Stop{By: "ann", Mark: seal.Mark{ID: "by ann", Execution: execution}}

func whatBecame(became *error) *testsuite.TestUpdateCallback {
	return &testsuite.TestUpdateCallback{OnAccept: func() {}, OnReject: func(err error) { *became = err },
		OnComplete: func(_ any, err error) { *became = err }}
}

func seen(epoch int, status supervisor.Status, questions ...string) Seen {
	s := Seen{Epoch: epoch, Worker: "one", Queue: "q", Run: &RunInfo{ID: id, Status: status}}
	for _, q := range questions {
		s.Questions = append(s.Questions, QuestionInfo{ID: q, Run: id})
	}
	return s
}

func parked(epoch int, questions ...string) (Outcome, error) {
	return Outcome{Seen: seen(epoch, "parked", questions...), Code: exit.Parked}, nil
}

func succeeded(epoch int) (Outcome, error) {
	return Outcome{Seen: seen(epoch, "succeeded"), Code: exit.Success}, nil
}

func isKind(err error, kind string) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.Type() == kind
}

func TestARunThatAWorkerHadNoRoomForIsNotBegun(t *testing.T) {
	turned := false
	s := onStage(t, func(_ context.Context, a Attempt) (Outcome, error) {
		if a.Epoch != 1 {
			t.Errorf("it has epoch %d", a.Epoch)
		}
		if !turned {
			turned = true
			return Outcome{Full: true, Seen: Seen{Epoch: 1}}, nil
		}
		return succeeded(a.Epoch)
	})
	if l := s.plays(); !turned || l.Status != "succeeded" {
		t.Errorf("it ends as %+v", l)
	}
}

func TestAParkedRunGoesOnWithTheFirstAnswer(t *testing.T) {
	s := onStage(t, func(_ context.Context, a Attempt) (Outcome, error) {
		if a.Epoch == 1 {
			return parked(1, "q-1")
		}
		return succeeded(a.Epoch)
	})
	other := s.answers(time.Hour-time.Second, "q-2", "no", "eve")
	first := s.answers(time.Hour, "q-1", "yes", "ann")
	second := s.answers(time.Hour, "q-1", "no", "bob")
	l := s.plays()
	if l.ExitCode == nil || *l.ExitCode != 0 || l.Status != "succeeded" {
		t.Errorf("it ends as %+v", l)
	}
	if *first != nil || !isKind(*second, ErrTaken) || !isKind(*other, ErrNoQuestion) {
		t.Errorf("the first is told %v, the second %v, an answer to nothing %v", *first, *second, *other)
	}
	if len(s.attempts) != 2 || len(s.attempts[1].Answers) != 1 || s.attempts[1].Answers[0].Text != "yes" {
		t.Errorf("the attempts are %+v", s.attempts)
	}
}

// What an attempt begins with is one payload. An answer that does not fit is not kept, and the question stays open.
func TestAnAnswerForWhichThereIsNoRoomIsRefused(t *testing.T) {
	s := onStage(t, func(_ context.Context, a Attempt) (Outcome, error) {
		if a.Epoch == 1 {
			return parked(1, "q-1")
		}
		return succeeded(a.Epoch)
	})
	large := s.answers(time.Hour, "q-1", strings.Repeat("x", mostAnswered), "ann")
	s.answers(2*time.Hour, "q-1", "short", "bob")
	s.plays()
	if !isKind(*large, ErrRefused) || !strings.Contains((*large).Error(), "a fleet takes 1572864") {
		t.Errorf("it gets %v", *large)
	}
	if len(s.attempts) != 2 || len(s.attempts[1].Answers) != 1 || s.attempts[1].Answers[0].Text != "short" {
		t.Errorf("the attempts are %d", len(s.attempts))
	}
}

func TestAHeldQuestionIsAnsweredOnItsWorkerAndNobodyElse(t *testing.T) {
	s := onStage(t, func(_ context.Context, a Attempt) (Outcome, error) { return succeeded(a.Epoch) })
	s.OnActivity(Supervise, mock.Anything, mock.Anything).Return(func(_ context.Context, a Attempt) (Outcome, error) {
		s.attempts = append(s.attempts, a)
		return succeeded(a.Epoch)
	}).After(time.Hour)
	s.RegisterDelayedCallback(func() { s.SignalWorkflow(SignalSeen, seen(7, "waiting", "q-9")) }, time.Second)
	s.RegisterDelayedCallback(func() { s.SignalWorkflow(SignalSeen, seen(1, "waiting", "q-1")) }, 2*time.Second)
	stale := s.answers(3*time.Second, "q-9", "yes", "eve")
	good := s.answers(4*time.Second, "q-1", "yes", "ann")
	s.plays()
	if !isKind(*stale, ErrNoQuestion) || *good != nil {
		t.Errorf("the question of another epoch: %v; the other: %v", *stale, *good)
	}
	if len(s.given) != 1 || s.given[0].Question != "q-1" {
		t.Errorf("given: %+v", s.given)
	}
}

func TestARunWhoseWorkerIsLostGoesOnWithAllAnswers(t *testing.T) {
	s := onStage(t, func(_ context.Context, a Attempt) (Outcome, error) {
		switch a.Epoch {
		case 1:
			return parked(1, "q-1")
		case 2:
			return Outcome{}, temporal.NewTimeoutError(enums.TIMEOUT_TYPE_HEARTBEAT, nil)
		}
		return succeeded(a.Epoch)
	})
	s.answers(time.Hour, "q-1", "yes", "ann")
	l := s.plays()
	if len(s.attempts) != 3 || len(s.attempts[2].Answers) != 1 {
		t.Fatalf("the attempts are %+v", s.attempts)
	}
	if !slices.ContainsFunc(l.Notes, func(n string) bool { return len(n) > 0 }) {
		t.Error("nobody is told")
	}
}

func TestARunThatNoWorkerCanHaveIsTriedAgainUnlessForGood(t *testing.T) {
	s := onStage(t, func(_ context.Context, a Attempt) (Outcome, error) {
		if a.Epoch < 4 {
			return Outcome{}, errors.New("the disk is full")
		}
		return Outcome{}, temporal.NewNonRetryableApplicationError("no such commit", ErrNever, nil)
	})
	l := s.plays()
	if len(s.attempts) != 4 || *l.ExitCode != exit.Failed || l.Reason != "no such commit" {
		t.Errorf("after %d attempts it is %+v", len(s.attempts), l)
	}
}

// A run that goes on elsewhere because its worker could not go on with it, as on a full disk, says so also once it does.
func TestARunThatItsWorkerCouldNotGoOnWithSaysSo(t *testing.T) {
	s := onStage(t, func(_ context.Context, a Attempt) (Outcome, error) { return succeeded(a.Epoch) })
	s.OnActivity(Supervise, mock.Anything, mock.Anything).After(time.Minute).Return(
		func(_ context.Context, a Attempt) (Outcome, error) {
			if a.Epoch == 1 {
				return Outcome{}, errors.New("no space left on device")
			}
			return succeeded(a.Epoch)
		})
	s.RegisterDelayedCallback(func() { s.SignalWorkflow(SignalSeen, seen(1, "running")) }, time.Second)
	l := s.plays()
	if l.Code() != exit.Success || !slices.ContainsFunc(l.Notes, func(n string) bool {
		return strings.Contains(n, "could not go on with it: no space left on device")
	}) {
		t.Errorf("it ends as %+v", l)
	}
}

func TestARunThatIsGivenBackIsTakenAtOnce(t *testing.T) {
	s := onStage(t, func(_ context.Context, a Attempt) (Outcome, error) {
		if a.Epoch == 1 {
			return Outcome{Seen: seen(1, "interrupted"), Code: exit.Interrupted, Back: true}, nil
		}
		return succeeded(a.Epoch)
	})
	if s.plays(); len(s.attempts) != 2 {
		t.Errorf("the attempts are %+v", s.attempts)
	}
}

func TestAParkedRunIsStoppedWithoutAWorker(t *testing.T) {
	s := onStage(t, func(_ context.Context, _ Attempt) (Outcome, error) { return parked(1, "q-1") })
	stopped := s.stops(time.Hour, stop)
	l := s.plays()
	if *stopped != nil {
		t.Error(*stopped)
	}
	if *l.ExitCode != exit.Stopped || l.Status != "stopped" || len(s.attempts) != 1 || len(l.OpenQuestions) != 0 {
		t.Errorf("it is %+v after %d attempts", l, len(s.attempts))
	}
}

func TestWhoWaitsIsToldOfAPark(t *testing.T) {
	s := onStage(t, func(_ context.Context, a Attempt) (Outcome, error) {
		if a.Epoch == 1 {
			return parked(1, "q-1")
		}
		return succeeded(a.Epoch)
	})
	var told Listed
	s.RegisterDelayedCallback(func() {
		s.UpdateWorkflow(UpdateWait, "", &testsuite.TestUpdateCallback{
			OnAccept: func() {}, OnReject: func(err error) { t.Error(err) },
			OnComplete: func(l any, _ error) { told = l.(Listed) }})
	}, 0)
	s.answers(time.Hour, "q-1", "yes", "ann")
	if s.plays(); told.Status != "parked" || len(told.OpenQuestions) != 1 {
		t.Errorf("told: %+v", told)
	}
}

// A history that gets long begins anew: the worker gives the run back, and the run is asked for its answer in the new one.
// A run over its budget is parked with a question as any other, and its supervisor has said more: who waits is told
// that for as long as it is parked.
func TestAParkedRunSaysWhatItsSupervisorHasLeftItWith(t *testing.T) {
	for name, c := range map[string]struct{ left, code int }{
		"over its budget":                  {exit.Budget, exit.Budget},
		"parked":                           {exit.Parked, exit.Parked},
		"by a worker that does not say it": {0, exit.Parked},
	} {
		t.Run(name, func(t *testing.T) {
			s := onStage(t, func(_ context.Context, a Attempt) (Outcome, error) {
				if a.Epoch == 2 {
					return succeeded(2)
				}
				out, err := parked(1, "q-1")
				out.Seen.Run.Status, out.Seen.Left = "over_budget", c.left
				return out, err
			})
			var l Listed
			s.RegisterDelayedCallback(func() {
				v, err := s.QueryWorkflow(QueryRun)
				if err == nil {
					err = v.Get(&l)
				}
				if err != nil {
					t.Error(err)
				}
			}, time.Hour)
			s.answers(2*time.Hour, "q-1", "raise 5", "ann")
			if end := s.plays(); end.Code() != exit.Success || end.Left != 0 {
				t.Errorf("it ends as %+v", end)
			}
			if !l.Parked() || l.Code() != c.code {
				t.Errorf("it is parked: %v, with %d", l.Parked(), l.Code())
			}
		})
	}
}

func TestALongHistoryBeginsAnew(t *testing.T) {
	for _, asked := range []bool{true, false} { // false: no worker could have the run, for as long as that takes
		askedOf := 0
		var s *stage
		s = onStage(t, func(context.Context, Attempt) (Outcome, error) {
			s.SetContinueAsNewSuggested(true)
			return Outcome{}, errors.New("no disk")
		})
		s.RegisterActivityWithOptions(func(_ context.Context, g GivingBack) error {
			if g.Run != id || g.Epoch != 1 {
				t.Errorf("the worker is asked for %+v", g)
			}
			askedOf++
			return nil
		}, activity.RegisterOptions{Name: GiveBack})
		if asked {
			s.OnActivity(Supervise, mock.Anything, mock.Anything).After(time.Minute).Return(
				Outcome{Seen: seen(1, "parked", "q-1"), Back: true}, nil)
			s.RegisterDelayedCallback(func() { s.SignalWorkflow(SignalSeen, seen(1, "waiting", "q-1")) }, time.Second)
			s.RegisterDelayedCallback(func() {
				s.SetContinueAsNewSuggested(true)
				s.SignalWorkflow(SignalSeen, seen(1, "running", "q-1"))
				s.SignalWorkflow(SignalSeen, seen(1, "waiting", "q-1"))
			}, 2*time.Second)
		}
		answered := s.answers(3*time.Second, "q-1", "JWT", "me")
		s.ExecuteWorkflow(WorkflowName, Input{Task: Task{Run: id, Prompt: "do it", Lease: time.Minute}})
		var anew *workflow.ContinueAsNewError
		if err := s.GetWorkflowError(); !errors.As(err, &anew) {
			t.Fatalf("it ends: %v", err)
		}
		var in Input
		if err := s.values(id).FromPayloads(anew.Input, &in); err != nil {
			t.Fatal(err)
		}
		if in.Epoch != 1 || in.Parked || in.Task.Prompt != "do it" {
			t.Errorf("it goes on with %+v", in)
		}
		if asked && (askedOf != 1 || *answered != nil || len(in.Answers) != 1 || len(in.Seen.Questions) != 1) {
			t.Errorf("the worker was asked %d times; %v; %+v", askedOf, *answered, in)
		}
	}
}

// An answer can come after an attempt was made, and before its worker is heard: the worker is given it once it is.
func TestAnAnswerThatComesWhileAnAttemptWaitsForItsWorkerIsGivenToThat(t *testing.T) {
	s := onStage(t, nil)
	s.OnActivity(Supervise, mock.Anything, mock.Anything).After(time.Hour).Return(
		func(_ context.Context, a Attempt) (Outcome, error) {
			s.attempts = append(s.attempts, a)
			if a.Epoch == 1 {
				return Outcome{Seen: seen(1, "waiting", "q-1"), Back: true}, nil
			}
			return succeeded(a.Epoch)
		})
	answered := s.answers(time.Hour+time.Minute, "q-1", "yes", "ann") // epoch 2 is in its queue
	s.RegisterDelayedCallback(func() { s.SignalWorkflow(SignalSeen, seen(2, "waiting", "q-1")) }, time.Hour+2*time.Minute)
	s.plays()
	if *answered != nil || len(s.given) != 1 || s.given[0].Text != "yes" {
		t.Errorf("it is %v; given is %+v; the attempts are %+v", *answered, s.given, s.attempts)
	}
}
