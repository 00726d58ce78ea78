package desk

import (
	"context"
	"encoding/json"

	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// ReadLog reads the log of a run, wherever the run is, from its beginning on: what there is now, or, if follow is true,
// also what comes, until the run has ended. It blocks until then, until ctx ends, or each gives an error.
type ReadLog func(ctx context.Context, run string, follow bool, each func(view.Remark) error) error

// Log returns the log of the agent that an id names.
func (d *Desk) Log(ctx context.Context, id string) (service.Log, error) {
	l, err := d.listed(ctx, id)
	if err != nil {
		return nil, err
	}
	agent := id
	if id == l.ID {
		for _, a := range l.Agents {
			if a.Parent == "" {
				agent = a.ID
			}
		}
	}
	if _, is := l.Agent(agent); !is {
		return nil, noSuch("agent", id)
	}
	return runLog{read: d.log, run: l.ID, agent: agent}, nil
}

// A runLog is what one agent of a run has said: places in it count remarks. Where its run goes on from an earlier
// snapshot, a reader that comes back may miss as much as was lost with the worker: it is there on a page that is loaded
// anew.
type runLog struct {
	read       ReadLog
	run, agent string
}

// Of says whose log it is.
func (l runLog) Of() (run, agent string) { return l.run, l.agent }

// each gives the remarks of the agent with the place behind each.
func (l runLog) each(ctx context.Context, follow bool, each func(r view.Remark, place int64) error) error {
	place := int64(0)
	return l.read(ctx, l.run, follow, func(r view.Remark) error {
		if r.Agent != l.agent {
			return nil
		}
		place++
		return each(r, place)
	})
}

// Recent returns the last things that the agent has said.
func (l runLog) Recent(ctx context.Context, n int) (said []string, place int64, err error) {
	err = l.each(ctx, false, func(r view.Remark, at int64) error {
		said, place = append(said, r.String()), at
		return nil
	})
	return said[max(len(said)-n, 0):], place, err
}

// Part returns remarks from a place on, about most bytes of them.
func (l runLog) Part(ctx context.Context, place int64, most int) (lines []service.LogLine, next int64, more bool,
	err error) {
	next = place
	size := 0
	err = l.each(ctx, false, func(r view.Remark, at int64) error {
		switch {
		case at <= place:
		case size > most:
			more = true
		default:
			line, err := json.Marshal(r)
			if err != nil {
				return err
			}
			size, next = size+len(line), at
			lines = append(lines, service.LogLine{Line: line, Said: []string{r.String()}})
		}
		return nil
	})
	return lines, next, more, err
}

// Follow gives what is said from a place on, until ctx ends: also after the run has.
func (l runLog) Follow(ctx context.Context, place int64, each func(said []string, place int64) error) error {
	err := l.each(ctx, true, func(r view.Remark, at int64) error {
		if at <= place {
			return nil
		}
		return each([]string{r.String()}, at)
	})
	if err == nil {
		<-ctx.Done()
	}
	return err
}

// Follow gives the last things that a run or an agent has said, at most n, and then what it says, until the run has
// ended or ctx ends.
func (d *Desk) Follow(ctx context.Context, id string, n int, each func(said []string) error) error {
	l, err := d.listed(ctx, id)
	if err != nil {
		return err
	}
	of := func(r view.Remark) bool { return id == l.ID || r.Agent == id }
	var recent []string
	there := 0 // remarks that were given
	err = d.log(ctx, l.ID, false, func(r view.Remark) error {
		if of(r) {
			there++
			recent = append(recent, r.String())
			recent = recent[max(len(recent)-n, 0):]
		}
		return nil
	})
	if err == nil {
		err = each(recent)
	}
	if err != nil || l.EndedAt != nil {
		return err
	}
	at := 0
	return d.log(ctx, l.ID, true, func(r view.Remark) error {
		if !of(r) {
			return nil
		}
		if at++; at <= there {
			return nil
		}
		return each([]string{r.String()})
	})
}
