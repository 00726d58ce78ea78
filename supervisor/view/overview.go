package view

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/filedrop"
	"claude-supervise/supervisor/sessions"
)

// An Overview is what a person has before them: everything that goes on, and all that waits for an answer.
type Overview struct {
	At        time.Time      // when the look began: what was saved before is in it
	Runs      []RunView      // that have not ended, oldest first
	Questions []QuestionView // that are open, those of scripts included: urgent ones first, then the oldest
	Problems  []string       // question files that cannot be read, and what Gone says
	Gone      error          // the database is not there any more: the rest is what it was; nil: it is there

	Ended  []RunView      // that had not ended at the look before
	Closed []QuestionView // that were open at the look before, as they are now
}

// WatchOverview gives the overview at once, and again after each change and each value of look. It blocks until ctx
// ends (nil), each gives an error, or the state cannot be read. Where there is no state yet it waits for it; where the
// database is gone it gives the last overview again, with that among its problems.
func (r Reader) WatchOverview(ctx context.Context, look <-chan struct{}, each func(Overview) error) error {
	besides := make(chan struct{}, 1)
	waiting, cancel := context.WithCancel(ctx)
	stop := r.forwardFileChanges(waiting, look, besides)
	defer stop()
	defer cancel() // first: stop waits for what this ends
	var before Overview
	var memory remembered
	gone := func(err error) error {
		last := before
		last.Gone, last.Problems = err, append(slices.Clip(before.Problems), err.Error())
		last.Ended, last.Closed = nil, nil
		return each(last)
	}
	err := r.followBeside(ctx, besides, gone, func(ctx context.Context, now Reader) ([]RunView, bool, error) {
		o, err := now.overview(ctx, before, &memory)
		if err == nil {
			before, err = o, each(o)
		}
		return o.Runs, true, err
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// forwardFileChanges passes on what comes by look, and each change of the folders of what is asked by no run, until ctx
// ends. What the kernel does not tell of those is found at the look of each minute.
func (r Reader) forwardFileChanges(ctx context.Context, look <-chan struct{}, besides chan<- struct{}) (stop func()) {
	watched := []string{sessions.Folder(r.Dirs)}
	if folder, err := filedrop.ClaudeFolder(os.Getenv); err == nil {
		watched = append(watched, filedrop.Watched(folder)...)
	}
	var changed <-chan struct{} // nil: the kernel does not tell
	changes, err := files.NewWatch(func(string) bool { return true }, watched...)
	if err == nil {
		changed = changes.C
	}
	var passing sync.WaitGroup
	passing.Go(func() {
		for {
			select {
			case <-look:
			case <-changed:
			case <-ctx.Done():
				return
			}
			select {
			case besides <- struct{}{}:
			default: // a value that has not been received yet says it all
			}
		}
	})
	return func() {
		passing.Wait()
		if changed != nil {
			changes.Close()
		}
	}
}

// remembered is what was read at the look before, and need not be read again.
type remembered struct {
	runs checkpoints.Memory
	asks sessions.Memory
}

func (r Reader) overview(ctx context.Context, before Overview, memory *remembered) (Overview, error) {
	o := Overview{At: time.Now()}
	var err error
	if o.Runs, o.Questions, err = r.goingOn(ctx, &memory.runs); err != nil {
		return o, err
	}
	beside, problems, err := r.OfNoRun(ctx, &memory.asks)
	if o.Problems = problems; err != nil { // it keeps no question of a run from being seen
		o.Problems = append(o.Problems, "questions by file cannot be read: "+err.Error())
	}
	o.Questions = append(o.Questions, beside...)
	slices.SortStableFunc(o.Questions, byUrgency)
	goesOn, open := map[string]bool{}, map[string]bool{}
	for _, v := range o.Runs {
		goesOn[v.ID] = true
	}
	for _, q := range o.Questions {
		open[q.Run+" "+q.ID] = true
	}
	for _, v := range before.Runs {
		if goesOn[v.ID] {
			continue
		}
		now, err := r.Run(ctx, v.ID)
		if NoSuchID(err) { // it was pruned
			now, err = v, nil
		}
		if err != nil {
			return o, err
		}
		o.Ended = append(o.Ended, now)
	}
	for _, q := range before.Questions {
		if open[q.Run+" "+q.ID] {
			continue
		}
		now, err := r.closed(ctx, q)
		if err != nil {
			return o, err
		}
		o.Closed = append(o.Closed, now)
	}
	return o, nil
}

// closed returns a question that is open no more, as it is now. Of a script's question nothing is known but that: its
// file has gone, or an answer lies there for it.
func (r Reader) closed(ctx context.Context, q QuestionView) (QuestionView, error) {
	if q.Run != "" {
		now, err := Question(ctx, r.Store, q.ID)
		if err == nil {
			v := r.View(now)
			v.RunName, v.Cwd = q.RunName, q.Cwd
			return v, nil
		}
		var unknown *checkpoints.UnknownError
		if !errors.As(err, &unknown) { // its run was pruned
			return QuestionView{}, err
		}
	}
	if q.Session != nil {
		if now, of := SessionQuestion(r.Dirs, q.ID); of {
			return now, nil
		}
	}
	q.State = checkpoints.QuestionWithdrawn
	if q.Run == "" && filedrop.Lies(q.ID) {
		q.State = checkpoints.QuestionAnswered
	}
	return q, nil
}

// byUrgency orders the questions as a person should take them.
func byUrgency(a, b QuestionView) int {
	if a.Urgent != b.Urgent {
		if a.Urgent {
			return -1
		}
		return 1
	}
	return a.AskedAt.Compare(b.AskedAt)
}

// FindQuestion returns the question that an id or its start names, or the name of a question file, with the answer that
// nobody has taken yet; *checkpoints.UnknownError, as NoSuchID tells, if there is none.
func FindQuestion(ctx context.Context, store *checkpoints.Store, id string) (*supervisor.Question, error) {
	kind, full, err := store.Resolve(ctx, id)
	switch {
	case err == nil && kind == checkpoints.KindQuestion:
		return Question(ctx, store, full)
	case err == nil:
		err = &checkpoints.UnknownError{ID: id}
	case !NoSuchID(err):
		return nil, err
	}
	if q, wrong := filedrop.Named(ctx, store, id); wrong == nil { // a file may be called anything
		return q, nil
	}
	return nil, err
}

// FindQuestion is the function of this name, as it is shown.
func (r Reader) FindQuestion(ctx context.Context, id string) (QuestionView, error) {
	q, err := FindQuestion(ctx, r.Store, id)
	if NoSuchID(err) {
		if v, of := SessionQuestion(r.Dirs, id); of {
			return v, nil
		}
		if closed := filedrop.Closed(id); closed != nil {
			return View(closed), nil
		}
	}
	if err != nil {
		return QuestionView{}, err
	}
	v := r.View(q)
	if v.Run == "" {
		if filedrop.Lies(v.ID) {
			v.State, v.AnswerCommand = checkpoints.QuestionAnswered, ""
		}
		return v, nil
	}
	run, err := r.Store.Run(ctx, v.Run)
	if err != nil {
		return QuestionView{}, err
	}
	v.RunName, v.Cwd = run.Name, run.Cwd
	return v, nil
}
