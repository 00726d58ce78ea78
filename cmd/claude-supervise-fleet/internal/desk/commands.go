package desk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/claude-supervise-fleet/internal/runlog"
	"claude-supervise/cmd/claude-supervise-fleet/internal/worker"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// Commands is a desk for one command (service.Runs).
type Commands struct {
	*Desk
	// Kept reads what was kept of the log of a run: see fleet.LogReading.
	Kept func(ctx context.Context, run string, epoch int, each func(runlog.Entry) error) (int, error)

	named map[string]flow.Listed // what is waited for, as it was found
}

// List returns the runs of the fleet.
func (c *Commands) List(ctx context.Context, all bool) ([]service.Run, error) {
	found, err := c.fleet.Runs(ctx, all, false)
	runs := make([]service.Run, len(found))
	for i, l := range found {
		runs[len(found)-1-i] = service.Run{RunView: shown(l), JSON: l}
	}
	return runs, err
}

// Select returns the runs that are wanted: of very many, only those are read.
func (c *Commands) Select(ctx context.Context, of service.Selection) ([]service.Run, error) {
	found, err := c.fleet.Selected(ctx, of)
	runs := make([]service.Run, len(found))
	for i, l := range found {
		runs[len(found)-1-i] = service.Run{RunView: shown(l), JSON: l}
	}
	return runs, err
}

// Tally says how many runs there are.
func (c *Commands) Tally(ctx context.Context, of service.Selection) (string, error) {
	all, by, err := c.fleet.Count(ctx, of)
	if err != nil || all <= of.Most {
		return "", err
	}
	var parts []string
	for _, status := range slices.SortedFunc(maps.Keys(by), func(a, b string) int { return by[b] - by[a] }) {
		if by[status] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", by[status], status))
		}
	}
	text := fmt.Sprintf("\nThese are the newest %d of %d runs", of.Most, all)
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text + ". All of them: --limit 0", nil
}

// WatchSelected lists again and again: a fleet says nothing by itself. It costs the server little, as Watch does.
func (c *Commands) WatchSelected(ctx context.Context, of service.Selection, each func([]service.Run) error) error {
	var before []byte
	for first := true; ; first = false {
		began := time.Now()
		runs, err := c.Select(ctx, of)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && first {
			return err
		}
		if now, unread := json.Marshal(runs); err == nil && unread == nil && (first || !bytes.Equal(now, before)) {
			before = now
			if err := each(runs); err != nil {
				return err
			}
		}
		rest := time.NewTimer(max(fleet.AsksEvery, restsFor*time.Since(began)))
		select {
		case <-rest.C:
		case <-ctx.Done():
		}
		rest.Stop()
	}
}

// Run returns the run that an id or a name names: commands take no agents.
func (c *Commands) Run(ctx context.Context, id string) (view.RunView, error) {
	l, err := c.fleet.Run(ctx, id)
	return shown(l), err
}

// Show returns a run as its last worker has kept it; as lists have it, if none has.
func (c *Commands) Show(ctx context.Context, id string) (view.Details, error) {
	l, err := c.fleet.Run(ctx, id)
	if err != nil {
		return view.Details{}, err
	}
	details, err := c.details(ctx, l)
	if errors.Is(err, worker.ErrNoRecord) {
		details.Run, details.Questions, err = shown(l), asked(l), nil
	}
	return details, err
}

// Questions returns the open questions of all runs.
func (c *Commands) Questions(ctx context.Context) (open []view.QuestionView, notes []string, err error) {
	open, err = c.fleet.Questions(ctx)
	return open, nil, err
}

// Asked returns the open questions that were asked first.
func (c *Commands) Asked(ctx context.Context, run string, most int) (open []view.QuestionView, notes []string,
	err error) {
	if run != "" {
		open, err = c.fleet.QuestionsNamed(ctx, run)
		return open, nil, err
	}
	open, runs, err := c.fleet.Asked(ctx, most)
	if most > 0 && len(open) == most && runs > most {
		notes = []string{fmt.Sprintf("%d runs ask; these are the %d questions asked first. All of them: --limit 0", runs,
			most)}
	}
	return open, notes, err
}

// Awaitable finds runs: a fleet waits for whole ones.
func (c *Commands) Awaitable(ctx context.Context, ids []string) (nodes []view.Node, err error) {
	c.named = map[string]flow.Listed{}
	for _, id := range ids {
		l, err := c.fleet.Run(ctx, id)
		if err != nil {
			return nil, err
		}
		if _, twice := c.named[l.ID]; !twice {
			nodes = append(nodes, view.Node{Run: l.ID})
		}
		c.named[l.ID] = l
	}
	return nodes, nil
}

// Await gives each run that Awaitable has found once it has ended or is parked.
func (c *Commands) Await(ctx context.Context, nodes []view.Node, question bool, each func(service.Left) error,
	asks func(view.Awaited)) error {
	var named []flow.Listed
	for _, n := range nodes {
		named = append(named, c.named[n.Run])
	}
	return c.fleet.Wait(ctx, named, func(l flow.Listed) (bool, error) {
		left := leftAs(l)
		open := len(left.Open()) > 0
		if goesOn := l.ExitCode == nil && !l.Parked(); !goesOn || question && open {
			return false, each(left)
		}
		if open {
			asks(left.Awaited)
		}
		return true, nil
	})
}

func leftAs(l flow.Listed) service.Left {
	return service.Left{Awaited: view.Awaited{Node: view.Node{Run: l.ID}, View: l.View()}, Code: l.Code(), JSON: l,
		ByItself: l.ExitCode == nil}
}

// ReadLog reads the log of a run, wherever that is.
func (c *Commands) ReadLog(ctx context.Context, id string, r service.LogReading) (service.Left, error) {
	none := true
	l, err := c.fleet.Log(ctx, fleet.LogReading{Run: id, Follow: r.Follow, Tail: r.Tail, Kept: c.Kept, Note: r.Note,
		Each: func(e runlog.Entry) error {
			none = false
			return r.Each(nil, []view.Remark{e.Remark})
		}})
	if err == nil && none && !r.Follow {
		err = fs.ErrNotExist
	}
	return leftAs(l), err
}

// End stops a run.
func (c *Commands) End(ctx context.Context, id string, _ bool) (service.Stopped, error) {
	l, err := c.fleet.Run(ctx, id)
	if err != nil {
		return service.Stopped{}, err
	}
	s := service.Stopped{Run: l.ID, ID: l.ID, Status: "stopping", Text: l.ID + " is being stopped."}
	if l.ExitCode == nil {
		if err = c.fleet.Stop(ctx, l.ID, c.who); err == nil {
			// no worker had it, so that it has ended; that this cannot be read does not matter
			if now, unread := c.fleet.Run(ctx, l.ID); unread == nil && now.ExitCode != nil {
				s.Status, s.Text = "stopped", l.ID+" is stopped."
			}
		}
	}
	var refused *fleet.RefusedError
	if l.ExitCode != nil || errors.As(err, &refused) && refused.Kind == flow.ErrEnded {
		s.Status, s.Text, err = "ended", l.ID+" has already ended.", nil
	}
	return s, err
}
