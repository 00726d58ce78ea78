// Package fleet is what those who are not workers do with runs of a fleet: hand them in, list them, answer, stop, wait.
// It talks to the server only. What takes a worker that there is none of fails within the patience of a person.
package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"os/user"
	"regexp"
	"slices"
	"strings"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

const (
	// patience is how long a person waits for what was said to a run to be accepted: it is kept from then on.
	patience = 30 * time.Second
	// given is how long they wait for a worker to have it once it is accepted: one that was lost has a lease.
	given = 2 * time.Second
)

// ErrNoWorker means that no worker has said in time how a run is. Nothing was said to the run.
var ErrNoWorker error = &service.Refusal{Reason: service.Away, Text: "no worker of the fleet answers; nothing was " +
	"changed. Start one, as with `claude-supervise fleet worker`, and try again"}

// ExitUncertain is the exit code of a command whose answer or stop may still be taken.
const ExitUncertain = 76

// An UncertainError means that nobody knows whether a run will take what was said to it: it was sent, and no worker, or
// not even the server, has said that it is kept.
type UncertainError struct {
	Run, What string // "the answer", "the stop"
	Cause     error  // nil: no worker has taken it in time
}

// Error says what may happen, and how to see whether it has.
func (e *UncertainError) Error() string {
	why := "nobody has decided about it yet. See whether a worker is up, or start one: claude-supervise fleet worker"
	if e.Cause != nil {
		why = e.Cause.Error()
	}
	return fmt.Sprintf("%s to %s is on its way, and may still be taken: %s. Before you say anything else to the run, "+
		"see with `claude-supervise fleet show %s`; to say the same again is safe", e.What, e.Run, why, e.Run)
}

// Unwrap returns what was wrong, as the page knows it.
func (e *UncertainError) Unwrap() []error {
	return []error{&service.Refusal{Reason: service.Away, Text: e.Error()}, e.Cause}
}

// ExitsWith is an exit code of its own: it is neither done nor refused.
func (e *UncertainError) ExitsWith() int { return ExitUncertain }

// ErrAway means that the server does not answer.
var ErrAway error = &service.Refusal{Reason: service.Away, Text: "the fleet's server cannot be reached"}

// A RefusedError is what a run refuses, and as what kind of error (flow.ErrTaken and so on).
type RefusedError struct {
	Kind, Words string
	First       *flow.Answer // of flow.ErrTaken: the answer that stands, where the fleet knows it
}

// Error says why.
func (e *RefusedError) Error() string { return e.Words }

// ExitsWith is the exit code of a command that is refused.
func (e *RefusedError) ExitsWith() int {
	if e.Kind == flow.ErrNoQuestion {
		return exit.Usage
	}
	return exit.Failed
}

// Unwrap returns it as the page knows it.
func (e *RefusedError) Unwrap() error {
	if e.Kind == flow.ErrRefused {
		return service.Refused("%s", e.Words)
	}
	return &service.Refusal{Reason: service.Conflict, Text: e.Words}
}

// A NoRunError means that the fleet has no run of that id or name.
type NoRunError struct{ ID string }

// Error says which.
func (e *NoRunError) Error() string {
	return fmt.Sprintf("no run %.80q (`claude-supervise fleet ps -a` lists the runs)", e.ID)
}

// Unwrap returns it as the page knows it; as that it is a command line that cannot be meant.
func (e *NoRunError) Unwrap() error {
	return &service.Refusal{Reason: service.NotThere, Text: e.Error()}
}

// A Fleet is one that this process can reach.
type Fleet struct {
	Client    sdk.Client
	Namespace string
	Converter converter.DataConverter // the one that Client has

	// Hosts has this process decide about runs until stop is called, while nobody else does: Host. nil: it is a worker.
	Hosts func() (stop func(), err error)
}

// Who names this person to others.
func Who() string {
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

// HandIn gives the fleet a run. The id is the task's.
func (f Fleet) HandIn(ctx context.Context, t flow.Task) error {
	_, err := f.Client.ExecuteWorkflow(ctx, sdk.StartWorkflowOptions{
		ID: t.Run, TaskQueue: flow.BaseQueue,
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true, WorkflowTaskTimeout: flow.DecideWithin,
	}, flow.WorkflowName, flow.Input{Task: t})
	switch {
	case err == nil:
		return nil
	case away(err):
		return fmt.Errorf("the server has not said that it has %s: %w. It may have it: look with `claude-supervise fleet ps "+
			"-a` before you submit the task again", t.Run, said(err))
	}
	return fmt.Errorf("%s cannot be handed in: %w", t.Run, said(err))
}

// AsksForRuns reports whether a worker has asked for runs with these labels lately. One that has no room does not ask.
func (f Fleet) AsksForRuns(ctx context.Context, labels []string) (bool, error) {
	d, err := f.Client.DescribeTaskQueue(ctx, flow.Queue(labels), enums.TASK_QUEUE_TYPE_ACTIVITY)
	return len(d.GetPollers()) > 0, err
}

// Again begins a run again that has ended, after its last epoch. change makes what it is begun with of what it would go
// on with. Of several that begin it again, one wins: the others get a *RefusedError of kind flow.ErrTaken.
func (f Fleet) Again(ctx context.Context, run string, change func(*flow.Input)) error {
	bound, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	defer f.decides()()
	value, err := f.Client.QueryWorkflow(bound, run, "", flow.QueryInput)
	var later *serviceerror.WorkflowNotReady
	if ctx.Err() == nil && (bound.Err() != nil || errors.As(err, &later)) {
		return ErrNoWorker
	}
	var resumable flow.Resumable
	if err == nil {
		err = value.Get(&resumable)
	}
	in := resumable.Input
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w; nothing was changed", run, said(err))
	}
	change(&in)
	taken := &RefusedError{Kind: flow.ErrTaken, Words: fmt.Sprintf("%s was begun again by somebody else (epoch %d); "+
		"nothing was changed: see claude-supervise fleet ps", run, in.Epoch+1)}
	begun, err := f.Client.ExecuteWorkflow(ctx, sdk.StartWorkflowOptions{
		ID: flow.AgainID(run, in.Epoch), TaskQueue: flow.BaseQueue, WorkflowTaskTimeout: flow.DecideWithin,
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
	}, flow.AgainName, in)
	var another *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &another) {
		return taken
	}
	if err != nil {
		return fmt.Errorf("%s cannot be begun again: %w", run, said(err))
	}
	err = begun.Get(bound, nil)
	switch {
	case underWay(err):
		return taken
	case ctx.Err() == nil && bound.Err() != nil:
		return nil // it is kept, and done as soon as a worker is there
	}
	return said(err)
}

// underWay reports whether the workflow that begins a run again has failed because the run is under way. As what it has
// failed comes by its name from the server.
func underWay(err error) bool {
	var failed *temporal.ApplicationError
	return errors.As(err, &failed) && failed.Type() == "ChildWorkflowExecutionAlreadyStartedError"
}

// Now has a run that waits to be tried again tried at once.
func (f Fleet) Now(ctx context.Context, run, by string) error {
	err := f.Client.SignalWorkflow(ctx, run, "", flow.SignalNow, flow.Now{By: by})
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return &RefusedError{Kind: flow.ErrEnded, Words: run + " has ended"}
	}
	return said(err)
}

// Runs returns the runs of the fleet, the latest first; all: those that have ended, too. asking: only those with open
// questions.
func (f Fleet) Runs(ctx context.Context, all, asking bool) ([]flow.Listed, error) {
	query := goingOn
	if all {
		query = anyRun
	}
	if asking {
		query += hasOpen
	}
	return f.list(ctx, query, math.MaxInt, nil)
}

// Past returns runs that have ended, the latest first: at most most of them, after the first skip. What the server
// lists first are those that have ended last.
func (f Fleet) Past(ctx context.Context, skip, most int) ([]flow.Listed, error) {
	runs, err := f.list(ctx, anyRun+" AND ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew'",
		skip+most, nil)
	if err != nil {
		return nil, err
	}
	runs = runs[min(skip, len(runs)):]
	return runs[:min(most, len(runs))], nil
}

// The beginnings of queries, and what finds those with open questions.
const (
	anyRun  = "WorkflowType = '" + flow.WorkflowName + "'"
	goingOn = anyRun + " AND ExecutionStatus = 'Running'"
	hasOpen = " AND " + flow.AttributeOpen + " IS NOT NULL"
)

// mostForeign is how many entries of a list may be of nobody with the key, before the rest is not looked at.
const mostForeign = 10_000

// list returns the runs that a query finds and that are wanted (nil: all), no fewer than enough if there are as many.
func (f Fleet) list(ctx context.Context, query string, enough int, wanted func(flow.Listed) bool) ([]flow.Listed,
	error) {
	runs := []flow.Listed{}
	var foreign []flow.Listed // that somebody without the key has put there, unless nothing opens
	var unread error
	known := map[string]bool{} // a run that was tried again has several workflows: the latest counts
	size := flow.MostListed
	if wanted == nil { // each counts
		size = min(size, enough)
	}
	err := f.pages(ctx, query, size, func(page []*workflowpb.WorkflowExecutionInfo) (news, more bool) {
		for _, w := range page {
			id := w.GetExecution().GetWorkflowId()
			if known[id] || w.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
				continue
			}
			known[id], news = true, true
			l, err := f.listed(w)
			switch {
			case err == nil && wanted != nil && !wanted(l):
			case err == nil:
				runs = append(runs, l)
			case flow.IsRun(id):
				unread = cmp.Or(unread, err)
				foreign = append(foreign, endedFromOutside(flow.Listed{RunInfo: l.RunInfo}, "what lists have of it was not "+
					"sealed for it by this fleet", w.GetStartTime().AsTime()))
			}
		}
		return news, len(runs) < enough && len(foreign) < mostForeign
	})
	switch {
	case err != nil:
		return nil, err
	case len(runs) == 0 && unread != nil:
		return nil, unread
	}
	return append(runs, foreign...), nil
}

// pages hands over what a query finds, page by page: first what goes on, the latest begun first, and then what has
// ended, the latest ended first. each says whether anything of a page was new, and whether more is wanted.
//
// A page begins by the time at which the one before ended. A server whose database is one of SQL passes over all that
// was listed before to come to what a page token means.
func (f Fleet) pages(ctx context.Context, query string, size int,
	each func([]*workflowpb.WorkflowExecutionInfo) (news, more bool)) error {
	r := &workflowservice.ListWorkflowExecutionsRequest{Namespace: f.Namespace, Query: query,
		PageSize: int32(size)} //nolint:gosec // a page has some hundred
	running := query
	if !strings.HasPrefix(query, goingOn) {
		running += " AND ExecutionStatus = 'Running'"
	}
	goesOn := false // of what goes on there may be more, and what has ended comes after it
	for {
		list, err := f.Client.ListWorkflow(ctx, r)
		if err != nil {
			return fmt.Errorf("the fleet's runs cannot be listed: %w", said(err))
		}
		page := list.GetExecutions()
		news, more := each(page)
		switch {
		case !more:
			return nil
		case len(list.GetNextPageToken()) > 0 && !news: // more are of one moment than there are on a page
			r.NextPageToken = list.GetNextPageToken()
			continue
		case len(list.GetNextPageToken()) > 0:
			last := page[len(page)-1]
			if goesOn = last.GetCloseTime() == nil; goesOn {
				r.Query = running + " AND StartTime < " + after(last.GetStartTime())
			} else {
				r.Query = query + " AND CloseTime < " + after(last.GetCloseTime())
			}
		case goesOn && running != query:
			goesOn, r.Query = false, query+" AND ExecutionStatus != 'Running'"
		default:
			return nil
		}
		r.NextPageToken = nil
	}
}

// after is a time just after one that a server has said, which may keep more of it than it says.
func after(at *timestamppb.Timestamp) string {
	return "'" + at.AsTime().Add(time.Millisecond).UTC().Format(time.RFC3339Nano) + "'"
}

// KeyOpens looks whether a run that the fleet has opens with this key: nobody else could read one that is sealed with
// another. A fleet that has none yet takes any.
func (f Fleet) KeyOpens(ctx context.Context) error {
	list, err := f.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Namespace: f.Namespace,
		Query: anyRun + " AND ExecutionStatus != 'ContinuedAsNew'", PageSize: 50})
	if err != nil {
		return fmt.Errorf("the fleet's runs cannot be listed: %w", said(err))
	}
	for _, w := range list.GetExecutions() {
		if _, err = f.listed(w); err == nil {
			return nil
		}
	}
	return err
}

// listed returns what the workflow of a run has put into the lists.
func (f Fleet) listed(w *workflowpb.WorkflowExecutionInfo) (flow.Listed, error) {
	began := w.GetStartTime().AsTime()
	l := flow.Listed{RunInfo: flow.RunInfo{ID: w.GetExecution().GetWorkflowId(), Status: flow.StatusQueued,
		Reason: "no worker has read it", StartedAt: began, Since: began}}
	if memo := w.GetMemo().GetFields()[flow.MemoRun]; memo != nil {
		values := converter.WithDataConverterSerializationContext(f.Converter, converter.WorkflowSerializationContext{
			Namespace: f.Namespace, WorkflowID: l.ID})
		var told flow.Listed
		if err := values.FromPayload(memo, &told); err != nil {
			return l, fmt.Errorf("%s cannot be read: %w; is this the fleet's key?", l.ID, err)
		}
		l = told
		at := w.GetSearchAttributes().GetIndexedFields()[flow.AttributeChanged] // of the server, and not sealed
		if at != nil && converter.GetDefaultDataConverter().FromPayload(at, &l.Changed) != nil {
			l.Changed = time.Time{}
		}
	}
	switch w.GetStatus() {
	case enums.WORKFLOW_EXECUTION_STATUS_FAILED, enums.WORKFLOW_EXECUTION_STATUS_TERMINATED,
		enums.WORKFLOW_EXECUTION_STATUS_CANCELED, enums.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		l = endedFromOutside(l, "its workflow was ended on the server: "+w.GetStatus().String(), w.GetCloseTime().AsTime())
	}
	return l.WithLists(), nil
}

// endedFromOutside is a run whose workflow was ended by somebody with the server's own tools.
func endedFromOutside(l flow.Listed, how string, at time.Time) flow.Listed {
	code := exit.Failed
	l.Status, l.Reason, l.Since = "failed", how, at
	l.EndedAt, l.ExitCode = &at, &code
	l.OpenQuestions, l.Questions, l.Worker = nil, nil, ""
	return l
}

// Run returns a run by its id, or by its name if one has it.
func (f Fleet) Run(ctx context.Context, id string) (flow.Listed, error) {
	if flow.IsRun(id) {
		return f.now(ctx, id)
	}
	if id == "" || flow.IsOther(id) {
		return flow.Listed{}, &NoRunError{id}
	}
	// The names are sealed: the lists are read up to the first run that has it.
	found, err := f.list(ctx, anyRun, 1, func(l flow.Listed) bool { return l.Name == id })
	for _, r := range found {
		if r.Name == id {
			return r, nil
		}
	}
	return flow.Listed{}, cmp.Or(err, error(&NoRunError{id}))
}

// now returns a run by its id as it is in this moment: lists may be late by a second or so.
func (f Fleet) now(ctx context.Context, id string) (flow.Listed, error) {
	d, err := f.Client.DescribeWorkflowExecution(ctx, id, "")
	var none *serviceerror.NotFound
	switch {
	case errors.As(err, &none):
		return flow.Listed{}, &NoRunError{id}
	case err != nil:
		return flow.Listed{}, fmt.Errorf("%s cannot be read: %w", id, said(err))
	}
	return f.listed(d.GetWorkflowExecutionInfo())
}

// Questions returns the open questions of all runs, oldest first.
func (f Fleet) Questions(ctx context.Context) ([]view.QuestionView, error) {
	return questionsOf(f.Runs(ctx, false, true))
}

var questionID = regexp.MustCompile(`^q-[a-z0-9]{1,32}$`)

// QuestionsNamed returns the open questions that an id can mean: that of a question, or of a run or an agent that asks,
// or the name of a run. A question's own is looked up without a list of what others ask.
func (f Fleet) QuestionsNamed(ctx context.Context, id string) ([]view.QuestionView, error) {
	if questionID.MatchString(id) {
		found, err := questionsOf(f.list(ctx, fmt.Sprintf("%s AND %s = '%s'", goingOn, flow.AttributeOpen, id), math.MaxInt,
			nil))
		if err != nil || len(found) > 0 || flow.IsOther(id) { // it means nothing else
			return Named(found, id), err
		}
	}
	if flow.IsRun(id) {
		l, err := f.now(ctx, id)
		if none := new(NoRunError); errors.As(err, &none) {
			return nil, nil
		}
		return questionsOf([]flow.Listed{l}, err)
	}
	open, err := f.Questions(ctx)
	return Named(open, id), err
}

// Named returns those of the open questions that an id can mean.
func Named(open []view.QuestionView, id string) (found []view.QuestionView) {
	for _, q := range open {
		if q.ID == id || q.Run == id || q.RunName == id || q.Agent == id {
			found = append(found, q)
		}
	}
	return found
}

func questionsOf(runs []flow.Listed, err error) ([]view.QuestionView, error) {
	if err != nil {
		return nil, err
	}
	open := []view.QuestionView{}
	for _, r := range runs {
		for _, q := range r.Questions {
			v := q.View()
			v.RunName = r.Name
			open = append(open, v)
		}
	}
	slices.SortStableFunc(open, func(a, b view.QuestionView) int { return a.AskedAt.Compare(b.AskedAt) })
	return open, nil
}

// WhoseAnswer returns the answer that a question has; nil if it has none that the fleet knows. The lists are read up to
// the run that has it.
func (f Fleet) WhoseAnswer(ctx context.Context, question string) (a *flow.Answer, err error) {
	_, err = f.list(ctx, anyRun, 1, func(l flow.Listed) bool {
		at := slices.IndexFunc(l.Answered, func(a flow.Answer) bool { return a.Question == question })
		if at >= 0 && a == nil {
			a = &l.Answered[at]
		}
		return at >= 0
	})
	if a != nil {
		return a, nil
	}
	return nil, err
}

// Answer answers a question. *RefusedError says why it was not taken; of kind flow.ErrTaken, whose was
// first. What it returns without an error is kept, whatever dies.
func (f Fleet) Answer(ctx context.Context, run string, a flow.Answer) (flow.Answered, error) {
	var answered flow.Answered
	a.Mark = seal.Mark{ID: updateID(a.Question, a.By)}
	err := f.update(ctx, "the answer", sdk.UpdateWorkflowOptions{WorkflowID: run, UpdateName: flow.UpdateAnswer,
		UpdateID: a.ID, Args: []any{a}}, &answered)
	if err == nil && answered.Update != "" && answered.Update != a.ID {
		err = &UncertainError{Run: run, What: "the answer", Cause: errors.New("what the server has said of it was said of " +
			"another")}
	}
	return answered, err
}

// Stop ends a run.
func (f Fleet) Stop(ctx context.Context, run, by string) error {
	for tries := 0; ; tries++ {
		d, err := f.Client.DescribeWorkflowExecution(ctx, run, "")
		var none *serviceerror.NotFound
		switch {
		case errors.As(err, &none):
			return &NoRunError{run}
		case err != nil:
			return fmt.Errorf("%s cannot be read: %w; nothing was stopped", run, said(err))
		}
		execution := d.GetWorkflowExecutionInfo().GetExecution().GetRunId()
		s := flow.Stop{By: by, Mark: seal.Mark{ID: updateID("stop", by), Execution: execution}}
		err = f.update(ctx, "the stop", sdk.UpdateWorkflowOptions{WorkflowID: run, RunID: execution,
			UpdateName: flow.UpdateStop, UpdateID: s.ID, Args: []any{s}}, nil)
		var ended *RefusedError
		if !errors.As(err, &ended) || ended.Kind != flow.ErrEnded || tries > 0 {
			return err
		} // its history began anew meanwhile, in another execution
	}
}

// updateID names an update: what is said twice with one name is done once. Nothing can be read from it.
func updateID(what, by string) string {
	sum := sha256.Sum256([]byte(what + "\x00" + by + "\x00" + rand.Text()))
	return hex.EncodeToString(sum[:16])
}

// update says something to a run, and waits until it is accepted, and then a moment for it to be done. An
// *UncertainError says that it may still be accepted.
func (f Fleet) update(ctx context.Context, what string, o sdk.UpdateWorkflowOptions, result any) error {
	run := o.WorkflowID
	defer f.decides()()
	handle, err := f.tells(ctx, o)
	late := func() bool { // the server may say it first
		var cut *sdk.WorkflowUpdateServiceTimeoutOrCanceledError
		return ctx.Err() == nil && (errors.As(err, &cut) || errors.Is(err, context.DeadlineExceeded))
	}
	if err == nil {
		moment, over := context.WithTimeout(ctx, given)
		defer over()
		if err = handle.Get(moment, result); late() {
			return nil // it is kept, and the worker has not taken it yet
		}
	}
	var refused *temporal.ApplicationError
	var gone *serviceerror.NotFound
	var later *serviceerror.WorkflowNotReady
	switch {
	case errors.As(err, &refused):
		r := &RefusedError{Kind: refused.Type(), Words: refused.Message()}
		if first := new(flow.Answer); refused.HasDetails() && refused.Details(first) == nil {
			r.First = first // the workflow has no clock of this person's
			r.Words = fmt.Sprintf("%s was answered before, by %s at %s: %s", first.Question, first.By, view.Clock(first.At),
				first.Text)
		}
		return r
	case errors.As(err, &gone):
		return &RefusedError{Kind: flow.ErrEnded, Words: run + " has ended or does not exist; nothing was kept"}
	case late():
		return &UncertainError{Run: run, What: what}
	case errors.As(err, &later):
		return ErrNoWorker
	case err != nil && (away(err) || ctx.Err() != nil):
		return &UncertainError{Run: run, What: what, Cause: said(err)}
	}
	return said(err)
}

const (
	// notReady is how long to wait before something is said again to a workflow that is not ready.
	notReady = 500 * time.Millisecond
	// readyWithin is how long a workflow may be not ready. Each open poll of a worker that stands still takes a decision
	// for flow.DecideWithin, and after three that were not made in time the server waits longer for each next one: on a
	// busy machine that takes more than patience.
	readyWithin = 4 * patience
)

// tells says something to a workflow, and returns when the workflow has accepted or refused it, or has not within
// patience. While the workers that are to decide are lost one after the other, the server says at once that the
// workflow is not ready: it keeps nothing then, and is told again until readyWithin is over.
func (f Fleet) tells(ctx context.Context, o sdk.UpdateWorkflowOptions) (sdk.WorkflowUpdateHandle, error) {
	o.WaitForStage = sdk.WorkflowUpdateStageAccepted
	for began := time.Now(); ; {
		bound, cancel := context.WithTimeout(ctx, patience)
		handle, err := f.Client.UpdateWorkflow(bound, o)
		cancel()
		var later *serviceerror.WorkflowNotReady
		if !errors.As(err, &later) || time.Since(began) > readyWithin {
			return handle, err
		}
		select {
		case <-time.After(notReady):
		case <-ctx.Done():
			return nil, err
		}
	}
}
