package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"golang.org/x/sync/errgroup"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
	"claude-supervise/e2e/sample"
	"claude-supervise/supervisor/exit"
)

// Parked runs are rows of the server's database, and nothing else: no process, nothing on any worker. One of them is
// answered as if it were the only one. $CLAUDE_SUPERVISE_TEST_PARKED says how many there are. The figures of a
// hundredth, a tenth and all of them are printed (make fleet-parked).
//
// A worker has parked the first run. The others are what the workflow makes of an activity that says at once what that
// worker has said, with other ids: the workflow, the worker that decides, the server, the key and the commands are those
// of a fleet.
func TestParkedRunsAreHeldByNobody(t *testing.T) {
	t.Parallel()
	total := sample.Number(t, "CLAUDE_SUPERVISE_TEST_PARKED", 100)
	s := newSite(t)
	one := s.worker("one")
	first := s.must("run", "--demo", "ask", "--hold", "0")
	q := s.until(first, "parked", listed.parked).Questions[0].ID
	f := s.fleet()
	model, err := f.Run(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	d, err := f.Client.DescribeWorkflowExecution(t.Context(), first, "")
	if err != nil {
		t.Fatal(err)
	}
	info := d.GetWorkflowExecutionInfo()
	t.Logf("a run with one question that a worker has parked: %d events of %d bytes, %d bytes in the blob store",
		info.GetHistoryLength(), info.GetHistorySizeBytes(), s.sizeOf("snapshots/runs/"+first+"/*/*"))
	p := &parking{site: s, fleet: f, model: model, database: s.sizeOf(database)}
	stop := p.parksAtOnce()
	figures := &strings.Builder{}
	table := tabwriter.NewWriter(figures, 0, 0, 2, ' ', 0)
	tell(table, "parked", "a second", "server", "worker", "database", "each", "ps", "ps --json", "questions", "show one")
	for _, n := range []int{total / 100, total / 10, total} {
		if n > 1 {
			p.parks(n)
			p.measures(table, one)
		}
	}
	stop()
	one.leaves(t)
	_ = table.Flush() // a strings.Builder takes all
	t.Logf("what runs cost that are parked\n%s", figures)

	began := time.Now()
	s.restarts()
	up := time.Since(began)
	if n := p.count("ps"); n != total {
		t.Errorf("the server that was started again lists %d of %d runs", n, total)
	}
	t.Logf("the server started again: up after %s, listed after %s, %s of memory", ms(up), ms(time.Since(began)),
		s.up.memory(t))
	two := s.worker("two")
	began = time.Now()
	s.must("answer", q, "JWT")
	t.Logf("one of them was answered in %s, by a worker that has %s", ms(time.Since(began)), two.memory(t))
	s.succeeds(first)
	if n := p.count("questions"); n != total-1 {
		t.Errorf("%d questions are open of %d, of which one was answered", n, total)
	}
	nothingIsLeft(t, first)
}

// parking parks runs.
type parking struct {
	*site
	fleet    fleet.Fleet
	model    flow.Listed // the run that a worker has parked
	parked   int         // besides it
	database int64       // its bytes before
	took     time.Duration
	made     int // in took
}

// label is that of runs which no worker takes but that of the test.
const label = "parked"

// parksAtOnce takes runs and says that they are parked, until it is stopped.
func (p *parking) parksAtOnce() (stop func()) {
	p.t.Helper()
	doc, err := json.Marshal(flow.Seen{Worker: p.model.Worker, Run: &p.model.RunInfo, Questions: p.model.Questions})
	if err != nil {
		p.t.Fatal(err)
	}
	w := sdkworker.New(p.fleet.Client, flow.Queue([]string{label}), sdkworker.Options{DisableWorkflowWorker: true,
		MaxConcurrentActivityTaskPollers: 8})
	w.RegisterActivityWithOptions(func(_ context.Context, a flow.Attempt) (flow.Outcome, error) {
		out := flow.Outcome{Code: exit.Parked}
		id := strings.TrimPrefix(a.Task.Run, "r-")
		err := json.Unmarshal([]byte(strings.NewReplacer(p.model.ID, a.Task.Run, p.model.Questions[0].ID, "q-"+id,
			p.model.Agents[0].ID, "a-"+id+"test").Replace(string(doc))), &out.Seen)
		out.Seen.Epoch = a.Epoch
		return out, err
	}, activity.RegisterOptions{Name: flow.Supervise})
	if err := w.Start(); err != nil {
		p.t.Fatal(err)
	}
	return w.Stop
}

// parks hands in as many runs as are missing, and waits until they are parked, too.
func (p *parking) parks(total int) {
	p.t.Helper()
	began, before := time.Now(), p.parked
	all, ctx := errgroup.WithContext(p.t.Context())
	all.SetLimit(16)
	for ; p.parked < total-1; p.parked++ {
		task := flow.Task{Run: fmt.Sprintf("r-%08s", strconv.FormatInt(int64(p.parked), 36)), Prompt: "one of many",
			Labels: []string{label}, Lease: time.Minute, HandedIn: began}
		all.Go(func() error { return p.handsIn(ctx, task) })
	}
	if err := all.Wait(); err != nil {
		p.t.Fatal(err)
	}
	last, since := int64(-1), time.Now()
	for {
		n, err := p.fleet.Client.CountWorkflow(p.t.Context(), &workflowservice.CountWorkflowExecutionsRequest{
			Namespace: p.fleet.Namespace, Query: fmt.Sprintf("%s = 'parked' AND %s IS NOT NULL AND %s IS NOT NULL",
				flow.AttributeStatus, flow.AttributeOpen, flow.AttributeAskedAt)})
		switch {
		case err != nil:
			p.t.Fatal(err)
		case n.GetCount() == int64(total):
			p.took, p.made = time.Since(began), p.parked-before
			return
		case n.GetCount() > last:
			last, since = n.GetCount(), time.Now()
		case time.Since(since) > patience:
			p.t.Fatalf("%d of %d runs are parked, and it are no more", last, total)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// handsIn hands a run in, again while the server is busy.
func (p *parking) handsIn(ctx context.Context, task flow.Task) error {
	for deadline := time.Now().Add(patience); ; {
		err := p.fleet.HandIn(ctx, task)
		var there *serviceerror.WorkflowExecutionAlreadyStarted // it was only not heard
		if err == nil || errors.As(err, &there) {
			return nil
		}
		if time.Now().After(deadline) || !pause(ctx, 500*time.Millisecond) {
			return err
		}
	}
}

// measures checks that all are listed and nobody has them, and adds what they cost to a table.
func (p *parking) measures(table io.Writer, worker *process) {
	p.t.Helper()
	total := p.parked + 1
	for _, command := range []string{"ps", "questions"} {
		if n := p.count(command); n != total {
			p.t.Errorf("of %d parked runs %s lists %d", total, command, n)
		}
	}
	if busy, err := os.ReadDir(worker.runsOf()); err != nil || len(busy) > 0 {
		p.t.Errorf("the worker has the runs %v: %v", busy, err)
	}
	if pids := children(worker.cmd.Process.Pid); len(pids) > 0 {
		p.t.Errorf("the worker has the processes %v", pids)
	}
	for range min(total-1, 20) { // an activity would be there as long as anybody has the run
		run := fmt.Sprintf("r-%08s", strconv.FormatInt(rand.Int64N(int64(total-1)), 36))
		d, err := p.fleet.Client.DescribeWorkflowExecution(p.t.Context(), run, "")
		if err != nil || len(d.GetPendingActivities()) > 0 || d.GetPendingWorkflowTask() != nil {
			p.t.Errorf("somebody has %s: %v: %v", run, err, d)
		}
	}
	size := p.sizeOf(database)
	tell(table, total, fmt.Sprintf("%.0f", float64(p.made)/p.took.Seconds()), p.up.memory(p.t), worker.memory(p.t),
		bytesOf(size), fmt.Sprintf("%.1f KiB", float64(size-p.database)/float64(p.parked)/(1<<10)),
		p.median("ps"), p.median("ps", "--json"), p.median("questions", "--json"), p.median("show", p.model.ID))
}

// count returns how many a command lists.
func (p *parking) count(command string) int {
	p.t.Helper()
	var all []json.RawMessage
	if err := json.Unmarshal([]byte(p.must(command, "--json", "--limit", "0")), &all); err != nil {
		p.t.Fatal(err)
	}
	return len(all)
}

// median returns the middle of the times of three calls of a command, each from its start to its end.
func (p *parking) median(args ...string) string {
	p.t.Helper()
	var took []time.Duration
	for range 3 {
		began := time.Now()
		p.must(args...)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return ms(took[1])
}

func ms(d time.Duration) string { return d.Round(time.Millisecond).String() }

func bytesOf(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func tell(out io.Writer, cells ...any) {
	for _, c := range cells {
		_, _ = fmt.Fprintf(out, "%v\t", c) // a strings.Builder takes all
	}
	_, _ = fmt.Fprintln(out)
}

// database are the files of the server's database: some of it is not yet in the main one.
const database = "temporal.db*"

// sizeOf returns the bytes of files below the folder of the server.
func (s *site) sizeOf(pattern string) (size int64) {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.dev, pattern))
	if err != nil || len(files) == 0 {
		s.t.Fatalf("%s are %q: %v", pattern, files, err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			s.t.Fatal(err)
		}
		size += info.Size()
	}
	return size
}

// memory gives what a process has in memory that is its own.
func (p *process) memory(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if kib, found := strings.CutPrefix(line, "RssAnon:"); found {
			n, err := strconv.ParseInt(strings.Fields(kib)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return bytesOf(n << 10)
		}
	}
	t.Fatalf("no memory stands in %s", status)
	return ""
}

// fleet returns the fleet as a program has it that holds the key.
func (s *site) fleet() fleet.Fleet {
	s.t.Helper()
	dev := s.server()
	key, err := seal.ReadKey(dev.Key)
	if err != nil {
		s.t.Fatal(err)
	}
	f := fleet.Fleet{Namespace: dev.Namespace, Converter: key.Converter()}
	f.Client, err = s.dials(sdk.Options{DataConverter: f.Converter, FailureConverter: key.FailureConverter(),
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(f.Client.Close)
	return f
}
