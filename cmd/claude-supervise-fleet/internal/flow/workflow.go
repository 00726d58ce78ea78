package flow

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"claude-supervise/supervisor/exit"
)

// An Input begins the workflow of a run, or goes on with it: after an earlier one has ended, or has a long history.
type Input struct {
	Task    Task              `json:"task"`
	Epoch   int               `json:"epoch"`             // that was taken last
	Commit  string            `json:"commit,omitempty"`  // that Ref was
	Answers []Answer          `json:"answers,omitempty"` // that were acknowledged
	Retry   bool              `json:"retry,omitempty"`   // what failed is tried again
	Revive  int               `json:"revive,omitempty"`  // the epoch in which the run had ended that a person has resumed
	Parked  bool              `json:"parked,omitempty"`  // it waits for an answer
	Seen    Seen              `json:"seen"`              // last
	Closed  map[string]string `json:"closed,omitempty"`  // questions that were answered on a worker, and by whom
}

// ForRun names the run that it is of.
func (in Input) ForRun() string { return in.Task.Run }

// A Resumable is the Input with which a run would be begun again, and no Input: nothing is begun with what a workflow
// was asked for.
type Resumable struct{ Input }

// Again is how long a run waits before it is tried again where a worker could not have it, at first and at most.
const (
	againFirst = 2 * time.Second
	againMost  = 5 * time.Minute
)

// tooLong is how long an activity may take: there is no limit to how long a person may.
const tooLong = 10 * 365 * 24 * time.Hour

// A run is one run in its workflow.
type run struct {
	Input
	Deciding
	log       log.Logger
	held      bool                // a worker has it
	closed    map[string]int      // of Closed, in which epoch the question was found to be answered
	fresh     bool                // an answer has come that no attempt was given
	stopping  string              // who wants its end
	cancel    workflow.CancelFunc // of the present attempt; nil: there was none
	renewing  bool                // its history is long: the worker that has it was asked to give it back
	now       bool                // what waits to be tried again is tried now
	late      []Answer            // that came after the present attempt was made, and before its worker was heard
	reason    string              // why it waits, where no worker says it
	since     time.Time
	ended     *int // exit code
	once      bool // changeOnce
	showsEach bool // changeShown
	bound     bool // changeBound
	told      int  // Seen.Seq of what was told last in this epoch
	changed   bool // since it was put into the lists
	lastOpen  []string
	lastPhase string
	lastMemo  string
}

// A Deciding says what the server knows that has workflows decided about. Nothing that a history has depends on it.
type Deciding struct {
	AskedAt bool // the namespace has AttributeAskedAt
}

// Run is the workflow where the server knows no more than it has to.
func Run(ctx workflow.Context, in Input) (Listed, error) { return Deciding{}.Run(ctx, in) }

// Run is the workflow. It returns how the run ended.
func (d Deciding) Run(ctx workflow.Context, in Input) (Listed, error) {
	r := &run{Input: in, Deciding: d, log: workflow.GetLogger(ctx), closed: map[string]int{}, since: workflow.Now(ctx)}
	is := func(change string) bool {
		return workflow.GetVersion(ctx, change, workflow.DefaultVersion, 1) != workflow.DefaultVersion
	}
	r.once = is(changeOnce)
	r.showsEach, r.bound = r.once || is(changeShown), r.once || is(changeBound)
	if r.once {
		workflow.Go(ctx, r.showsChanges)
	}
	if in.Seen.Run != nil && in.Seen.Run.EndedAt != nil {
		r.Revive = in.Epoch
	}
	if err := r.listens(ctx); err != nil {
		return Listed{}, err
	}
	if !r.Parked {
		r.waits(ctx, "it waits for a worker"+r.labels())
	}
	again := againFirst
	for r.ended == nil {
		if r.Parked {
			if err := workflow.Await(ctx, func() bool { return r.fresh || r.stopping != "" }); err != nil {
				return Listed{}, err
			}
			if workflow.GetInfo(ctx).GetContinueAsNewSuggested() && r.stopping == "" {
				return Listed{}, r.anew(ctx)
			}
			r.Parked = false
		}
		if r.stopping != "" && !r.held {
			r.ends(ctx, exit.Stopped, "stopped by "+r.stopping)
			break
		}
		if r.renewing || r.long(ctx) {
			return Listed{}, r.anew(ctx)
		}
		if err := r.attempt(ctx, &again); err != nil {
			return Listed{}, err
		}
	}
	err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
	r.showsNow(ctx)
	return r.listed(), err
}

// attempt has a worker supervise the run, until it has left it or is not heard of.
func (r *run) attempt(ctx workflow.Context, again *time.Duration) error {
	r.Epoch++
	r.fresh, r.told, r.late = false, 0, nil
	if r.Epoch > 1 || r.Seen.Run != nil {
		r.waits(ctx, "it waits for a worker"+r.labels()+" to continue with it")
	}
	var out Outcome
	attempted, cancel := workflow.WithCancel(ctx)
	defer cancel()
	r.cancel = cancel
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(attempted, workflow.ActivityOptions{
		TaskQueue: Queue(r.Task.Labels), HeartbeatTimeout: r.Task.Lease, StartToCloseTimeout: tooLong,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}, Summary: fmt.Sprintf("epoch %d", r.Epoch),
	}), Supervise, Attempt{Task: r.Task, Epoch: r.Epoch, Commit: r.Commit, Answers: r.Answers, Retry: r.Retry,
		Revive: r.Revive, Kept: r.Seen.Kept}).Get(ctx, &out)
	had := r.held
	r.held = false
	if err == nil && r.bound && !out.isOf(r.Epoch) {
		err = errOtherEpoch
	}
	var failed *temporal.ApplicationError
	switch {
	case r.stopping != "" && temporal.IsCanceledError(err): // takeStop
		return nil
	case err == nil && out.Full:
		r.Epoch-- // it was not begun
		return nil
	case err == nil:
		*again = againFirst
		r.Retry = false
		out.Seen.Epoch = r.Epoch
		r.sees(ctx, out.Seen)
		switch {
		case out.Back:
			r.waits(ctx, fmt.Sprintf("its worker %s has left; it waits for another%s", out.Seen.Worker, r.labels()))
		case out.Code == exit.Parked:
			// What was answered while it was being parked may be in no snapshot: the next attempt is given it.
			r.fresh = r.fresh || r.unanswered()
			r.Parked = true
			r.shows(ctx)
		default:
			r.ends(ctx, out.Code, "")
		}
		return nil
	case temporal.IsTimeoutError(err):
		r.note(fmt.Sprintf("worker %s was not heard from: the run continues from its last snapshot (epoch %d); a turn that "+
			"was under way is done again", r.Seen.Worker, r.Epoch+1))
		*again = againFirst
		return nil
	case errors.As(err, &failed) && failed.Type() == ErrHad:
		var last int
		if failed.Details(&last) == nil {
			r.Epoch = max(r.Epoch, last) // whoever resumes the run begins after it
		}
		r.ends(ctx, exit.Failed, failed.Message())
		return nil
	case errors.As(err, &failed) && failed.Type() == ErrNever:
		r.ends(ctx, exit.Failed, failed.Message())
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	why := err.Error()
	if failed != nil {
		why = failed.Message()
	}
	if had {
		r.note(fmt.Sprintf("worker %s could not go on with it: %s. The run continues from its last snapshot (epoch %d); a "+
			"turn that was under way is done again", r.Seen.Worker, why, r.Epoch+1))
	}
	r.waits(ctx, fmt.Sprintf("it is tried again in %s: %s", *again, why))
	r.now = false
	_, err = workflow.AwaitWithTimeout(ctx, *again, func() bool { return r.stopping != "" || r.now })
	*again = min(2**again, againMost)
	return err
}

// unanswered reports whether a question is open that has an answer here.
func (r *run) unanswered() bool {
	return slices.ContainsFunc(r.Seen.Questions, func(q QuestionInfo) bool { return r.answer(q.ID) != nil })
}

func (r *run) answer(question string) *Answer {
	for i, a := range r.Answers {
		if a.Question == question {
			return &r.Answers[i]
		}
	}
	return nil
}

func (r *run) labels() string {
	if len(r.Task.Labels) == 0 {
		return ""
	}
	return " with the labels " + strings.Join(r.Task.Labels, ", ")
}

// listens takes what workers and people say. Only the worker of the present epoch is listened to.
func (r *run) listens(ctx workflow.Context) error {
	workflow.Go(ctx, func(ctx workflow.Context) {
		seen := workflow.GetSignalChannel(ctx, SignalSeen)
		for {
			var s Seen
			if more := seen.Receive(ctx, &s); !more {
				return
			}
			if s.Epoch != r.Epoch || r.ended != nil || r.Parked {
				continue
			}
			if r.bound && r.isRepeated(s) {
				if r.held { // what is repeated makes the history long, too
					r.renews(ctx)
				}
				continue
			}
			r.held = true
			r.givesLate(ctx)
			r.sees(ctx, s)
			r.shows(ctx)
			r.renews(ctx)
		}
	})
	workflow.Go(ctx, func(ctx workflow.Context) {
		for now := workflow.GetSignalChannel(ctx, SignalNow); ; {
			var n Now
			if more := now.Receive(ctx, &n); !more {
				return
			}
			if !r.bound || !n.Old {
				r.now = true
			}
		}
	})
	return errors.Join(
		workflow.SetQueryHandler(ctx, QueryInput, func() (Resumable, error) { return Resumable{r.Input}, nil }),
		workflow.SetQueryHandler(ctx, QueryRun, func() (Listed, error) { return r.listed(), nil }),
		workflow.SetUpdateHandler(ctx, UpdateWait, func(ctx workflow.Context) (Listed, error) {
			err := workflow.Await(ctx, func() bool { return r.ended != nil || r.Parked || r.renewing })
			if err == nil && r.ended == nil && !r.Parked {
				return Listed{}, refusal(ErrRefused, "the history of %s begins anew: wait again", r.Task.Run)
			}
			return r.listed(), err
		}),
		workflow.SetUpdateHandlerWithOptions(ctx, UpdateAnswer, r.takeAnswer,
			workflow.UpdateHandlerOptions{Validator: r.mayAnswer}),
		workflow.SetUpdateHandlerWithOptions(ctx, UpdateStop, r.takeStop,
			workflow.UpdateHandlerOptions{Validator: r.mayStop}),
	)
}

func refusal(kind, format string, args ...any) error {
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf(format, args...), kind, nil)
}

// sees takes what a worker says of the run.
func (r *run) sees(ctx workflow.Context, s Seen) {
	r.reopens(ctx, s)
	if s.Commit != "" {
		r.Commit = s.Commit
	}
	if s.Run == nil {
		s.Run, s.Questions = r.Seen.Run, r.Seen.Questions
	}
	s.Kept = cmp.Or(s.Kept, r.Seen.Kept)
	s.Notes = slices.Concat(r.Seen.Notes, s.Notes)
	s.Notes = s.Notes[max(0, len(s.Notes)-maxNotes):] // nobody is shown more
	r.Seen, r.reason, r.changed = s, "", true
}

// reopens takes it back that questions were answered on a worker, where the run has gone on elsewhere from before that:
// whoever has it now asks them again.
func (r *run) reopens(ctx workflow.Context, s Seen) {
	if s.Run == nil {
		return
	}
	for _, q := range s.Questions {
		if r.Closed[q.ID] == "" || r.closed[q.ID] == s.Epoch {
			continue
		}
		if workflow.GetVersion(ctx, "questions asked again", workflow.DefaultVersion, 1) == 1 {
			delete(r.Closed, q.ID)
		}
	}
}

func (r *run) note(text string) {
	if len(r.Seen.Notes) == 0 || r.Seen.Notes[len(r.Seen.Notes)-1] != text {
		r.Seen.Notes = append(r.Seen.Notes, text)
	}
}

// open returns the questions that can be answered.
func (r *run) open() []QuestionInfo {
	var open []QuestionInfo
	if r.ended != nil {
		return nil
	}
	for _, q := range r.Seen.Questions {
		if r.answer(q.ID) == nil && r.Closed[q.ID] == "" {
			open = append(open, q)
		}
	}
	return open
}

// mayStop lets a stop in that was said to this execution of the run, once.
func (r *run) mayStop(ctx workflow.Context, s Stop) error {
	switch {
	case r.ended != nil:
		return refusal(ErrEnded, "%s has ended; there is nothing to stop", r.Task.Run)
	case s.Old:
		return refusal(ErrForeign, "the stop does not say which run it is for: the program that sent it is of an earlier "+
			"build; install claude-supervise-fleet of the workers' build, and try again. Nothing was stopped")
	case s.Execution != workflow.GetInfo(ctx).WorkflowExecution.RunID, s.ID != workflow.GetCurrentUpdateInfo(ctx).ID:
		return refusal(ErrForeign, "the stop was not said to this run of %s, or was said before: nothing was stopped",
			r.Task.Run)
	}
	return nil
}

// mayAnswer lets the first answer to an open question in.
func (r *run) mayAnswer(ctx workflow.Context, a Answer) error {
	if !a.Old && a.ID != workflow.GetCurrentUpdateInfo(ctx).ID {
		return refusal(ErrForeign, "the answer to %s was said before: nothing was kept", a.Question)
	}
	if before := r.answer(a.Question); before != nil {
		return temporal.NewNonRetryableApplicationError(fmt.Sprintf("%s was answered before, by %s at %s: %s", a.Question,
			before.By, before.At.UTC().Format(time.RFC3339), before.Text), ErrTaken, nil, *before)
	}
	if by := r.Closed[a.Question]; by != "" {
		return refusal(ErrTaken, "%s was answered before: %s", a.Question, by)
	}
	if r.ended != nil {
		return refusal(ErrEnded, "%s has ended; its questions count no more", r.Task.Run)
	}
	for _, q := range r.Seen.Questions {
		if q.ID == a.Question {
			return r.hasRoomFor(a)
		}
	}
	return refusal(ErrNoQuestion, "%s asks no question %s", r.Task.Run, a.Question)
}

// mostAnswered bounds the task of a run and all its answers, in bytes as JSON: an attempt begins with them, in one
// payload of 2 MiB, and a new history with what was told of the run as well.
const mostAnswered = 3 << 19

// hasRoomFor refuses an answer that would not fit into what an attempt begins with.
func (r *run) hasRoomFor(a Answer) error {
	doc, err := json.Marshal(Attempt{Task: r.Task, Answers: append(slices.Clip(r.Answers), a)})
	if err == nil && len(doc) > mostAnswered {
		return refusal(ErrRefused, "with this answer of %d bytes the task and the answers of %s would have %d bytes, and a "+
			"fleet takes %d: nothing was kept. Answer in fewer words", len(a.Text), r.Task.Run, len(doc), mostAnswered)
	}
	return err
}

// takeAnswer keeps an answer, and gives it to the worker that has the run.
func (r *run) takeAnswer(ctx workflow.Context, a Answer) (Answered, error) {
	r.Answers = append(r.Answers, a)
	r.fresh, r.changed = true, true
	if !r.held {
		r.late = append(r.late, a)
		r.shows(ctx)
		return Answered{Update: a.ID}, nil
	}
	return r.gives(ctx, a)
}

// changeLate marks in histories that an answer which came while an attempt waited for its worker is given to that.
// Before, a question that is held was asked on.
const changeLate = "answers to a queued run"

// givesLate gives the worker that was just heard the answers that its attempt was not made with.
func (r *run) givesLate(ctx workflow.Context) {
	late := r.late
	r.late = nil
	if len(late) == 0 || workflow.GetVersion(ctx, changeLate, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return
	}
	for _, a := range late {
		workflow.Go(ctx, func(ctx workflow.Context) {
			if _, err := r.gives(ctx, a); err != nil { // whoever has answered was told that it is kept
				r.note(fmt.Sprintf("the answer to %s by %s was not taken: %v", a.Question, a.By, err))
			}
		})
	}
}

// gives gives the worker that has the run an answer, and says whether it took it before the run was lost.
func (r *run) gives(ctx workflow.Context, a Answer) (Answered, error) {
	epoch := r.Epoch
	sent, cancel := workflow.WithCancel(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: r.Seen.Queue, StartToCloseTimeout: 20 * time.Second, ScheduleToCloseTimeout: tooLong,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: 5 * time.Second},
	}))
	giving := workflow.ExecuteActivity(sent, Deliver, Delivery{Run: r.Task.Run, Epoch: epoch, Answer: a})
	lost := func() bool { return !r.held || r.Epoch != epoch }
	if err := workflow.Await(ctx, func() bool { return giving.IsReady() || lost() }); err != nil {
		return Answered{}, err
	}
	if !giving.IsReady() {
		cancel() // whoever has the run next is given it
		r.shows(ctx)
		return Answered{Update: a.ID}, nil
	}
	err := giving.Get(ctx, nil)
	var no *temporal.ApplicationError
	if errors.As(err, &no) && (no.Type() == ErrRefused || no.Type() == ErrTaken) {
		r.forget(a.Question)
		if no.Type() == ErrTaken { // on the worker's machine
			if r.Closed == nil {
				r.Closed = map[string]string{}
			}
			r.Closed[a.Question] = no.Message()
			r.closed[a.Question] = epoch
		}
		r.shows(ctx)
		return Answered{}, refusal(no.Type(), "%s", no.Message())
	}
	r.shows(ctx)
	return Answered{Given: err == nil, Update: a.ID}, nil
}

func (r *run) forget(question string) {
	r.Answers = slices.DeleteFunc(slices.Clone(r.Answers), func(a Answer) bool { return a.Question == question })
	r.changed = true
}

// changeStop marks in histories that a stop ends a run which no worker has spoken of yet. Before, it was lost.
const changeStop = "stop of a queued run"

// takeStop ends the run: on the worker that has it, or here. It waits for neither. A worker that has begun with the
// run, and has not said so yet, loses it: it ends the agents at its next heartbeat.
func (r *run) takeStop(ctx workflow.Context, s Stop) error {
	r.stopping = s.By
	if !r.held {
		if workflow.GetVersion(ctx, changeStop, workflow.DefaultVersion, 1) != workflow.DefaultVersion && r.cancel != nil {
			r.cancel()
		}
		return nil
	}
	epoch := r.Epoch
	sent, cancel := workflow.WithCancel(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: r.Seen.Queue, StartToCloseTimeout: 20 * time.Second, ScheduleToCloseTimeout: tooLong,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: 5 * time.Second},
	}))
	defer cancel()
	halting := workflow.ExecuteActivity(sent, Halt, Stopping{Run: r.Task.Run, Epoch: epoch, By: s.By})
	return workflow.Await(ctx, func() bool { return halting.IsReady() || !r.held || r.Epoch != epoch })
}

// waits says why no worker has the run.
func (r *run) waits(ctx workflow.Context, why string) {
	r.held, r.reason, r.since, r.changed = false, why, workflow.Now(ctx), true
	r.shows(ctx)
}

// ends ends the run. A reason is given where no worker has said one.
func (r *run) ends(ctx workflow.Context, code int, reason string) {
	r.ended, r.reason, r.since, r.changed = &code, reason, workflow.Now(ctx), true
	r.shows(ctx)
}
