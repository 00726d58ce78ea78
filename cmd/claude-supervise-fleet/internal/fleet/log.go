package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	sdk "go.temporal.io/sdk/client"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/claude-supervise-fleet/internal/runlog"
)

const (
	replyWithin = 5 * time.Second // of a worker that is asked for a log, in which it answers even with nothing
	lookAgain   = time.Second     // where a run is, while no worker has it or answers
)

// A LogReading is the log of a run that is read wherever the run is.
type LogReading struct {
	Run    string
	Follow bool // until the run ends; else what there is now
	Tail   int  // only so many of the last that there are now; -1: all

	// Kept reads what the worker of an epoch, or of the newest before it that has left the run, has kept of the log, and
	// gives that epoch; 0: none has kept anything.
	Kept func(ctx context.Context, run string, epoch int, each func(runlog.Entry) error) (int, error)
	Each func(runlog.Entry) error // is given each entry, once
	Note func(string)             // is told what happens to the run, and why something cannot be read
}

// Log reads the log of a run. It gives the run as it was at the end. One that is followed is so while the server is
// away, for as long as Wait waits for it.
func (f Fleet) Log(ctx context.Context, r LogReading) (run flow.Listed, err error) {
	l := logReader{LogReading: r, fleet: f, noted: map[string]bool{}}
	var answered time.Time // when the server last did; zero: it has not
	for there := true; ; {
		var over bool
		run, over, err = l.look(ctx, run.ID, answered.IsZero())
		switch {
		case err == nil:
			answered, there = time.Now(), true
		case !errors.Is(err, ErrAway) || !r.Follow || answered.IsZero() || time.Since(answered) > awayMost:
			return run, err
		case there:
			l.Note(err.Error() + "; logs continues when it is back")
			there = false
		}
		if over || !r.Follow {
			return run, nil
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return run, ctx.Err()
		}
	}
}

// look reads what there is of the log. id names the run as it was found the first time; a name may be another's later.
func (l *logReader) look(ctx context.Context, id string, first bool) (run flow.Listed, over bool, err error) {
	if run, err = l.fleet.Run(ctx, cmp.Or(id, l.Run)); err != nil {
		return flow.Listed{RunInfo: flow.RunInfo{ID: id}}, false, err
	}
	l.notes(run, first)
	over, err = l.from(ctx, run)
	return run, over, err
}

type logReader struct {
	LogReading
	fleet Fleet
	place runlog.Place
	epoch int // of the newest log that was read
	kept  int // the epoch whose worker has left the run, and of whose log all was read
	noted map[string]bool

	looked string // the state of the run in which it was last looked for what is kept
}

// notes tells what has happened to the run since the last look.
func (l *logReader) notes(run flow.Listed, first bool) {
	for _, n := range run.Notes {
		if !l.noted[n] && !first && l.Follow {
			l.Note(n)
		}
		l.noted[n] = true
	}
}

// from reads what there is of the log: from the worker that has the run, as long as it has it and the log is followed,
// or from what was kept. over: the run has ended, and all was read.
func (l *logReader) from(ctx context.Context, run flow.Listed) (over bool, err error) {
	if run.Worker != "" && run.Queue != "" {
		read, err := l.ofWorker(ctx, run)
		if err != nil || read {
			return false, err
		}
		if !l.Follow {
			l.Note("Worker " + run.Worker + " does not answer: this is the log as it was when a worker last left the run.")
		}
	}
	if err := l.ofRecord(ctx, run); err != nil {
		return false, err
	}
	return run.ExitCode != nil, nil
}

// ofRecord reads what the last worker that has left the run has kept, if that is not read.
func (l *logReader) ofRecord(ctx context.Context, run flow.Listed) error {
	now := fmt.Sprint(run.Epoch, run.Worker, run.Status, run.Since)
	if run.Epoch <= l.kept || now == l.looked {
		return nil
	}
	var read []runlog.Entry
	epoch, err := l.Kept(ctx, run.ID, run.Epoch, func(e runlog.Entry) error {
		read = append(read, e)
		return nil
	})
	if err != nil {
		return err
	}
	if l.looked = now; epoch == 0 && run.Worker == "" {
		l.Tail = -1 // nothing is there: all that comes is added
	}
	if epoch == 0 || epoch < l.epoch { // what was read came later
		return nil
	}
	reading := l.place.Reading()
	var fresh []runlog.Entry
	for _, e := range read {
		if reading.Takes(e) && e.Epoch == 0 {
			fresh = append(fresh, e)
		}
	}
	if l.Tail >= 0 {
		fresh = fresh[max(0, len(fresh)-l.Tail):]
	}
	l.epoch, l.kept, l.Tail = epoch, epoch, -1
	for _, e := range fresh {
		if err := l.Each(e); err != nil {
			return err
		}
	}
	return nil
}

// ofWorker asks the worker that has the run for its log, until it has left the run or does not answer; or, where the
// log is not followed, until all was read that there was. read: the worker has given all that there was.
func (l *logReader) ofWorker(ctx context.Context, run flow.Listed) (read bool, err error) {
	if run.Epoch < l.epoch || run.Epoch == l.kept {
		return true, nil // the list is behind
	}
	id := "log-" + run.ID + "-" + rand.Text()[:10]
	_, err = l.fleet.Client.ExecuteWorkflow(ctx, sdk.StartWorkflowOptions{ID: id, TaskQueue: run.Queue,
		WorkflowExecutionTimeout: time.Minute, WorkflowTaskTimeout: flow.DecideWithin}, runlog.Workflow, run.ID, run.Epoch)
	if err != nil {
		return false, said(err)
	}
	ask := runlog.Ask{Open: l.opens()}
	var part []byte
	for {
		reply, err := l.ask(ctx, id, ask)
		switch {
		case err != nil:
			return false, err
		case reply == nil || reply.Gone:
			return false, nil
		case reply.Unknown:
			ask, part = runlog.Ask{Open: l.opens()}, nil
			continue
		}
		l.epoch = run.Epoch
		ask.Open, ask.Caught = nil, ask.Caught || reply.Caught
		if reply.Part != nil {
			part, ask.Skip = append(part, reply.Part...), ask.Skip+len(reply.Part)
			if !reply.Whole {
				continue
			}
			reply.Entries = []runlog.Numbered{{Entry: part, Read: reply.PartRead}}
		}
		for _, n := range reply.Entries {
			var e runlog.Entry
			if err := json.Unmarshal(n.Entry, &e); err != nil {
				return false, err
			}
			if l.place.Received(e, n.Read) {
				if err := l.Each(e); err != nil {
					return false, err
				}
			}
		}
		if len(reply.Entries) > 0 {
			ask.After, ask.Skip, part = reply.First+int64(len(reply.Entries))-1, 0, nil
			l.Tail = -1 // the tail has begun
		}
		if reply.Caught {
			l.place.Leaves(reply.Left)
			l.Tail = -1
		}
		if reply.Over || reply.Caught && !l.Follow {
			return true, nil
		}
	}
}

func (l *logReader) opens() *runlog.Open { return &runlog.Open{Place: l.place.Clone(), Tail: l.Tail} }

// ask asks a worker once. It gives nil where the worker does not answer.
func (l *logReader) ask(ctx context.Context, id string, a runlog.Ask) (*runlog.Reply, error) {
	bound, cancel := context.WithTimeout(ctx, replyWithin)
	defer cancel()
	for {
		var reply runlog.Reply
		value, err := l.fleet.Client.QueryWorkflow(bound, id, "", runlog.Query, a)
		var later *serviceerror.WorkflowNotReady
		switch {
		case err == nil:
			return &reply, value.Get(&reply)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &later): // it has not begun
			select {
			case <-time.After(notReady):
				continue
			case <-bound.Done():
				return nil, nil
			}
		case away(err) && bound.Err() == nil:
			return nil, said(err)
		}
		return nil, nil //nolint:nilerr // the worker is lost, or leaves
	}
}
