package engine

import (
	"context"
	"slices"
	"sync"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/notice"
)

// keepFileDrop opens the file drop and keeps it until stop is called, which waits for the last look. Where the folders
// cannot be used the run goes on without them.
func (e *engine) keepFileDrop(ctx context.Context) (stop func()) {
	drop, err := read(&e.disk, func() (FileDrop, error) { return e.Machine.OpenFileDrop(e.run, e.news) })
	if err != nil {
		e.Tell(notice.Notification{Time: e.Now(), Run: e.run, Type: notice.Progress, Trouble: true,
			Text: err.Error() + "; questions are answered in the other ways"})
	}
	if drop == nil {
		return func() {}
	}
	e.fileDrop = drop
	drop.Loosen(true) // until setWatches
	lying := e.state.FindQuestions(func(*supervisor.Question) bool { return true })
	if !within(answerTime, func() { drop.TakeLying(ctx, lying) }) {
		e.log.Error().Msg("the folder of answer files does not respond")
	}
	ctx, cancel := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	keeping.Go(func() { drop.Run(ctx) })
	return func() {
		cancel()
		keeping.Wait()
	}
}

// expects reports whether the answer to an open question lies in its file and has yet to be taken. That it was, or
// cannot be, the engine hears. A disk that does not answer has none.
func (e *engine) expects(open []*supervisor.Question) bool {
	if e.fileDrop == nil {
		return false
	}
	ids := e.fileDrop.Awaited(open)
	lies, err := read(&e.disk, func() (bool, error) { return slices.ContainsFunc(ids, e.fileDrop.Answered), nil })
	return err == nil && lies
}
