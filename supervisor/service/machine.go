package service

import (
	"context"
	"fmt"

	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/view"
)

// A Machine is what a Service of this user's runs here reads; the program does the rest. It opens their state anew for
// each thing that is asked for: that may be made, moved or replaced at any time.
type Machine struct {
	There bool // there is a state: where it is gone, that is an error that view.Gone knows
	// Client opens the state for what is left there, which is there: where it is gone, a new one would hide what it holds.
	Client func() (client.Client, error)
}

// Act does something with the state.
func Act[T any](m Machine, do func(client.Client) (T, error)) (done T, err error) {
	c, err := m.Client()
	switch {
	case view.Gone(err):
		return done, fmt.Errorf("nothing was done: %w", err)
	case err != nil:
		return done, err
	}
	defer func() { _ = c.Close() }() // what was left is on disk
	return do(c)
}

// Answer is Reply.
func (m Machine) Answer(ctx context.Context, id string, a Answer) (Kept, error) {
	return Act(m, func(c client.Client) (Kept, error) { return Reply(ctx, c, id, a) })
}

// Watch is view.Reader.WatchOverview.
func (m Machine) Watch(ctx context.Context, look <-chan struct{}, each func(view.Overview) error) error {
	_, err := reading(m, func(r view.Reader) (struct{}, error) { return struct{}{}, r.WatchOverview(ctx, look, each) })
	return err
}

// Past gives runs that have ended.
func (m Machine) Past(ctx context.Context, skip, most int) ([]view.RunView, error) {
	return reading(m, func(r view.Reader) ([]view.RunView, error) { return r.PastRuns(ctx, skip, most) })
}

// Run gives a run.
func (m Machine) Run(ctx context.Context, id string) (view.RunView, error) {
	return reading(m, func(r view.Reader) (view.RunView, error) {
		run, _, err := view.RunNamed(ctx, r.Store, id)
		if err != nil {
			return view.RunView{}, err
		}
		return r.Run(ctx, run)
	})
}

// Show is view.Reader.Show, and says whether the run has lost its folder.
func (m Machine) Show(ctx context.Context, id string) (view.Details, error) {
	return reading(m, func(r view.Reader) (view.Details, error) {
		d, err := r.Show(ctx, id)
		if err == nil {
			d.Run.LookForFolder()
		}
		return d, err
	})
}

// Report gives what happened in a run. A fleet has no report.
func (m Machine) Report(ctx context.Context, id string) (view.RunReport, error) {
	return reading(m, func(r view.Reader) (view.RunReport, error) { return r.Report(ctx, id) })
}

// Question gives a question.
func (m Machine) Question(ctx context.Context, id string) (view.QuestionView, error) {
	return reading(m, func(r view.Reader) (view.QuestionView, error) { return r.FindQuestion(ctx, id) })
}

// Log gives the log of an agent.
func (m Machine) Log(ctx context.Context, id string) (Log, error) {
	return reading(m, func(r view.Reader) (Log, error) {
		log, err := r.Log(ctx, id)
		return fileLog{log}, err
	})
}

// Follow reads only the end of what was said before.
func (m Machine) Follow(ctx context.Context, id string, n int, each func(said []string) error) error {
	_, err := reading(m, func(r view.Reader) (none struct{}, err error) {
		found, err := r.RunLog(ctx, id)
		if err != nil {
			return none, err
		}
		said, log, err := found.Recent(ctx, n)
		if err == nil {
			err = each(said)
		}
		if err != nil {
			return none, err
		}
		prose := found.Prose()
		_, err = log.Follow(ctx, func(line view.LogLine) error { return each(prose(line)) })
		return none, err
	})
	return err
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

func reading[T any](m Machine, read func(view.Reader) (T, error)) (found T, err error) {
	opened := view.OpenReader
	if m.There {
		opened = view.OpenExistingReader
	}
	r, err := opened()
	if err != nil {
		return found, err
	}
	defer func() { _ = r.Close() }() // only read
	return read(r)
}
