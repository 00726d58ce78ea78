package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/claude-supervise-fleet/internal/runlog"
	"claude-supervise/supervisor/view"
)

// An epoch is what one worker makes of a run.
type epoch struct {
	log    []runlog.Entry // from the beginning of the run on
	asked  int            // so often its worker answers, then it is lost; 0: until it leaves the run
	silent bool           // it does not even answer once
}

// A relay is a server and the workers of a run, one after the other: each has the run until it was asked for all of it,
// or is lost. It hands questions for the log to a reader of it.
type relay struct {
	sdk.Client
	t      *testing.T
	epochs []epoch
	now    int // of epochs
	reader *logReader
	asked  int
	over   bool         // the last worker has left the run
	kept   map[int]bool // epochs whose workers have left the run in order
	ends   func()       // the reader
}

func (r *relay) ExecuteWorkflow(context.Context, sdk.StartWorkflowOptions, any, ...any) (sdk.WorkflowRun, error) {
	r.asked = 0
	return nil, nil
}

var errSilent = errors.New("the worker does not answer")

// QueryWorkflow asks the worker that has the run.
func (r *relay) QueryWorkflow(_ context.Context, _, _, _ string, args ...any) (converter.EncodedValue, error) {
	e, ask := r.epochs[r.now], args[0].(runlog.Ask)
	if e.silent || e.asked > 0 && r.asked == e.asked {
		r.leaves()
		return nil, errSilent
	}
	r.asked++
	if ask.Open != nil {
		r.opens(*ask.Open, e.log)
	}
	reply := r.reader.reply(ask)
	if reply.Over {
		r.kept[r.now] = true
		r.leaves()
	}
	p, err := converter.GetDefaultDataConverter().ToPayloads(reply)
	if size := p.Size(); size > 2*runlog.MaxReply {
		r.t.Errorf("a reply has %d bytes", size)
	}
	return sdk.NewValue(p), err
}

// opens begins to read a log for whoever asks.
func (r *relay) opens(o runlog.Open, log []runlog.Entry) {
	if r.ends != nil {
		r.ends()
	}
	l, ctx := newLogReader(o, func() {})
	r.reader, r.ends = l, l.ends
	go func() {
		reading := l.place.Reading()
		for _, e := range log {
			if l.add(ctx, reading, e) != nil {
				return
			}
		}
		l.changes(func() { l.caught = true })
		l.changes(func() { l.over = true })
	}()
}

// leaves gives the run to the next worker; without one it has ended.
func (r *relay) leaves() {
	if r.now++; r.now == len(r.epochs) {
		r.now, r.over = r.now-1, true
	}
}

// DescribeWorkflowExecution says where the run is.
func (r *relay) DescribeWorkflowExecution(context.Context, string, string) (
	*workflowservice.DescribeWorkflowExecutionResponse, error) {
	l := flow.Listed{RunInfo: flow.RunInfo{ID: "r-abcd1234", Status: "running"}, Worker: "w", Queue: "q",
		Epoch: r.now + 1}
	if r.over {
		code := 0
		l.Worker, l.Queue, l.ExitCode, l.Status = "", "", &code, "succeeded"
	}
	memo, err := converter.GetDefaultDataConverter().ToPayload(l)
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: l.ID}, Type: &commonpb.WorkflowType{Name: flow.WorkflowName},
		Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{flow.MemoRun: memo}},
	}}, err
}

// reads reads the log as `fleet logs` does.
func (r *relay) reads(follow bool, tail int) (texts, notes []string) {
	r.kept = map[int]bool{}
	_, err := fleet.Fleet{Client: r, Converter: converter.GetDefaultDataConverter()}.Log(r.t.Context(), fleet.LogReading{
		Run: "r-abcd1234", Follow: follow, Tail: tail,
		Kept: func(_ context.Context, _ string, epoch int, each func(runlog.Entry) error) (int, error) {
			for ; epoch > 0; epoch-- {
				if !r.kept[epoch-1] && !(r.over && epoch == len(r.epochs)) {
					continue
				}
				for _, e := range r.epochs[epoch-1].log {
					if err := each(e); err != nil {
						return 0, err
					}
				}
				return epoch, nil
			}
			return 0, nil
		},
		Each: func(e runlog.Entry) error { texts = append(texts, e.Text); return nil },
		Note: func(n string) { notes = append(notes, n) },
	})
	if err != nil {
		r.t.Error(err)
	}
	return texts, notes
}

// logOf is a log: a number is a mark, and other words are what its agent says.
func logOf(words string) (log []runlog.Entry) {
	for word := range strings.FieldsSeq(words) {
		e := runlog.Entry{Remark: view.Remark{Agent: "a-1", Type: view.RemarkText, Text: word}}
		if n, err := fmt.Sscanf(word, "%d", &e.Epoch); n == 1 && err == nil {
			e.Text, e.Type = "", ""
		}
		log = append(log, e)
	}
	return log
}

func TestALogIsFollowedFromWorkerToWorkerToItsEnd(t *testing.T) {
	large := strings.Repeat("x", 5*runlog.MaxReply/2)
	many := strings.TrimSpace(strings.Repeat("word ", 9000))
	for name, c := range map[string]struct {
		epochs []epoch
		tail   int
		want   string
	}{
		"one worker":                      {[]epoch{{log: logOf("a b c")}}, -1, "a b c"},
		"more than a reply holds":         {[]epoch{{log: logOf(many)}}, -1, many},
		"an entry larger than any reply":  {[]epoch{{log: logOf("a " + large + " b")}}, -1, "a " + large + " b"},
		"two large ones":                  {[]epoch{{log: logOf(large + "1 " + large + "2")}}, -1, large + "1 " + large + "2"},
		"a worker that hands it on":       {[]epoch{{log: logOf("a b")}, {log: logOf("a b 2 c d")}}, -1, "a b c d"},
		"a worker that is lost":           {[]epoch{{log: logOf("a b lost"), asked: 1}, {log: logOf("a b 2 c d")}}, -1, "a b lost c d"},
		"one lost within a large entry":   {[]epoch{{log: logOf("a " + large), asked: 2}, {log: logOf("a " + large + " 2 c")}}, -1, "a " + large + " c"},
		"one that nobody could ask":       {[]epoch{{log: logOf("a"), asked: 1}, {silent: true}, {log: logOf("a 2 b 3 c")}}, -1, "a b c"},
		"one lost, and the next, too":     {[]epoch{{log: logOf("a lost"), asked: 1}, {log: logOf("a 2 also"), asked: 1}, {log: logOf("a 3 b")}}, -1, "a lost also b"},
		"the last that nobody could ask":  {[]epoch{{log: logOf("a b")}, {log: logOf("a b 2 c"), silent: true}}, -1, "a b c"},
		"its end":                         {[]epoch{{log: logOf("a b c d")}}, 2, "c d"},
		"its end, and what is added":      {[]epoch{{log: logOf("a b c")}, {log: logOf("a b c 2 d e")}}, 1, "c d e"},
		"what is added":                   {[]epoch{{log: logOf("a b c")}, {log: logOf("a b c 2 d e")}}, 0, "d e"},
		"what is added after a loss":      {[]epoch{{log: logOf("a b c"), asked: 1}, {log: logOf("a b 2 d e")}}, 0, "d e"},
		"a worker that has said nothing":  {[]epoch{{}, {log: logOf("2 a")}}, -1, "a"},
		"its end, longer than the log is": {[]epoch{{log: logOf("a b")}}, 9, "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &relay{t: t, epochs: c.epochs}
				texts, _ := r.reads(true, c.tail)
				if got := strings.Join(texts, " "); got != c.want {
					t.Errorf("it reads %.200q (%d), not %.200q (%d)", got, len(got), c.want, len(c.want))
				}
				if r.ends != nil {
					r.ends()
				}
			})
		})
	}
}

func TestALogThatIsNotFollowedIsReadAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &relay{t: t, epochs: []epoch{{log: logOf("a b")}, {log: logOf("a b 2 c")}}}
		if texts, _ := r.reads(false, -1); !slices.Equal(texts, []string{"a", "b"}) || r.now != 0 && !r.kept[0] {
			t.Errorf("it reads %q", texts)
		}
		r.ends()
		silent := &relay{t: t, epochs: []epoch{{log: logOf("a b")}, {silent: true}, {silent: true}}, now: 1}
		silent.epochs[1].log = logOf("a b 2 c")
		texts, notes := silent.reads(false, 1)
		if len(texts) != 0 || len(notes) != 1 || !strings.Contains(notes[0], "does not answer") {
			t.Errorf("a worker that is silent: %q, and the person is told %q", texts, notes)
		}
	})
}

func TestWhatNobodyAsksForIsReadNoFurther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, ctx := newLogReader(runlog.Open{Tail: -1}, func() {})
		added := 0
		go func() {
			reading := l.place.Reading()
			for _, e := range logOf(strings.Repeat(strings.Repeat("y", 1000)+" ", 5000)) {
				if l.add(ctx, reading, e) != nil {
					return
				}
				added++
			}
		}()
		synctest.Wait()
		if l.size > maxAhead+2000 || added == 5000 {
			t.Errorf("%d bytes are kept", l.size)
		}
		before := added
		l.reply(runlog.Ask{After: 100})
		synctest.Wait()
		if added <= before {
			t.Error("it does not go on")
		}
		l.ends()
	})
}
