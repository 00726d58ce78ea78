package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/pack"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// endsWithin is how long the supervisor of a run that is lost may take to end its agents, before it is killed.
const endsWithin = 20 * time.Second

// supervise is the activity that has a run until it ends, parks, or this worker leaves.
func (w *Worker) supervise(ctx context.Context, a flow.Attempt) (out flow.Outcome, err error) {
	h := &held{Worker: w, Attempt: a, commit: a.Commit, gone: make(chan struct{}),
		asked: make(chan struct{}, 1), news: make(chan struct{}, 1),
		dir: filepath.Join(w.Dir, "runs", fmt.Sprintf("%s.%d", a.Task.Run, a.Epoch))}
	if !flow.IsRun(a.Task.Run) {
		return out, never("%q is not an id of a run", a.Task.Run)
	}
	if !w.room.take() {
		return flow.Outcome{Full: true}, nil
	}
	defer w.room.leave()
	before := w.add(h)
	defer w.remove(h)
	if err := os.MkdirAll(h.snapshotsOf(), 0o700); err != nil {
		return out, err
	}
	defer func() {
		if left := h.removes(); left != nil {
			w.Log.Warn("what a run has left cannot be removed", "folder", h.dir, "error", left)
		}
	}()

	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	token := activity.GetInfo(ctx).TaskToken
	beat := func(ctx context.Context) error {
		h.mu.Lock()
		last := h.last
		h.mu.Unlock()
		return w.Client.RecordActivityHeartbeat(ctx, token, last)
	}
	renew := func(until time.Duration) error {
		h.mu.Lock()
		h.until = until
		h.mu.Unlock()
		return pack.Lease(h.snapshots(), a.Task.Run, until)
	}
	beating := make(chan struct{})
	go func() {
		defer close(beating)
		if err := holdLease(ctx, a.Task.Lease, beat, renew, leaseTime); err != nil {
			leave(err)
		}
	}()
	var showing sync.WaitGroup
	showing.Go(func() { h.showsApart(ctx, a.Task.Lease) })
	defer func() { leave(nil); <-beating; showing.Wait() }()
	if before != nil { // this worker was not heard of, and has not ended it yet
		select {
		case <-before.gone:
		case <-ctx.Done():
			return out, context.Cause(ctx)
		}
	}
	out, err = h.run(ctx)
	if errors.Is(context.Cause(ctx), errLost) {
		return out, errLost
	}
	return out, err
}

func never(format string, args ...any) error {
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf(format, args...), flow.ErrNever, nil)
}

// run prepares the folder of the run, and supervises it.
func (h *held) run(ctx context.Context) (flow.Outcome, error) {
	origin, told, err := h.Store.Newest(ctx, h.Task.Run, h.Epoch, filepath.Join(h.dir, "from"),
		func(file string) error { return h.goOnFrom(ctx, file) })
	if err != nil {
		return flow.Outcome{}, err
	}
	for _, t := range told {
		h.note("%s", t)
	}
	if err := h.lost(origin, told); err != nil {
		return flow.Outcome{}, err
	}
	args, stdin, ended := []string{"resume", h.Task.Run}, "", false
	if origin.Epoch > 0 { // the run was taken out of it, so it is whole
		if err := h.isSafe(origin.Epoch, origin.File); err != nil {
			return flow.Outcome{}, err
		}
		if err := h.Store.Keep(ctx, h.Task.Run, origin.Epoch); err != nil {
			h.Log.Warn("old snapshots cannot be removed", "run", h.Task.Run, "error", err)
		}
		if ended, err = h.hasEnded(ctx); err != nil {
			return flow.Outcome{}, err
		}
	}
	if !ended || !h.isFinal(origin.Epoch) {
		if err := h.findsClaude(); err != nil {
			return flow.Outcome{}, err
		}
	}
	switch {
	case origin.Epoch == 0:
		if err := h.place(ctx); err != nil {
			return flow.Outcome{}, err
		}
		if args, stdin, err = h.runArgs(); err != nil {
			return flow.Outcome{}, err
		}
	case ended && h.isFinal(origin.Epoch):
		return h.handsIn(ctx)
	case ended && h.Retry:
		args = []string{"resume", "--failed", h.Task.Run}
	}
	if origin.Epoch > 0 {
		if err := h.answers(ctx); err != nil {
			return flow.Outcome{}, err
		}
	}
	if origin.Epoch > 0 {
		args = h.resumed(args)
	} else if args = h.supervised(args); len(h.Task.Claude) > 0 {
		args = append(append(args, "--"), h.Task.Claude...)
	}
	return h.untilSaved(ctx, args, stdin)
}

// findsClaude looks whether this machine has what the run needs to go on. Another worker may have it: to begin the run
// without would end it.
func (h *held) findsClaude() error {
	demo := slices.ContainsFunc(h.Task.Flags, func(f string) bool { return strings.HasPrefix(f, "--demo=") })
	if demo || h.Task.Exec != "" {
		return nil
	}
	if _, err := doctor.FindClaude("", os.Environ()); err != nil {
		return fmt.Errorf("worker %s has no claude: %w. Install claude there and log in, or start a worker elsewhere", h.Name,
			err)
	}
	return nil
}

// supervised adds to the arguments of a supervisor what each of this worker is given.
func (h *held) supervised(args []string) []string {
	return append(args, "--json", "--no-notify", "--on-question", "park", "--snapshots", h.snapshots())
}

// resumed is supervised for one that goes on with the run: no file names a program to run.
func (h *held) resumed(args []string) []string {
	if args = h.supervised(args); h.Task.Exec != "" {
		args = append(args, "--exec", h.Task.Exec)
	}
	return args
}

// lost looks whether the blob store has lost a snapshot that was in it. A run that goes on from an older one says so.
// One that has none any more is not begun anew: what was answered and done would be silently gone. told is what was
// wrong with those that there are.
func (h *held) lost(origin Origin, told []string) error {
	from := ""
	if origin.Epoch > 0 {
		from = snapshotName(origin.Epoch, filepath.Base(origin.File))
	}
	switch {
	case from >= h.Kept:
		return nil
	case from != "":
		h.note("snapshot %s cannot be used any more: the run continues from %s, and what came between is done again",
			h.Kept, from)
		return nil
	}
	return fmt.Errorf("the blob store has no snapshot of it that can be used, and had %s: it is not begun anew. Look "+
		"whether worker %s uses the fleet's store; or give the run up: claude-supervise fleet stop %s%s", h.Kept, h.Name,
		h.Task.Run, text.Line(strings.Join(append([]string{""}, told...), " · "), 1000))
}

// hasEnded reports whether the run has ended in the snapshot that it goes on from. One that was ended by the fleet,
// while no worker had it, has not.
func (h *held) hasEnded(ctx context.Context) (bool, error) {
	c, err := h.opened()
	if err != nil || c == nil {
		return false, err
	}
	run, err := c.Reader().Run(ctx, h.Task.Run)
	return run.EndedAt != nil, err
}

// isFinal reports whether the end of a run that stands in a snapshot of an epoch is its end: the worker that had that
// epoch was lost before it could say so. An end that a person has resumed the run after is none.
func (h *held) isFinal(epoch int) bool {
	asked := h.Retry && h.Revive == 0 // by a release that does not say after which epoch
	return epoch > h.Revive && !asked
}

// handsIn says how the run has ended in the snapshot.
func (h *held) handsIn(ctx context.Context) (flow.Outcome, error) {
	seen, err := h.look(ctx)
	if err != nil {
		return flow.Outcome{}, err
	}
	if seen.Run == nil || seen.Run.ExitCode == nil {
		return flow.Outcome{}, fmt.Errorf("the snapshot of %s does not say how it has ended", h.Task.Run)
	}
	h.records(ctx)
	return flow.Outcome{Seen: seen, Code: *seen.Run.ExitCode}, nil
}

// runArgs gives the arguments that begin the run, and its stdin.
func (h *held) runArgs() (args []string, stdin string, err error) {
	args = []string{"run"}
	if h.Task.File != "" {
		file := filepath.Join(h.dir, "task.yaml")
		if err := os.WriteFile(file, []byte(h.Task.File), 0o600); err != nil {
			return nil, "", err
		}
		args = append(args, "-f", file)
	}
	if h.Task.Prompt != "" {
		args, stdin = append(args, "-"), h.Task.Prompt
	}
	if h.Task.Exec != "" {
		args = append(args, "--exec", h.Task.Exec)
	}
	if h.Task.AnswersFile != "" {
		file := filepath.Join(h.dir, "answers.yaml")
		if err := os.WriteFile(file, []byte(h.Task.AnswersFile), 0o600); err != nil {
			return nil, "", err
		}
		args = append(args, "--answers", file)
	}
	if h.Task.Name != "" {
		args = append(args, "--name", h.Task.Name)
	}
	return append(append(args, "--cwd", h.work()), h.Task.Flags...), stdin, nil
}

// place makes the folder in which the agents work.
func (h *held) place(ctx context.Context) error {
	if err := os.RemoveAll(h.work()); err != nil { // of a snapshot that could not be unpacked
		return err
	}
	if h.Task.Repo == "" {
		return os.MkdirAll(h.work(), 0o700)
	}
	commit, err := h.Repos.Clone(ctx, h.Task.Repo, h.Task.Ref, h.commit, h.work())
	switch {
	case err == nil:
		h.commit = commit
	case errors.Is(err, errGone) && h.commit == "":
		return never("%v", err)
	case errors.Is(err, errGone): // since the run has begun
		return fmt.Errorf("%w any more: push it again, or start a worker that has cloned it before; or give the run up: "+
			"claude-supervise fleet stop %s", err, h.Task.Run)
	}
	return err
}

// goOnFrom takes the run out of a snapshot.
func (h *held) goOnFrom(ctx context.Context, file string) error {
	h.close()
	if err := os.RemoveAll(h.stateHome()); err != nil {
		return err
	}
	if err := h.place(ctx); err != nil {
		return err
	}
	u, err := h.unpack(ctx, file)
	if err != nil {
		return err
	}
	if u.Snapshot != nil && len(u.Snapshot.InTurn) > 0 {
		h.note("a turn was under way when the snapshot was taken: it is done again")
	}
	for _, w := range u.Withheld {
		if w.Again == "" { // else the task gives it again (unpack)
			h.note("not taken along: %s", w.What)
		}
	}
	return h.marks(ctx)
}

// answers gives the run the answers that were acknowledged and that its snapshot does not have.
func (h *held) answers(ctx context.Context) error {
	c, err := h.opened()
	if err != nil || c == nil {
		return err
	}
	open, err := c.Reader().Questions(ctx)
	if err != nil {
		return err
	}
	for _, q := range open {
		for _, a := range h.Answers {
			if a.Question != q.ID {
				continue
			}
			var taken *client.TakenError
			if err := h.give(ctx, a); err != nil && !errors.As(err, &taken) {
				h.note("the answer to %s by %s was not taken: %v", a.Question, a.By, err)
			}
		}
	}
	return nil
}

// drive has the supervisor of the run run, tells the workflow what becomes of it, and gives how it left the run.
func (h *held) drive(ctx context.Context, args []string, stdin string) (flow.Outcome, error) {
	news, changed := h.news, h.hasNews
	leaving := activity.GetWorkerStopChannel(ctx)
	select {
	case <-leaving: // nothing is begun any more
		seen, err := h.look(ctx)
		return flow.Outcome{Seen: seen, Back: true}, err
	default:
	}
	if err := h.inherits(ctx); err != nil {
		return flow.Outcome{}, err
	}
	p, err := h.startSupervisor(args, stdin, func(event []byte) {
		h.room.refused(refusalIn(event))
		changed()
	})
	if err != nil {
		return flow.Outcome{}, err
	}
	h.mu.Lock()
	h.super = p
	h.mu.Unlock()
	var beside sync.WaitGroup
	defer beside.Wait()
	uploading, stopUploads := context.WithCancel(ctx)
	defer stopUploads()
	last, uploaded := make(chan struct{}), make(chan error, 1)
	go func() { uploaded <- h.uploads(uploading, last, changed) }()

	back, resting, hurry := false, (chan struct{})(nil), (<-chan struct{})(nil)
	givesBack := func() {
		back, resting = true, make(chan struct{})
		beside.Go(func() { h.rests(uploading, p); close(resting) })
	}
	asked := h.asked
	for running := true; running; {
		select {
		case <-news:
			h.tell(ctx, changed)
		case <-asked:
			if asked = nil; !back {
				givesBack()
			}
		case <-leaving:
			leaving, hurry = nil, h.Hurry
			if !back {
				givesBack()
			}
		case <-resting:
			resting = nil
			p.interrupt()
		case <-hurry:
			hurry = nil
			p.interrupt()
		case <-p.ended:
			running = false
		case <-ctx.Done(): // the run is not ours any more
			stopUploads()
			h.end(p)
			return flow.Outcome{}, errors.Join(context.Cause(ctx), <-uploaded)
		}
	}
	close(last)
	for all := false; !all; {
		select {
		case err := <-uploaded:
			if err != nil {
				return flow.Outcome{}, err
			}
			all = true
		case <-news:
			h.tell(ctx, changed) // that it cannot be uploaded
		}
	}
	seen, err := h.look(ctx)
	if err != nil {
		return flow.Outcome{}, err
	}
	if seen.Run != nil {
		h.records(ctx)
	}
	return h.outcome(p, seen, back)
}

// outcome says how a supervisor has left the run.
func (h *held) outcome(p *process, seen flow.Seen, back bool) (flow.Outcome, error) {
	out := flow.Outcome{Seen: seen, Code: p.code}
	h.mu.Lock()
	lacks := lacking(seen, h.safe)
	h.mu.Unlock()
	var snapshot view.RunSnapshot // the last; the zero value: none was taken
	if seen.Run != nil && seen.Run.Snapshot != nil {
		snapshot = *seen.Run.Snapshot
	}
	switch {
	case seen.Run != nil && seen.Run.EndedAt != nil && seen.Run.ExitCode != nil:
		out.Code = *seen.Run.ExitCode
		if lacks == "" {
			break
		}
		if snapshot.Problem == "" {
			return out, fmt.Errorf("the run has ended on %s, and %s", h.Name, lacks)
		}
		out.Seen.Notes = append(out.Seen.Notes, "what its agents wrote last is in no snapshot: "+snapshot.Problem+
			h.keepsWork())
	case p.code == supervisor.ExitParked, p.code == supervisor.ExitBudget:
		switch {
		case lacks != "" && !back && snapshot.TooLarge:
			return out, never("it was parked on %s, and cannot be taken elsewhere: %s%s. Then go on from its last snapshot: "+
				"claude-supervise fleet resume --failed %s", h.Name, snapshot.Problem, h.keepsWork(), h.Task.Run)
		case lacks != "" && !back && snapshot.Problem != "":
			return out, &unsavedError{problem: snapshot.Problem}
		case lacks != "" && !back && snapshot.Due: // what it asks can be answered here
			return out, &unsavedError{problem: lacks}
		case lacks != "" && !back:
			return out, fmt.Errorf("the run was parked on %s, and %s", h.Name, lacks)
		case lacks != "":
			out.Back = true
			return out, nil
		}
		out.Code, out.Seen.Left = supervisor.ExitParked, p.code
	case back:
		out.Back = true
		return out, nil
	case p.code == supervisor.ExitUsage:
		return out, never("the worker's claude-supervise refuses the task: %s", p.said())
	default:
		return out, fmt.Errorf("claude-supervise on %s ended with %d: %s", h.Name, p.code, p.said())
	}
	return out, nil
}

// lacking says what the blob store lacks of a run that its supervisor has left, where the newest snapshot there is of
// a moment; "": nothing. Who hands such a run in loses that.
func lacking(seen flow.Seen, safe pack.Moment) string {
	if seen.Run == nil {
		return "nothing is known of it"
	}
	switch s := seen.Run.Snapshot; {
	case s == nil || s.At == nil && s.Problem == "":
		return "no snapshot of it was taken"
	case s.Problem != "":
		return "no snapshot of this could be taken: " + s.Problem
	case s.Due:
		return "its lease had run out before there was a snapshot of this"
	case safe.At.Before(*s.At):
		return "the snapshot of this is not in the blob store"
	}
	for _, a := range seen.Run.Agents {
		for _, q := range a.OpenQuestions {
			if !slices.Contains(safe.Questions, q) {
				return "its question " + q + " is in no snapshot"
			}
		}
	}
	return ""
}

// end ends the supervisor of a run that is lost, and its agents with it: it sees that another has the next epoch.
func (h *held) end(p *process) {
	bound, cancel := context.WithTimeout(context.Background(), endsWithin)
	defer cancel()
	if _, err := pack.FolderOf(h.snapshots(), h.Task.Run).TakeOver(bound, h.Epoch); err != nil {
		p.interrupt()
	}
	select {
	case <-p.ended:
		return
	case <-bound.Done():
	}
	p.kill()
	<-p.ended
	h.sweep(context.Background())
}

// sweep ends what a supervisor that was killed has left behind.
func (h *held) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, endsWithin)
	defer cancel()
	if _, err := h.does(ctx, "stop", h.Task.Run); err != nil {
		h.Log.Warn("what is left of a run could not be ended", "run", h.Task.Run, "error", err)
	}
}

// tellWithin is how long the server may take to be told something; tellAgain is when that is tried again.
const (
	tellWithin = 5 * time.Second
	tellAgain  = 2 * time.Second
)

// tell says to the workflow what has become of the run, where it does not know it; again is called later where the
// server cannot be told now.
func (h *held) tell(ctx context.Context, again func()) {
	seen, err := h.look(ctx)
	if err != nil {
		h.Log.Warn("the run cannot be read", "run", h.Task.Run, "error", err)
		time.AfterFunc(tellAgain, again)
		return
	}
	seen.Run = unended(seen.Run)
	h.mu.Lock()
	same := sameSeen(seen, h.last)
	h.mu.Unlock()
	if same {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	err = h.Client.SignalWorkflow(ctx, h.Task.Run, "", flow.SignalSeen, seen)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		h.notes = append(seen.Notes, h.notes...)
		time.AfterFunc(tellAgain, again)
		return
	}
	h.last = seen
}

// unended gives a run as it is told of before its outcome is handed in: until then it can still be done again from its
// last snapshot, so nobody is told that it has ended.
func unended(run *view.RunView) *view.RunView {
	if run == nil || run.EndedAt == nil && !run.Status.Ended() {
		return run
	}
	r := *run
	r.Status, r.Reason, r.EndedAt, r.ExitCode = "running", "it is about to end", nil, nil
	return &r
}

// sameSeen reports whether the workflow need not be told of a change: what only counts up, it is told with the next.
func sameSeen(a, b flow.Seen) bool {
	if len(a.Notes) > 0 {
		return false
	}
	if (a.Kept == "") != (b.Kept == "") {
		return false
	}
	a.Notes, b.Notes, a.Kept, b.Kept = nil, nil, "", ""
	for _, s := range []*flow.Seen{&a, &b} {
		if s.Run == nil {
			continue
		}
		run := *s.Run
		run.CostUSD, run.SupervisorPID, run.Agents = 0, 0, slices.Clone(run.Agents)
		for i, agent := range run.Agents {
			run.Agents[i] = view.AgentView{ID: agent.ID, Status: agent.Status, Reason: agent.Reason}
		}
		s.Run = &run
	}
	one, err := json.Marshal(a)
	other, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(one, other)
}
