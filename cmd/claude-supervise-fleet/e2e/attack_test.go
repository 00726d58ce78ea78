package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	updatepb "go.temporal.io/api/update/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
)

// An attacker reaches the server, reads what it keeps, and has no key: nothing but what is sealed can be said, again.
type attacker struct {
	*site
	sdk.Client
	at server
}

func (s *site) attacked() attacker {
	s.t.Helper()
	c, err := s.dials(sdk.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return attacker{s, c, s.server()}
}

// begins begins a workflow with a sealed input.
func (a attacker) begins(run string, input *commonpb.Payloads) {
	a.t.Helper()
	_, err := a.WorkflowService().StartWorkflowExecution(a.t.Context(), &workflowservice.StartWorkflowExecutionRequest{
		Namespace: a.at.Namespace, WorkflowId: run, WorkflowType: &commonpb.WorkflowType{Name: flow.WorkflowName},
		TaskQueue: &taskqueuepb.TaskQueue{Name: flow.BaseQueue}, Input: input, RequestId: run + "/again",
		WorkflowIdReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE})
	if err != nil {
		a.t.Fatal(err)
	}
}

// says says something sealed to a run, and returns what it is told.
func (a attacker) says(run, update, id string, input *commonpb.Payloads) string {
	a.t.Helper()
	got, err := a.WorkflowService().UpdateWorkflowExecution(a.t.Context(), &workflowservice.UpdateWorkflowExecutionRequest{
		Namespace: a.at.Namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: run},
		Request: &updatepb.Request{Meta: &updatepb.Meta{UpdateId: id}, Input: &updatepb.Input{Name: update, Args: input}},
		WaitPolicy: &updatepb.WaitPolicy{
			LifecycleStage: enums.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED}})
	if err != nil {
		return err.Error()
	}
	key, err := seal.ReadKey(a.at.Key)
	if err != nil {
		a.t.Fatal(err)
	}
	errors := converter.WithFailureConverterSerializationContext(key.FailureConverter(),
		converter.WorkflowSerializationContext{Namespace: a.at.Namespace, WorkflowID: run})
	return fmt.Sprint(errors.FailureToError(got.GetOutcome().GetFailure()))
}

// input is what a run was begun with.
func (a attacker) input(run string) *commonpb.Payloads {
	a.t.Helper()
	return a.history(run).Events[0].GetWorkflowExecutionStartedEventAttributes().GetInput()
}

// said is the update that stopped a run.
func (a attacker) said(run string) (id string, input *commonpb.Payloads) {
	a.t.Helper()
	for _, e := range a.history(run).Events {
		if r := e.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest(); r != nil &&
			r.GetInput().GetName() == flow.UpdateStop {
			return r.GetMeta().GetUpdateId(), r.GetInput().GetArgs()
		}
	}
	a.t.Fatalf("%s was never stopped", run)
	return "", nil
}

// sealedFor seals a value as somebody with the key does.
func (a attacker) sealedFor(run string, value any) *commonpb.Payloads {
	a.t.Helper()
	key, err := seal.ReadKey(a.at.Key)
	if err != nil {
		a.t.Fatal(err)
	}
	sealed, err := converter.WithDataConverterSerializationContext(key.Converter(), converter.WorkflowSerializationContext{
		Namespace: a.at.Namespace, WorkflowID: run}).ToPayloads(value)
	if err != nil {
		a.t.Fatal(err)
	}
	return sealed
}

// Who reaches the server and has no key can have nothing done by what others have said. The controls are the same calls
// with what somebody with the key has sealed for this.
func TestWithoutTheKeyNothingIsDone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker("one", "--capacity", "4")
	a := s.attacked()
	first, second := s.must("run", "--demo", "ask", "--hold", "0"), s.asking()
	asked := s.asks(second, "one")
	s.until(first, "parked", listed.parked)
	s.must("stop", first)
	s.ends(first, 5)
	id, stop := a.said(first)

	// The stop of one run for another, and in an update of its own name.
	for _, name := range []string{id, "another"} {
		if told := a.says(second, flow.UpdateStop, name, stop); !strings.Contains(told, "it was sealed for") {
			t.Errorf("the stop of another run is told %s", told)
		}
	}

	// The input of one run under another id, and the control: that of a task that was handed in for that id.
	const stranger, control = "r-stranger", "r-control1"
	a.begins(stranger, a.input(first))
	a.begins(control, a.sealedFor(control, flow.Input{Task: flow.Task{Run: control, Flags: []string{"--demo=ask",
		"--hold=forever"}, Lease: time.Minute, HandedIn: time.Now()}}))
	s.until(control, "asking", func(l listed) bool { return len(l.Questions) == 1 })
	s.ends(stranger, 1)
	if begun, err := filepath.Glob(filepath.Join(s.dev, "snapshots", "runs", stranger+"*")); err != nil || len(begun) > 0 {
		t.Errorf("the stranger has run: %v, %v", begun, err)
	}

	// A run that has ended over again, by its own input; somebody with the key goes on with it all the same.
	a.begins(first, a.input(first))
	l := s.until(first, "refused", func(l listed) bool { return strings.Contains(l.Reason, "was had before") })
	if l.Status != "failed" {
		t.Errorf("it is %+v", l)
	}
	s.must("resume", "--failed", first)
	s.until(first, "resumed", listed.parked)

	// A run that its worker has stopped, begun over again: nothing in it has failed, and it stays what it was. Whoever
	// resumes what was stopped goes on with it.
	held := s.asking()
	s.asks(held, "one")
	s.must("stop", held)
	s.ends(held, 5)
	a.begins(held, a.input(held))
	s.until(held, "refused", func(l listed) bool { return strings.Contains(l.Reason, "was had before") })
	s.must("resume", "--failed", held)
	l = s.until(held, "stopped as before", func(l listed) bool { return l.ExitCode != nil && l.Status == "stopped" })
	if !strings.Contains(strings.Join(l.Notes, "\n"), "so there is nothing to retry") {
		t.Errorf("nobody is told why: %+v", l)
	}
	s.must("resume", held)
	before := l.Epoch
	s.until(held, "continued", func(l listed) bool { return l.Epoch > before && l.ExitCode != nil && l.Status != "stopped" })

	// The stop again, for what was resumed; control: somebody with the key stops it.
	if told := a.says(first, flow.UpdateStop, id, stop); !strings.Contains(told, "was said before") {
		t.Errorf("the stop of before is told %s", told)
	}
	s.until(first, "asking still", listed.parked)
	s.must("stop", first)
	s.ends(first, 5)

	s.must("answer", asked, "JWT")
	s.succeeds(second)
	s.must("stop", control)
	s.ends(control, 5)
}

// Who takes the task of a worker, and has no key, ends nothing: not by how another run has ended, and not by nothing.
func TestAStolenTaskEndsNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker("one", "--capacity", "1")
	a := s.attacked()
	done := s.asking()
	s.must("answer", s.asks(done, "one"), "JWT")
	s.succeeds(done)
	var result *commonpb.Payloads
	for _, e := range a.history(done).Events {
		if r := e.GetActivityTaskCompletedEventAttributes(); r != nil && r.GetResult() != nil {
			result = r.GetResult()
		}
	}
	busy := s.asking() // the worker has no room for another
	s.asks(busy, "one")
	run := s.asking()
	for _, forged := range []*commonpb.Payloads{result, nil} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		task, err := a.WorkflowService().PollActivityTaskQueue(ctx, &workflowservice.PollActivityTaskQueueRequest{
			Namespace: a.at.Namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: flow.BaseQueue}, Identity: "eve"})
		cancel()
		if err != nil || task.GetWorkflowExecution().GetWorkflowId() != run {
			t.Fatalf("no task is taken: %v, %v", task, err)
		}
		_, err = a.WorkflowService().RespondActivityTaskCompleted(t.Context(),
			&workflowservice.RespondActivityTaskCompletedRequest{Namespace: a.at.Namespace, TaskToken: task.GetTaskToken(),
				Result: forged})
		if err != nil {
			t.Fatal(err)
		}
	}
	s.must("stop", busy)
	s.must("answer", s.asks(run, "one"), "JWT")
	s.succeeds(run)
}

// Another user of the machine reaches the ports of `fleet dev`, and is let in by none: the parts of the server have
// ports of their own.
func TestFleetDevLetsInWhoHasItsKey(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for port, answers := range answering(t, s.up.cmd.Process.Pid) {
		if answers {
			t.Errorf("port %d answers who shows nothing", port)
		}
	}
	c, err := s.dials(sdk.Options{})
	if err != nil {
		t.Fatalf("who has its key is told %v", err)
	}
	c.Close()
	open, err := net.Listen("tcp", "127.0.0.1:0") // the control: a server that lets in everybody
	if err != nil {
		t.Fatal(err)
	}
	control := grpc.NewServer()
	defer control.Stop()
	go func() { _ = control.Serve(open) }()
	if port := open.Addr().(*net.TCPAddr).Port; !answers(t, port) {
		t.Errorf("port %d of the control answers nobody", port)
	}
}

// answering returns the ports of loopback that a process listens on, and whether each answers a client of gRPC that
// shows nothing.
func answering(t *testing.T, pid int) map[int]bool {
	t.Helper()
	own := map[string]bool{}
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if to, err := os.Readlink(file); err == nil && strings.HasPrefix(to, "socket:[") {
			own[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	ports := map[int]bool{}
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line) // number, local address, remote address, state (0A: listening), and the inode as the tenth
		if len(f) < 10 || f[3] != "0A" || !own[f[9]] {
			continue
		}
		_, hex, _ := strings.Cut(f[1], ":")
		port, err := strconv.ParseInt(hex, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		ports[int(port)] = answers(t, int(port))
	}
	if len(ports) < 4 {
		t.Fatalf("it listens on %v", ports)
	}
	return ports
}

// answers reports whether a port speaks HTTP/2 with a client that does not encrypt, or with one that shows nothing.
func answers(t *testing.T, port int) bool {
	t.Helper()
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	speaks := func(c net.Conn) bool {
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := c.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")); err != nil {
			return false
		}
		frame := make([]byte, 9)
		_, err := io.ReadFull(c, frame)
		return err == nil && frame[3] == 4 // SETTINGS
	}
	plain, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if speaks(plain) {
		return true
	}
	encrypted, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, //nolint:gosec // an attacker does not mind
		NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	return err == nil && speaks(encrypted)
}
