package web

import (
	"context"

	"claude-supervise/supervisor/view"
)

// State is the Source of this user's state, which must be there when it is first read. It opens that anew for each
// thing that is asked for: it may be moved or replaced at any time.
type State struct{}

// Watch is view.Reader.WatchOverview.
func (State) Watch(ctx context.Context, look <-chan struct{}, each func(view.Overview) error) error {
	_, err := reading(func(r view.Reader) (struct{}, error) { return struct{}{}, r.WatchOverview(ctx, look, each) })
	return err
}

// Past gives runs that have ended.
func (State) Past(ctx context.Context, skip, most int) ([]view.RunView, error) {
	return reading(func(r view.Reader) ([]view.RunView, error) { return r.PastRuns(ctx, skip, most) })
}

// Run gives a run.
func (State) Run(ctx context.Context, id string) (view.RunView, error) {
	return reading(func(r view.Reader) (view.RunView, error) {
		run, _, err := view.RunNamed(ctx, r.Store, id)
		if err != nil {
			return view.RunView{}, err
		}
		return r.Run(ctx, run)
	})
}

// Report gives what happened in a run, as Actions have it.
func (State) Report(ctx context.Context, id string) (view.RunReport, error) {
	return reading(func(r view.Reader) (view.RunReport, error) { return r.Report(ctx, id) })
}

// Question gives a question.
func (State) Question(ctx context.Context, id string) (view.QuestionView, error) {
	return reading(func(r view.Reader) (view.QuestionView, error) { return r.FindQuestion(ctx, id) })
}

// Log gives the log of an agent.
func (State) Log(ctx context.Context, id string) (Log, error) {
	return reading(func(r view.Reader) (Log, error) {
		log, err := r.Log(ctx, id)
		return fileLog{log}, err
	})
}

// A fileLog is a log of this user's state.
type fileLog struct{ view.Log }

func (l fileLog) Of() (run, agent string) { return l.Log.Run, l.Log.Agent }

func (l fileLog) Recent(_ context.Context, n int) (said []string, place int64, err error) {
	said, rest, err := l.Log.Recent(n)
	return said, rest.Place(), err
}

func (l fileLog) Part(_ context.Context, place int64, most int) (lines []LogLine, next int64, more bool, err error) {
	raw, next, err := l.Log.Part(place, most)
	for _, line := range raw {
		lines = append(lines, LogLine{Line: line, Said: view.Said(line)})
	}
	return lines, next, len(raw) > 0 && next < l.Log.Size(), err
}

func (l fileLog) Follow(ctx context.Context, place int64, each func(said []string, place int64) error) error {
	say := view.Prose(l.Log.Agent)
	return l.Log.From(place).Until(ctx, nil, func(line []byte) error {
		place += int64(len(line))
		return each(say(line), place)
	})
}

func reading[T any](read func(view.Reader) (T, error)) (found T, err error) {
	r, err := view.OpenExistingReader()
	if err != nil {
		return found, err
	}
	defer func() { _ = r.Close() }() // only read
	return read(r)
}
