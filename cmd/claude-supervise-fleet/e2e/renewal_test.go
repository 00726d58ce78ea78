package e2e

import (
	"strings"
	"sync"
	"testing"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
)

// A server ends a workflow whose history is too long. Long before that the worker gives the run back, and a new history
// begins: the question that was open is open, and is answered once.
func TestARunGoesOnInANewHistory(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker("one")
	run := s.asking("--lease", "10m")
	q := s.asks(run, "one")
	f := s.fleet()
	seen := s.lastSeen(run)
	seen.Questions[0].Context = strings.Repeat("so much is seen of it ", 5000)
	before, err := f.Client.DescribeWorkflowExecution(t.Context(), run, "")
	if err != nil {
		t.Fatal(err)
	}
	first := before.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	for range 60 { // of 100 KiB: a server suggests a new history from 4 MiB on
		if err := f.Client.SignalWorkflow(t.Context(), run, first, flow.SignalSeen, seen); err != nil {
			break // it has begun
		}
	}
	s.until(run, "in its second epoch", func(l listed) bool {
		return l.Epoch == 2 && len(l.Questions) == 1 && l.Questions[0].ID == q
	})
	after, err := f.Client.DescribeWorkflowExecution(t.Context(), run, "")
	if err != nil || after.GetWorkflowExecutionInfo().GetExecution().GetRunId() == first {
		t.Errorf("it goes on in its history: %v", err)
	}
	s.must("answer", q, "JWT")
	s.succeeds(run)
	nothingIsLeft(t, run)
}

// lastSeen returns what the workflow of a run was told last by its worker.
func (s *site) lastSeen(run string) (seen flow.Seen) {
	s.t.Helper()
	f := s.fleet()
	for events := f.Client.GetWorkflowHistory(s.t.Context(), run, "", false,
		enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		event, err := events.Next()
		if err != nil {
			s.t.Fatal(err)
		}
		told := event.GetWorkflowExecutionSignaledEventAttributes()
		if told.GetSignalName() != flow.SignalSeen {
			continue
		}
		seen = flow.Seen{}
		if err := converter.WithDataConverterSerializationContext(f.Converter, converter.WorkflowSerializationContext{
			Namespace: f.Namespace, WorkflowID: run}).FromPayloads(told.GetInput(), &seen); err != nil {
			s.t.Fatal(err)
		}
	}
	return seen
}

// A server lets a workflow be told ten things at a time: those who wait for a run take nothing away from an answer.
func TestAnAnswerIsTakenHoweverManyWait(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker("one")
	run := s.asking()
	q := s.asks(run, "one")
	var all sync.WaitGroup
	for range 15 {
		all.Go(func() {
			if code, _, said, err := s.runs("wait", run, "--timeout", patience.String()); err != nil || code != 0 {
				t.Errorf("who waits is told %d: %v: %s", code, err, said)
			}
		})
	}
	s.must("answer", q, "JWT")
	all.Wait()
}
