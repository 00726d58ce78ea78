package flow

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/view"
)

// full returns a value of a type with something in each field, one element in each list.
func full(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch {
	case t == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
	case t == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"command":"true"}`))
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(full(t.Elem()))
	case t.Kind() == reflect.Slice:
		v.Set(reflect.Append(v, full(t.Elem())))
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				v.Field(i).Set(full(f.Type))
			}
		}
	case t.Kind() == reflect.String:
		v.SetString("x")
	case t.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(1)
	case v.CanFloat():
		v.SetFloat(1)
	default:
		panic(t.String())
	}
	return v
}

// What package view shows crosses a fleet and comes back as it was, but for fields that it has got since: whoever adds
// one there decides here whether the fleet shows it.
func TestWhatAWorkerTellsIsShownAsItWas(t *testing.T) {
	run := full(reflect.TypeFor[view.RunView]()).Interface().(view.RunView)
	question := full(reflect.TypeFor[view.QuestionView]()).Interface().(view.QuestionView)
	question.Image = nil
	for name, c := range map[string][2]any{
		"a run":              {run, InfoOfRun(run).View()},
		"a run as it is":     {InfoOfRun(run), InfoOfRun(InfoOfRun(run).View())},
		"a question":         {question, InfoOfQuestion(question).View()},
		"a question as told": {InfoOfQuestion(question), InfoOfQuestion(InfoOfQuestion(question).View())},
	} {
		was, is := fields(t, c[0]), fields(t, c[1])
		for path, value := range was {
			if shown, known := is[path]; !isNew[path] && !(known && reflect.DeepEqual(value, shown)) {
				t.Errorf("%s: %s is shown as %v, not %v", name, path, shown, value)
			}
		}
	}
}

// Lists have what each run has reported, in part: it may be long, and they are.
func TestWhatARunHasReportedIsToldInPart(t *testing.T) {
	for said, most := range map[string]int{"all is done": len("all is done"), strings.Repeat("x", 10_000): maxSummary} {
		told := InfoOfRun(view.RunView{Summary: said}).View().Summary
		if len(told) != most || !strings.HasPrefix(said, told) {
			t.Errorf("%d bytes are told as %q", len(said), told)
		}
	}
}

// A fleet has no images: of the one that a question shows it says that there is one.
func TestTheImageOfAQuestionIsNamed(t *testing.T) {
	shown := view.ImageView{Image: checkpoints.Image{Name: "shot.png", Type: "image/png", Width: 3, Height: 2, Bytes: 100},
		Path: "/var/worker/shot"}
	told := InfoOfQuestion(view.QuestionView{Context: "See.", Image: &shown}).View()
	want := "See.\nIt shows the image shot.png (PNG, 3×2 pixels, 0.1 kB), which is not here: a fleet carries the words of a " +
		"question alone."
	if told.Context != want || told.Image != nil {
		t.Errorf("it is told as %q", told.Context)
	}
}

// isNew has the fields of package view that a fleet does not show.
var isNew = map[string]bool{
	// an answer by a fleet has no images
	"/images/hash": true, "/images/name": true, "/images/type": true, "/images/width": true, "/images/height": true,
	"/images/bytes": true, "/images/path": true,
	"/session/id": true, "/session/cwd": true, "/session/screen": true, "/session/pid": true, "/session/tool": true,
	"/session/state": true, "/session/suggested": true, // a fleet has none
	"/remark":     true,                                                   // open questions have none
	"/forked/run": true, "/forked/question": true, "/forked/answer": true, // no run of a fleet is a fork
}

// fields returns the leaves of a value as JSON by their paths.
func fields(t *testing.T, value any) map[string]any {
	t.Helper()
	doc, err := json.Marshal(value)
	var tree any
	if err == nil {
		err = json.Unmarshal(doc, &tree)
	}
	if err != nil {
		t.Fatal(err)
	}
	leaves := map[string]any{}
	var walk func(path string, node any)
	walk = func(path string, node any) {
		switch n := node.(type) {
		case map[string]any:
			for key, below := range n {
				walk(path+"/"+key, below)
			}
		case []any:
			for _, below := range n {
				walk(path, below)
			}
		default:
			leaves[path] = n
		}
	}
	walk("", tree)
	return leaves
}

// The memo of histories from before changeShown is set where what is frozen has changed: not one field more or less.
func TestWhatIsComparedInOldHistoriesIsFrozen(t *testing.T) {
	doc, err := frozen(full(reflect.TypeFor[Listed]()).Interface().(Listed))
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/frozen.json"
	was, err := os.ReadFile(file)
	if err != nil || strings.TrimSpace(string(was)) != string(doc) {
		t.Errorf("%s has (%v)\n%s, and compared is\n%s\nWhat was added since is to be left out of frozen", file, err, was, doc)
	}
}

// What a worker tells may differ from what it told before in any field, also in one that only a later release knows:
// each release decides about it alike. The histories are kept with those of the release (make fleet-histories).
func TestAChangeOfAnyFieldIsReplayed(t *testing.T) {
	hidden := map[string]bool{"/commit": true, "/kept": true, "/left": true, "/run/exit_code": true, "/run/ended_at": true,
		"/run/open_questions": true, "/run/supervisor_pid": true,
		"/run/summary":          true, // lists do not show them of a run that a worker has
		"/questions/assumption": true, "/questions/affects": true, "/questions/assumption_state": true}
	decides := map[string]bool{"/epoch": true, "/run/status": true, "/questions/id": true}
	seen := full(reflect.TypeFor[Seen]()).Interface().(Seen)
	seen.Run.Status, seen.Notes, seen.Questions[0].Input, seen.Seq = "running", nil, nil, 0
	for name, changes := range map[string][]string{"fields": {changeShown, changeBound}, "fields-before": nil} {
		h := &history{t: t}
		h.begins(changes...)
		h.signal(seen, "x", "running", true)
		paths := slices.Sorted(maps.Keys(fields(t, seen)))
		for _, path := range paths {
			if decides[path] {
				continue
			}
			always := len(changes) > 0
			changed, in := changedAt(t, seen, path)
			h.signal(changed, "x", "running", always || !hidden[path])
			if always {
				in["of_a_later_release"] = true // only that release sees that this has changed
				h.signal(changed, "x", "running", true)
				continue
			}
			h.signal(seen, "x", "running", !hidden[path])
		}
		if len(paths) < 70 {
			t.Errorf("%d fields are changed", len(paths))
		}
		h.ends()
		if folder := os.Getenv("CLAUDE_SUPERVISE_TEST_HISTORIES"); folder != "" && len(changes) > 0 {
			h.keeps(filepath.Join(folder, name+".json"))
		}
		if err := replayer().ReplayWorkflowHistory(nil, &historypb.History{Events: h.events}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// changedAt returns a value as JSON with another leaf at a path, and the object that the leaf is in.
func changedAt(t *testing.T, value any, path string) (all, in map[string]any) {
	t.Helper()
	doc, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(doc, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	in = all
	keys := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for _, key := range keys[:len(keys)-1] {
		below := in[key]
		if list, is := below.([]any); is {
			below = list[0]
		}
		in = below.(map[string]any)
	}
	last := keys[len(keys)-1]
	switch in[last].(type) {
	case string:
		in[last] = "2026-02-03T04:05:06Z"
	case float64:
		in[last] = 2
	case bool:
		in[last] = false
	case []any:
		in[last] = []string{"y"}
	case nil:
		in[last] = json.RawMessage(`{"command":"false"}`)
	}
	return all, in
}

// A history is one that a server would have.
type history struct {
	t       *testing.T
	events  []*historypb.HistoryEvent
	task    int64 // the workflow task that was completed last
	phase   string
	asks    string
	started int64
}

func (h *history) add(kind enums.EventType, with func(*historypb.HistoryEvent)) int64 {
	e := &historypb.HistoryEvent{EventId: int64(len(h.events) + 1), EventType: kind,
		EventTime: timestamppb.New(time.Unix(1767322800, 0))}
	with(e)
	h.events = append(h.events, e)
	return e.EventId
}

func (h *history) payloads(value any) *commonpb.Payloads {
	p, err := converter.GetDefaultDataConverter().ToPayloads(value)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

// decides adds a workflow task.
func (h *history) decides() {
	scheduled := h.add(enums.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowTaskScheduledEventAttributes{
			WorkflowTaskScheduledEventAttributes: &historypb.WorkflowTaskScheduledEventAttributes{Attempt: 1}}
	})
	started := h.add(enums.EVENT_TYPE_WORKFLOW_TASK_STARTED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowTaskStartedEventAttributes{
			WorkflowTaskStartedEventAttributes: &historypb.WorkflowTaskStartedEventAttributes{ScheduledEventId: scheduled}}
	})
	h.task = h.add(enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowTaskCompletedEventAttributes{
			WorkflowTaskCompletedEventAttributes: &historypb.WorkflowTaskCompletedEventAttributes{ScheduledEventId: scheduled,
				StartedEventId: started}}
	})
}

// attributes adds a change of search attributes.
func (h *history) attributes(fields map[string]any) {
	indexed := map[string]*commonpb.Payload{}
	for name, value := range fields {
		p, err := converter.GetDefaultDataConverter().ToPayload(value)
		if err != nil {
			h.t.Fatal(err)
		}
		indexed[name] = p
	}
	h.add(enums.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_UpsertWorkflowSearchAttributesEventAttributes{
			UpsertWorkflowSearchAttributesEventAttributes: &historypb.UpsertWorkflowSearchAttributesEventAttributes{
				WorkflowTaskCompletedEventId: h.task, SearchAttributes: &commonpb.SearchAttributes{IndexedFields: indexed}}}
	})
}

// version adds what workflow.GetVersion does.
func (h *history) version(change string) {
	details := map[string]*commonpb.Payloads{"change-id": h.payloads(change), "version": h.payloads(1),
		"version-search-attribute-updated": h.payloads(true)}
	h.add(enums.EVENT_TYPE_MARKER_RECORDED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_MarkerRecordedEventAttributes{
			MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{MarkerName: "Version", Details: details,
				WorkflowTaskCompletedEventId: h.task}}
	})
	h.attributes(map[string]any{"TemporalChangeVersion": []string{change + "-1"}})
}

// shown adds a change of what lists have.
func (h *history) shown(asks, status string) {
	if asks != h.asks || status != h.phase {
		h.asks, h.phase = asks, status
		h.attributes(map[string]any{AttributeStatus: status})
	}
	h.add(enums.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowPropertiesModifiedEventAttributes{
			WorkflowPropertiesModifiedEventAttributes: &historypb.WorkflowPropertiesModifiedEventAttributes{
				WorkflowTaskCompletedEventId: h.task, UpsertedMemo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{
					MemoRun: h.payloads(nil).Payloads[0]}}}}
	})
}

// begins adds the beginning of a run, until its first attempt waits for a worker.
func (h *history) begins(changes ...string) {
	h.add(enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
				WorkflowType: &commonpb.WorkflowType{Name: WorkflowName}, WorkflowId: id,
				TaskQueue: &taskqueuepb.TaskQueue{Name: BaseQueue}, Attempt: 1, OriginalExecutionRunId: id, FirstExecutionRunId: id,
				Input: h.payloads(Input{Task: Task{Run: id, Prompt: "do it", Lease: time.Minute}})}}
	})
	h.decides()
	for _, change := range changes {
		h.version(change)
	}
	h.shown("", StatusQueued)
	h.started = h.add(enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
			ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
				ActivityId: fmt.Sprint(e.EventId), ActivityType: &commonpb.ActivityType{Name: Supervise},
				WorkflowTaskCompletedEventId: h.task}}
	})
}

// signal adds what a worker tells, and whether lists show it.
func (h *history) signal(seen any, asks, status string, shown bool) {
	h.add(enums.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowExecutionSignaledEventAttributes{
			WorkflowExecutionSignaledEventAttributes: &historypb.WorkflowExecutionSignaledEventAttributes{
				SignalName: SignalSeen, Input: h.payloads(seen)}}
	})
	h.decides()
	if shown {
		h.shown(asks, status)
	}
}

// ends adds the end of the attempt, and of the run.
func (h *history) ends() {
	at := h.add(enums.EVENT_TYPE_ACTIVITY_TASK_STARTED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_ActivityTaskStartedEventAttributes{
			ActivityTaskStartedEventAttributes: &historypb.ActivityTaskStartedEventAttributes{ScheduledEventId: h.started}}
	})
	out, _ := succeeded(1)
	h.add(enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_ActivityTaskCompletedEventAttributes{
			ActivityTaskCompletedEventAttributes: &historypb.ActivityTaskCompletedEventAttributes{Result: h.payloads(out),
				ScheduledEventId: h.started, StartedEventId: at}}
	})
	h.decides()
	h.shown("", "succeeded")
	h.add(enums.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{
			WorkflowExecutionCompletedEventAttributes: &historypb.WorkflowExecutionCompletedEventAttributes{
				WorkflowTaskCompletedEventId: h.task, Result: h.payloads(Listed{})}}
	})
}

// keeps writes the history into a file, as TestStoredHistoriesAreReplayed reads it.
func (h *history) keeps(file string) {
	doc, err := temporalproto.CustomJSONMarshalOptions{}.Marshal(&historypb.History{Events: h.events})
	if err == nil {
		err = os.WriteFile(file, doc, 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}
