package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/images"
	"claude-supervise/supervisor/precedents"
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

// ImageTypes are those of images that agents can be shown.
func (Machine) ImageTypes() []string { return images.Types() }

// Image returns an image that a question shows, or that belongs to its answer, as it was kept. The error for another is
// NotThere.
func (m Machine) Image(ctx context.Context, question, hash string) (data []byte, mediaType string, err error) {
	q, err := Read(m, func(r view.Reader) (view.QuestionView, error) { return r.FindQuestion(ctx, question) })
	if err != nil {
		return nil, "", err
	}
	all := q.Images
	if q.Image != nil {
		all = append(slices.Clip(all), *q.Image)
	}
	for _, i := range all {
		if i.Hash != hash || i.Path == "" {
			continue
		}
		data, info, err := client.ReadImage(i.Path, hash)
		if err != nil {
			return nil, "", &Refusal{Reason: NotThere, Text: "its file is gone, or is no image any more"}
		}
		return data, info.Type, nil
	}
	return nil, "", &Refusal{Reason: NotThere, Text: "the question has no such image"}
}

// Answer is Reply.
func (m Machine) Answer(ctx context.Context, id string, a Answer) (Kept, error) {
	return Act(m, func(c client.Client) (Kept, error) { return Reply(ctx, c, id, a) })
}

// Watch is view.Reader.WatchOverview.
func (m Machine) Watch(ctx context.Context, look <-chan struct{}, each func(view.Overview) error) error {
	_, err := Read(m, func(r view.Reader) (struct{}, error) { return struct{}{}, r.WatchOverview(ctx, look, each) })
	return err
}

// Past returns runs that have ended.
func (m Machine) Past(ctx context.Context, skip, most int) ([]view.RunView, error) {
	return Read(m, func(r view.Reader) ([]view.RunView, error) { return r.PastRuns(ctx, skip, most) })
}

// Run returns a run.
func (m Machine) Run(ctx context.Context, id string) (view.RunView, error) {
	return Read(m, func(r view.Reader) (view.RunView, error) {
		run, _, err := view.RunNamed(ctx, r.Store, id)
		if err != nil {
			return view.RunView{}, err
		}
		return r.Run(ctx, run)
	})
}

// Show is view.Reader.Show, and says whether the run has lost its folder.
func (m Machine) Show(ctx context.Context, id string) (view.Details, error) {
	return Read(m, func(r view.Reader) (view.Details, error) {
		d, err := r.Show(ctx, id)
		if err == nil {
			d.Run.LookForFolder()
		}
		return d, err
	})
}

// Report returns what happened in a run. A fleet has no report.
func (m Machine) Report(ctx context.Context, id string) (view.RunReport, error) {
	return Read(m, func(r view.Reader) (view.RunReport, error) { return r.Report(ctx, id) })
}

// Told sets client.Told.
func (m Machine) Told(_ context.Context, until time.Time) error {
	dirs, err := client.DefaultDirs()
	if err != nil {
		return err
	}
	if err := client.Told.Set(dirs, until); !errors.Is(err, fs.ErrNotExist) { // else nothing has happened
		return err
	}
	return nil
}

// Question returns a question.
func (m Machine) Question(ctx context.Context, id string) (view.QuestionView, error) {
	return Read(m, func(r view.Reader) (view.QuestionView, error) { return r.FindQuestion(ctx, id) })
}

// Precedents is precedents.Find.
func (m Machine) Precedents(ctx context.Context, question string) ([]precedents.Precedent, error) {
	return Read(m, func(r view.Reader) ([]precedents.Precedent, error) {
		asked, err := r.Store.Named(ctx, question)
		if err != nil || len(asked) == 0 {
			return nil, err
		}
		run, err := r.Store.Run(ctx, asked[0].Run)
		if err != nil {
			return nil, err
		}
		dirs, err := checkpoints.DefaultDirs()
		if err != nil {
			return nil, err
		}
		index, err := dirs.Answered()
		if err != nil {
			return nil, err
		}
		return precedents.Find(ctx, r.Store, index, &asked[0], run.Cwd)
	})
}

// Asked is view.Reader.Asked.
func (m Machine) Asked(ctx context.Context, most int) ([]view.QuestionView, error) {
	return Read(m, func(r view.Reader) ([]view.QuestionView, error) { return r.Asked(ctx, most) })
}

// Log returns the log of an agent.
func (m Machine) Log(ctx context.Context, id string) (Log, error) {
	return Read(m, func(r view.Reader) (Log, error) {
		log, err := r.Log(ctx, id)
		return fileLog{log}, err
	})
}

// Follow reads only the end of what was said before.
func (m Machine) Follow(ctx context.Context, id string, n int, each func(said []string) error) error {
	_, err := Read(m, func(r view.Reader) (none struct{}, err error) {
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

// Read reads something of the state.
func Read[T any](m Machine, read func(view.Reader) (T, error)) (found T, err error) {
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

// List returns runs, and says which have lost their folders.
func (m Machine) List(ctx context.Context, all bool) ([]Run, error) {
	return Read(m, func(r view.Reader) ([]Run, error) {
		runs, err := r.Runs(ctx, all)
		return listed(runs), err
	})
}

// WatchRuns is List again after each change.
func (m Machine) WatchRuns(ctx context.Context, all bool, each func([]Run) error) error {
	_, err := Read(m, func(r view.Reader) (none struct{}, err error) {
		return none, r.Watch(ctx, all, func(runs []view.RunView) error { return each(listed(runs)) })
	})
	return err
}

func listed(runs []view.RunView) []Run {
	all := make([]Run, len(runs))
	for i, v := range runs {
		v.LookForFolder()
		all[i] = Run{v, v}
	}
	return all
}

// Questions returns those of files, too. That they cannot be read keeps no question of a run from being seen.
func (m Machine) Questions(ctx context.Context) (open []view.QuestionView, notes []string, err error) {
	open, err = Read(m, func(r view.Reader) ([]view.QuestionView, error) {
		open, err := r.Questions(ctx)
		if err != nil {
			return nil, err
		}
		beside, problems, err := r.OfNoRun(ctx, nil)
		notes = FileNotes(problems, err)
		return append(open, beside...), nil
	})
	return open, notes, err
}

// Outside is view.Reader.OfNoRun. What cannot be read is left out.
func (m Machine) Outside(ctx context.Context) []view.QuestionView {
	open, _ := Read(m, func(r view.Reader) ([]view.QuestionView, error) {
		open, _, _ := r.OfNoRun(ctx, nil)
		return open, nil
	})
	return open
}

// FileNotes says which question files cannot be read, or with err that none can.
func FileNotes(problems []string, err error) (notes []string) {
	if err != nil {
		notes = append(notes, "! questions by file cannot be read: "+err.Error())
	}
	for _, problem := range problems {
		notes = append(notes, "! "+problem)
	}
	return notes
}

// Awaitable is view.Reader.Awaitable.
func (m Machine) Awaitable(ctx context.Context, ids []string) ([]view.Node, error) {
	return Read(m, func(r view.Reader) ([]view.Node, error) { return r.Awaitable(ctx, ids) })
}

// Above is view.Reader.Above.
func (m Machine) Above(ctx context.Context, agent string) ([]view.Node, error) {
	return Read(m, func(r view.Reader) ([]view.Node, error) { return r.Above(ctx, agent) })
}

// Await gives a node, too, once nobody supervises its run.
func (m Machine) Await(ctx context.Context, nodes []view.Node, question bool, each func(Left) error,
	asks func(view.Awaited)) error {
	_, err := Read(m, func(r view.Reader) (none struct{}, err error) {
		left := func(a view.Awaited) error { return each(leftAs(a)) }
		if question {
			return none, r.AwaitQuestion(ctx, nodes, left)
		}
		return none, r.AwaitEach(ctx, nodes, left, asks)
	})
	return err
}

func leftAs(a view.Awaited) Left {
	l := Left{Awaited: a, Code: a.Code(), JSON: a.View}
	if agent, is := a.View.Agent(a.Agent); is {
		l.JSON = agent
	}
	return l
}

// ReadLog reads the log of a run or an agent, which ends where nobody supervises the run, too.
func (m Machine) ReadLog(ctx context.Context, id string, l LogReading) (Left, error) {
	return Read(m, func(r view.Reader) (Left, error) {
		log, err := r.RunLog(ctx, id)
		if err != nil {
			return Left{}, err
		}
		left := Left{Awaited: view.Awaited{Node: view.Node{Run: log.Run, Agent: log.Agent}}}
		part := view.LogPart{Last: max(l.Tail, 0), Since: l.Since}
		if l.Tail == 0 {
			part.Since = time.Now()
		}
		if !l.Raw {
			part.Counts = func(l view.LogLine) bool { return len(l.Remarks()) > 0 }
		}
		if log, err = log.Only(ctx, part); err != nil {
			return left, err
		}
		each := func(line view.LogLine) error {
			if l.Raw {
				return l.Each(line.Line, nil)
			}
			return l.Each(nil, line.Remarks())
		}
		if !l.Follow {
			return left, log.Each(ctx, each)
		}
		end, err := log.Follow(ctx, each)
		return leftAs(view.AwaitedAs(end, log.Agent)), err
	})
}
