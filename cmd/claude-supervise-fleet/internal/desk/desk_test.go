package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/claude-supervise-fleet/internal/worker"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// A fakeFleet is the server of a fleet whose lists may be behind: they show what was published last.
type fakeFleet struct {
	sdk.Client
	mu      sync.Mutex
	listed  []flow.Listed // as lists have them, the latest first
	away    error
	takes   time.Duration          // to list
	first   map[string]flow.Answer // by question
	given   bool
	stopped []string
	lists   int  // of all
	says    bool // runs say when they change
	rows    int  // that were listed
}

func (f *fakeFleet) fleet() fleet.Fleet {
	return fleet.Fleet{Client: f, Converter: converter.GetDefaultDataConverter()}
}

// ListWorkflow lists those that are under way, those that are not, or all.
func (f *fakeFleet) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (
	*workflowservice.ListWorkflowExecutionsResponse, error) {
	var takes time.Duration
	f.change(func() { takes = f.takes })
	time.Sleep(takes)
	f.mu.Lock()
	defer f.mu.Unlock()
	list := &workflowservice.ListWorkflowExecutionsResponse{}
	_, after, asked := strings.Cut(r.GetQuery(), flow.AttributeChanged+" > ")
	if !asked {
		f.lists++
	}
	for _, l := range f.listed {
		if ended := l.EndedAt != nil; strings.Contains(r.GetQuery(), "= 'Running'") && ended ||
			strings.Contains(r.GetQuery(), "!= 'Running'") && !ended {
			continue
		}
		if asked {
			if at, err := time.Parse("'"+time.RFC3339Nano+"'", after); err != nil || !l.Changed.After(at) {
				continue
			}
		}
		w := workflowOf(l)
		if at, err := converter.GetDefaultDataConverter().ToPayload(l.Changed); f.says && err == nil {
			w.SearchAttributes = &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{flow.AttributeChanged: at}}
		}
		list.Executions = append(list.Executions, w)
	}
	f.rows += len(list.Executions)
	return list, f.away
}

// CountWorkflow counts those that ask.
func (f *fakeFleet) CountWorkflow(context.Context, *workflowservice.CountWorkflowExecutionsRequest) (
	*workflowservice.CountWorkflowExecutionsResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	count := &workflowservice.CountWorkflowExecutionsResponse{}
	for _, l := range f.listed {
		if len(l.Questions) > 0 {
			count.Count++
		}
	}
	return count, f.away
}

func (f *fakeFleet) DescribeWorkflowExecution(_ context.Context, run, _ string) (
	*workflowservice.DescribeWorkflowExecutionResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := slices.IndexFunc(f.listed, func(l flow.Listed) bool { return l.ID == run })
	if at < 0 {
		return nil, cmp.Or(f.away, error(serviceerror.NewNotFound(run)))
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: workflowOf(f.listed[at])}, f.away
}

func workflowOf(l flow.Listed) *workflowpb.WorkflowExecutionInfo {
	told, err := converter.GetDefaultDataConverter().ToPayload(l)
	if err != nil {
		panic(err)
	}
	w := &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: l.ID},
		Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{flow.MemoRun: told}}}
	if l.EndedAt != nil {
		w.Status = enums.WORKFLOW_EXECUTION_STATUS_COMPLETED
	}
	return w
}

// UpdateWorkflow takes the first answer to a question, and every stop.
func (f *fakeFleet) UpdateWorkflow(_ context.Context, o sdk.UpdateWorkflowOptions) (sdk.WorkflowUpdateHandle, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch said := o.Args[0].(type) {
	case flow.Stop:
		f.stopped = append(f.stopped, o.WorkflowID+" by "+said.By)
	case flow.Answer:
		if first, taken := f.first[said.Question]; taken {
			return updated{err: temporal.NewNonRetryableApplicationError("taken", flow.ErrTaken, nil, first)}, nil
		}
		f.first[said.Question] = said
	}
	return updated{given: f.given}, nil
}

// updated is what became of an update.
type updated struct {
	sdk.WorkflowUpdateHandle
	given bool
	err   error
}

func (u updated) Get(_ context.Context, result any) error {
	if answered, is := result.(*flow.Answered); is {
		answered.Given = u.given
	}
	return u.err
}

func (f *fakeFleet) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

// publishes has a list show the answers that were given.
func (f *fakeFleet) publishes() {
	f.change(func() {
		for i, l := range f.listed {
			for _, a := range f.first {
				if !slices.ContainsFunc(l.Questions, func(q flow.QuestionInfo) bool { return q.ID == a.Question }) {
					continue
				}
				l.Questions = slices.DeleteFunc(slices.Clone(l.Questions), func(q flow.QuestionInfo) bool { return q.ID == a.Question })
				l.Answered = append(l.Answered, a)
			}
			f.listed[i] = l
		}
	})
}

const home = "the worker's folder"

func someFleet() *fakeFleet {
	asks := func(id string) flow.QuestionInfo {
		return flow.QuestionInfo{ID: id, Run: "r-aaaaaaaa", Agent: "a-root", Kind: "clarification", Question: "What of " + id + "?",
			AskedAt: time.Unix(1e9, 0), Cwd: home}
	}
	urgent := asks("q-urgent")
	urgent.Urgent, urgent.AskedAt = true, time.Unix(2e9, 0)
	command := asks("q-command")
	command.Kind = "command"
	return &fakeFleet{first: map[string]flow.Answer{}, listed: []flow.Listed{
		{RunInfo: flow.RunInfo{ID: "r-bbbbbbbb", Status: flow.StatusQueued, Reason: "waits", Cwd: home},
			Notes: []string{"an old one", "worker one was not heard of"}},
		{RunInfo: flow.RunInfo{ID: "r-aaaaaaaa", Name: "nightly", Status: "waiting", Cwd: home, Agents: []flow.AgentInfo{
			{ID: "a-root"}, {ID: "a-child", Parent: "a-root"}}},
			Worker: "one", Questions: []flow.QuestionInfo{asks("q-one"), asks("q-two"), command, urgent}},
	}}
}

// somebodys is a desk on a fleet, in which nothing was recorded.
func somebodys(f *fakeFleet) *Desk {
	return New(f.fleet(), func(context.Context, string, int) ([]byte, error) { return nil, worker.ErrNoRecord }, said(nil), "me@here")
}

func said(remarks []view.Remark) ReadLog {
	return func(_ context.Context, _ string, _ bool, each func(view.Remark) error) error {
		for _, r := range remarks {
			if err := each(r); err != nil {
				return err
			}
		}
		return nil
	}
}

// watched is what a desk shows, look by look.
type watched struct {
	seen chan view.Overview
	look chan struct{}
}

func watch(t *testing.T, d *Desk) watched {
	w := watched{make(chan view.Overview, 100), make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		if err := d.Watch(ctx, w.look, func(o view.Overview) error { w.seen <- o; return nil }); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(watching.Wait)
	t.Cleanup(cancel)
	return w
}

// now is what is shown after a look that is asked for.
func (w watched) now() view.Overview {
	synctest.Wait()
	for len(w.seen) > 0 {
		<-w.seen
	}
	w.look <- struct{}{}
	return <-w.seen
}

func ids(qs []view.QuestionView) string {
	var all []string
	for _, q := range qs {
		all = append(all, q.ID)
	}
	return strings.Join(all, " ")
}

func value(text string) service.Answer {
	return service.Answer{Typed: &text, By: "a person by the page"}
}

func TestTheFleetIsShownWithWorkersAndWhatBefellItsRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := watch(t, somebodys(someFleet())).now()
		if ids(o.Questions) != "q-urgent q-one q-two q-command" || o.Questions[1].Cwd != "" || o.Questions[1].RunName != "nightly" {
			t.Errorf("the questions are %+v", o.Questions)
		}
		if len(o.Runs) != 2 || o.Runs[0].Worker != "one" || o.Runs[0].Cwd != home || o.Runs[1].Cwd != "" ||
			o.Runs[1].Reason != "waits · worker one was not heard of" {
			t.Errorf("the runs are %+v", o.Runs)
		}
	})
}

func TestAnAnswerIsShownBeforeAListHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := someFleet()
		d := somebodys(f)
		w := watch(t, d)
		w.now()
		kept, err := d.Answer(t.Context(), "q-one", value("JWT"))
		if err != nil || !strings.Contains(kept.Note, "continues with r-aaaaaaaa") {
			t.Fatalf("it is %q, %v", kept.Note, err)
		}
		if q, err := d.Question(t.Context(), "q-one"); err != nil || q.State != "answered" || *q.Answer != "JWT" ||
			!strings.Contains(q.AnsweredBy, "a person by the page, served by me@here") {
			t.Errorf("the question is %+v, %v", q, err)
		}
		o := w.now()
		if ids(o.Questions) != "q-urgent q-two q-command" || ids(o.Closed) != "q-one" || *o.Closed[0].Answer != "JWT" {
			t.Errorf("open are %s, closed %s", ids(o.Questions), ids(o.Closed))
		}
		if o = w.now(); ids(o.Questions) != "q-urgent q-two q-command" || len(o.Closed) > 0 {
			t.Errorf("then open are %s, closed %s", ids(o.Questions), ids(o.Closed))
		}
		time.Sleep(behind) // no list is behind for so long: the run asks again
		if o = w.now(); ids(o.Questions) != "q-urgent q-one q-two q-command" {
			t.Errorf("at last open are %s", ids(o.Questions))
		}
		if q, err := d.Question(t.Context(), "q-one"); err != nil || q.State != "open" {
			t.Errorf("the question is %+v, %v", q, err)
		}
	})
}

func TestWhoLosesIsToldWhoseAnswerStands(t *testing.T) {
	f := someFleet()
	f.first["q-one"] = flow.Answer{Question: "q-one", Text: "JWT", By: "ann@there", At: time.Unix(1e9, 0)}
	d := somebodys(f)
	_, err := d.Answer(t.Context(), "q-one", value("Sessions"))
	var taken *client.TakenError
	if !errors.As(err, &taken) || taken.By != "ann@there" || taken.Answer != "JWT" || strings.Contains(err.Error(), "--change") {
		t.Errorf("who is late on the page is told %v", err)
	}
	if _, err := d.Answer(t.Context(), "q-one", service.Replied("Sessions", false, false)); err == nil ||
		!strings.Contains(err.Error(), "by ann@there") || !strings.Contains(err.Error(), "JWT") {
		t.Errorf("who is late on the board is told %v", err)
	}
	if f.first["q-one"].Text != "JWT" {
		t.Error("the first answer does not count")
	}
}

func TestWhatOthersAnswerIsShownWithWhoDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := someFleet()
		d := somebodys(f)
		w := watch(t, d)
		w.now()
		f.change(func() {
			f.first["q-two"] = flow.Answer{Question: "q-two", Text: "both", By: "ann@there", At: time.Now()}
		})
		f.publishes()
		o := w.now()
		if ids(o.Closed) != "q-two" || o.Closed[0].AnsweredBy != "ann@there" || o.Closed[0].State != "answered" {
			t.Errorf("closed is %+v", o.Closed)
		}
		f.change(func() { f.listed[1].Questions = nil })
		if o = w.now(); ids(o.Closed) != "q-urgent q-one q-command" || o.Closed[0].State != "withdrawn" {
			t.Errorf("then closed is %+v", o.Closed)
		}
		code, at := 0, time.Now()
		f.change(func() {
			f.listed[1].Status, f.listed[1].ExitCode, f.listed[1].EndedAt = "succeeded", &code, &at
			f.listed = f.listed[1:]
		})
		o = w.now()
		if len(o.Runs) > 0 || len(o.Ended) != 2 || o.Ended[0].Status != "succeeded" || o.Ended[1].ID != "r-bbbbbbbb" {
			t.Errorf("ended is %+v", o.Ended)
		}
	})
}

func TestAServerThatIsAwayLeavesWhatWasShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := someFleet()
		f.away = fmt.Errorf("%w: nobody listens", fleet.ErrAway)
		if err := somebodys(f).Watch(t.Context(), nil, nil); !errors.Is(err, fleet.ErrAway) {
			t.Errorf("a server that was never there: %v", err)
		}
		away := f.away
		f.away = nil
		w := watch(t, somebodys(f))
		before := w.now()
		f.change(func() { f.away = away })
		o := w.now()
		if !errors.Is(o.Gone, fleet.ErrAway) || ids(o.Questions) != ids(before.Questions) || len(o.Problems) != 1 ||
			!strings.Contains(o.Problems[0], "was so at") {
			t.Errorf("while it is away it shows %+v", o)
		}
		f.change(func() { f.away = nil })
		if o = w.now(); o.Gone != nil || len(o.Problems) > 0 {
			t.Errorf("once it is back: %v %v", o.Gone, o.Problems)
		}
	})
}

func TestListsThatTakeLongAreMadeSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := someFleet()
		f.takes = 100 * time.Millisecond
		watch(t, New(f.fleet(), nil, nil, "me"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if f.lists > 30 { // one in 2.1 s
			t.Errorf("it was listed %d times in a minute", f.lists)
		}
	})
}

// With very many runs a list takes long, and there is one seldom. A new question is there after the next count.
func TestANewQuestionIsShownWhereListsTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := someFleet()
		f.takes = 2 * time.Second
		w := watch(t, somebodys(f))
		<-w.seen
		lists := f.lists
		time.Sleep(15 * time.Second)
		if f.lists != lists {
			t.Fatalf("%d lists were made where nothing has changed", f.lists-lists)
		}
		f.change(func() {
			asks := f.listed[1]
			asks.ID, asks.Questions = "r-cccccccc", []flow.QuestionInfo{{ID: "q-new", Run: "r-cccccccc", AskedAt: time.Unix(1e9, 0)}}
			f.listed = append(f.listed, asks)
		})
		began := time.Now()
		if o := <-w.seen; !strings.Contains(ids(o.Questions), "q-new") {
			t.Errorf("open are %s", ids(o.Questions))
		}
		if took := time.Since(began); took > fleet.AsksEvery+2*f.takes { // to ask, and to list
			t.Errorf("it is shown after %s", took)
		}
	})
}

// Of runs that say when they change the server lists those that have, however many there are. One that it lists late is
// not missed.
func TestWhoListensCostsAsManyRowsAsHaveChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 1000
		f := &fakeFleet{says: true, takes: time.Millisecond}
		began := time.Now()
		for i := range many {
			f.listed = append(f.listed, flow.Listed{Changed: began, RunInfo: flow.RunInfo{ID: fmt.Sprintf("r-%08d", i)}})
		}
		f.takes = 10 * time.Second // to list all is far away
		w := watch(t, somebodys(f))
		<-w.seen
		f.change(func() { f.takes = time.Millisecond })
		time.Sleep(20 * time.Second) // those of the last moment before the list are asked for again
		synctest.Wait()
		rows := func() (n int) {
			f.change(func() { n = f.rows })
			return n
		}
		before, changed := rows(), 0
		if len(w.seen) > 0 {
			t.Errorf("without a change it shows %+v", <-w.seen)
		}
		changes := func(i int, at time.Time, do func(*flow.Listed)) view.Overview {
			changed++
			f.change(func() { do(&f.listed[i]); f.listed[i].Changed = at })
			return <-w.seen
		}
		asks := func(l *flow.Listed) { l.Questions = []flow.QuestionInfo{{ID: "q-" + l.ID[2:], Run: l.ID}} }
		if o := changes(7, time.Now(), asks); ids(o.Questions) != "q-00000007" || len(o.Runs) != many {
			t.Errorf("it shows %s of %d runs", ids(o.Questions), len(o.Runs))
		}
		if o := changes(8, time.Now().Add(-2*fleet.AsksEvery), asks); ids(o.Questions) != "q-00000007 q-00000008" {
			t.Errorf("with one that is late it shows %s", ids(o.Questions))
		}
		if o := changes(7, time.Now(), func(l *flow.Listed) { l.Questions = nil }); ids(o.Closed) != "q-00000007" {
			t.Errorf("closed are %s", ids(o.Closed))
		}
		if o := changes(8, time.Now(), func(l *flow.Listed) { l.EndedAt = &began }); len(o.Ended) != 1 ||
			ids(o.Closed) != "q-00000008" || len(o.Runs) != many-1 {
			t.Errorf("ended is %+v, closed %s", o.Ended, ids(o.Closed))
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if rows := rows() - before; rows > changed*10 || len(w.seen) > 0 {
			t.Errorf("%d changes cost %d rows, and show %d more", changed, rows, len(w.seen))
		}
	})
}

func TestWhatAFleetDoesNotDoIsRefusedInWords(t *testing.T) {
	f := someFleet()
	d := somebodys(f)
	why := ""
	answer := func(id string, a service.Answer) func() error {
		return func() error { _, err := d.Answer(t.Context(), id, a); return err }
	}
	stop := func(id string) func() error {
		return func() error { _, err := d.Stop(t.Context(), id, ""); return err }
	}
	for name, c := range map[string]struct {
		do     func() error
		reason service.Reason
		says   string
	}{
		"a command":                 {answer("q-command", value("yes")), service.Elsewhere, "on the worker's machine"},
		"a change":                  {answer("q-one", service.Answer{Typed: &why, Change: true}), service.Conflict, "cannot be changed"},
		"no question":               {answer("q-none", value("x")), service.NotThere, "no question"},
		"a required one, skipped":   {answer("q-one", service.Answer{Skip: true}), service.Unfit, "claude-supervise fleet stop"},
		"declined without a reason": {answer("q-one", service.Answer{Decline: &why}), service.Unfit, "say why"},
		"the stop of a child":       {stop("a-child"), service.Conflict, "stops whole runs"},
		"the stop of nothing":       {stop("a-none"), service.NotThere, "a-none"},
	} {
		var refusal *service.Refusal
		if err := c.do(); !errors.As(err, &refusal) || refusal.Reason != c.reason || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(f.first) > 0 || len(f.stopped) > 0 {
		t.Errorf("done was %v %v", f.first, f.stopped)
	}
	if service.Can[service.Messenger](d) || service.Can[service.Resumer](d) ||
		service.Can[service.Reporter](d) {
		t.Error("the page has what nothing stands behind")
	}
}

func TestARunIsStoppedByItsIDOrItsFirstAgent(t *testing.T) {
	f := someFleet()
	d := somebodys(f)
	for _, id := range []string{"r-aaaaaaaa", "a-root"} {
		if text, err := d.Stop(t.Context(), id, ""); err != nil || text != "r-aaaaaaaa is being stopped." {
			t.Errorf("%s: %q, %v", id, text, err)
		}
	}
	if want := []string{"r-aaaaaaaa by me@here", "r-aaaaaaaa by me@here"}; !slices.Equal(f.stopped, want) {
		t.Errorf("stopped were %q", f.stopped)
	}
}

func TestRepliesOfTheBoardAreAnswers(t *testing.T) {
	f := someFleet()
	f.given = true
	f.listed[1].Questions[1].Optional = true
	d := somebodys(f)
	for id, a := range map[string]service.Answer{"q-one": service.Replied("JWT", false, false),
		"q-two": service.Replied("", false, false), "q-urgent": service.Replied("not mine", true, false)} {
		if kept, err := d.Answer(t.Context(), id, a); err != nil || kept.Also != id+" is answered." {
			t.Errorf("%s: %q, %v", id, kept.Also, err)
		}
	}
	if a := f.first["q-one"]; a.Text != "JWT" || a.Skip || a.Decline || a.By != "me@here" {
		t.Errorf("the answer is %+v", a)
	}
	if a := f.first["q-two"]; !a.Skip {
		t.Errorf("what was left out is %+v", a)
	}
	if a := f.first["q-urgent"]; !a.Decline || a.Text != "not mine" {
		t.Errorf("what was declined is %+v", a)
	}
}

func TestWhatWasKeptOfARunIsShownWithHowItIsNow(t *testing.T) {
	f := someFleet()
	f.first["q-one"] = flow.Answer{Question: "q-one", Text: "JWT", By: "ann@there", At: time.Unix(1e9, 0)}
	f.publishes()
	d := New(f.fleet(), func(_ context.Context, run string, _ int) ([]byte, error) {
		if run != "r-aaaaaaaa" {
			return nil, worker.ErrNoRecord
		}
		return []byte(`{"run":{"id":"r-aaaaaaaa","status":"parked"},"questions":[{"id":"q-one","question":"What of it?"},` +
			`{"id":"q-two","question":"old"}],"reports":{"a-root":{"summary":"done"}}}`), nil
	}, said(nil), "me")
	details, err := d.Show(t.Context(), "a-child")
	if err != nil || details.Agent != "a-child" || details.Run.Status != "waiting" || details.Reports["a-root"] == nil ||
		ids(details.Questions) != "q-two q-command q-urgent q-one" || details.Questions[0].Question != "What of q-two?" {
		t.Errorf("it is %+v, %v", details, err)
	}
	if details, err := d.Show(t.Context(), "r-bbbbbbbb"); err != nil || details.Run.Status != flow.StatusQueued {
		t.Errorf("one that no worker has left is %+v, %v", details, err)
	}
	for _, show := range []func(context.Context, string) (view.Details, error){d.Show, (&Commands{Desk: d}).Show} {
		details, err := show(t.Context(), "r-bbbbbbbb")
		doc, err2 := json.Marshal(details)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"questions", "reports", "logs", "success_criteria", "rules", "worktrees", "agents",
			"open_questions"} {
			if strings.Contains(string(doc), fmt.Sprintf("%q:null", list)) {
				t.Errorf("of one that no worker has left, %s are null: %s", list, doc)
			}
		}
	}
	if q, err := d.Question(t.Context(), "q-one"); err != nil || q.Question != "What of it?" || *q.Answer != "JWT" {
		t.Errorf("the question is %+v, %v", q, err)
	}
}

// What was kept names folders, files and commands of a machine that does not have the run any more.
func TestWhatIsShownOfARunNamesNothingThatIsOnItsWorker(t *testing.T) {
	kept := view.Details{Run: view.RunView{ID: "r-aaaaaaaa", Cwd: home, FromPack: home, Snapshot: &view.RunSnapshot{Folder: home},
		Agents: []view.AgentView{{ID: "a-root", Cwd: home}}}, Logs: map[string]string{"a-root": home},
		Questions: []view.QuestionView{{ID: "q-one", Cwd: home, AnswerCommand: "claude-supervise answer q-one VALUE"}}}
	doc, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	d := New(someFleet().fleet(), func(context.Context, string, int) ([]byte, error) { return doc, nil }, said(nil), "me")
	shown, err := (&Commands{Desk: d}).Show(t.Context(), "r-aaaaaaaa")
	if err != nil {
		t.Fatal(err)
	}
	if doc, err = json.Marshal(shown); err != nil || strings.Contains(string(doc), home) {
		t.Errorf("it is %s, %v", doc, err)
	}
	if shown.Result != "claude-supervise fleet fetch r-aaaaaaaa DIR" ||
		shown.Questions[0].AnswerCommand != "claude-supervise fleet answer q-one VALUE" {
		t.Errorf("its commands are %q, %q", shown.Result, shown.Questions[0].AnswerCommand)
	}
}

func TestALogIsReadAgentByAgentFromItsPlace(t *testing.T) {
	var remarks []view.Remark
	for i := range 6 {
		remarks = append(remarks, view.Remark{Agent: []string{"a-root", "a-child"}[i%2], Type: view.RemarkText, Text: fmt.Sprintf("said %d", i)})
	}
	d := New(someFleet().fleet(), nil, said(remarks), "me")
	log, err := d.Log(t.Context(), "a-child")
	if err != nil {
		t.Fatal(err)
	}
	if run, agent := log.Of(); run != "r-aaaaaaaa" || agent != "a-child" {
		t.Errorf("it is of %s %s", run, agent)
	}
	recent, place, err := log.Recent(t.Context(), 2)
	if err != nil || place != 3 || len(recent) != 2 || !strings.HasSuffix(recent[1], "said 5") {
		t.Errorf("recently it said %q, up to %d, %v", recent, place, err)
	}
	lines, next, more, err := log.Part(t.Context(), 0, 1)
	if err != nil || len(lines) != 1 || next != 1 || !more || !strings.HasSuffix(lines[0].Said[0], "said 1") {
		t.Errorf("the first part is %q, up to %d, %v %v", lines, next, more, err)
	}
	if lines, next, more, err = log.Part(t.Context(), 1, 1<<20); err != nil || len(lines) != 2 || next != 3 || more {
		t.Errorf("the rest is %q, up to %d, %v %v", lines, next, more, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var came []string
	if err := log.Follow(ctx, 2, func(said []string, place int64) error {
		came = append(came, fmt.Sprint(place, " ", said[0][strings.LastIndex(said[0], "said"):]))
		cancel()
		return nil
	}); err != nil || !slices.Equal(came, []string{"3 said 5"}) {
		t.Errorf("what came is %q, %v", came, err)
	}
	var board [][]string
	if err := d.Follow(t.Context(), "r-aaaaaaaa", 4, func(said []string) error { board = append(board, said); return nil }); err != nil ||
		len(board) != 1 || len(board[0]) != 4 {
		t.Errorf("on the board it is %q, %v", board, err)
	}
	if _, err := d.Log(t.Context(), "a-none"); err == nil {
		t.Error("there is a log of nobody")
	}
}
