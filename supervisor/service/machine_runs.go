package service

import (
	"context"
	"time"

	"claude-supervise/supervisor/view"
)

// List gives runs, and says which have lost their folders.
func (m Machine) List(ctx context.Context, all bool) ([]Run, error) {
	return reading(m, func(r view.Reader) ([]Run, error) {
		runs, err := r.Runs(ctx, all)
		return listed(runs), err
	})
}

// WatchRuns is List again after each change.
func (m Machine) WatchRuns(ctx context.Context, all bool, each func([]Run) error) error {
	_, err := reading(m, func(r view.Reader) (none struct{}, err error) {
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

// Questions gives those of files, too. That they cannot be read keeps no question of a run from being seen.
func (m Machine) Questions(ctx context.Context) (open []view.QuestionView, notes []string, err error) {
	open, err = reading(m, func(r view.Reader) ([]view.QuestionView, error) {
		open, err := r.Questions(ctx)
		if err != nil {
			return nil, err
		}
		byFile, problems, err := r.FileQuestions(ctx)
		for _, q := range byFile {
			open = append(open, view.View(q))
		}
		notes = FileNotes(problems, err)
		return open, nil
	})
	return open, notes, err
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
	return reading(m, func(r view.Reader) ([]view.Node, error) { return r.Awaitable(ctx, ids) })
}

// Above is view.Reader.Above.
func (m Machine) Above(ctx context.Context, agent string) ([]view.Node, error) {
	return reading(m, func(r view.Reader) ([]view.Node, error) { return r.Above(ctx, agent) })
}

// Await gives a node, too, once nobody supervises its run.
func (m Machine) Await(ctx context.Context, nodes []view.Node, question bool, each func(Left) error,
	asks func(view.Awaited)) error {
	_, err := reading(m, func(r view.Reader) (none struct{}, err error) {
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
	return reading(m, func(r view.Reader) (Left, error) {
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
