package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/claude-supervise-fleet/internal/worker"
	"claude-supervise/supervisor/view"
)

// Past returns runs that have ended, the latest first: at most most of them, after the first skip.
func (d *Desk) Past(ctx context.Context, skip, most int) ([]view.RunView, error) {
	listed, err := d.fleet.Past(ctx, skip, most)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	past := []view.RunView{}
	for _, l := range listed {
		for _, a := range l.Agents {
			d.agents[a.ID] = l.ID
		}
		if !slices.ContainsFunc(d.now.Runs, func(v view.RunView) bool { return v.ID == l.ID }) { // it was tried again
			past = append(past, shown(l))
		}
	}
	return past, nil
}

// Run returns the run that an id names, or the run of the agent that it names.
func (d *Desk) Run(ctx context.Context, id string) (view.RunView, error) {
	l, err := d.listed(ctx, id)
	return shown(l), err
}

// Found has open questions that a list was made of known, until there is a newer one.
func (d *Desk) Found(open []view.QuestionView) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now.Questions = open
}

// listed is Run with all that a list has of it.
func (d *Desk) listed(ctx context.Context, id string) (flow.Listed, error) {
	d.mu.Lock()
	of := d.agents[id]
	d.mu.Unlock()
	if of == "" {
		of = id
	}
	l, err := d.fleet.Run(ctx, of)
	var none *fleet.NoRunError
	if !errors.As(err, &none) {
		return l, err
	}
	all, err := d.fleet.Runs(ctx, true, false) // an agent of a run that was never shown
	if err != nil {
		return l, err
	}
	for _, l := range all {
		if _, is := l.Agent(id); is {
			return l, nil
		}
	}
	return l, noSuch("run or agent", id)
}

// Question returns a question: as it was seen last, or as the records of its run have it.
func (d *Desk) Question(ctx context.Context, id string) (view.QuestionView, error) {
	d.mu.Lock()
	c, closed := d.closed[id]
	at := slices.IndexFunc(d.now.Questions, func(q view.QuestionView) bool { return q.ID == id })
	var open view.QuestionView
	if at >= 0 {
		open = d.now.Questions[at]
	}
	d.mu.Unlock()
	switch {
	case closed && (c.here || at < 0):
		return c.QuestionView, nil
	case at >= 0:
		return open, nil
	}
	all, err := d.fleet.Runs(ctx, true, false)
	if err != nil {
		return view.QuestionView{}, err
	}
	for _, l := range all {
		for _, q := range asked(l) {
			if q.ID == id {
				return q, nil
			}
		}
		for _, a := range l.Answered {
			if a.Question == id {
				return answeredAs(d.recorded(ctx, l, id), a), nil
			}
		}
	}
	return view.QuestionView{}, noSuch("question", id)
}

// recorded returns a question as the records of its run have it, or what is known of it without.
func (d *Desk) recorded(ctx context.Context, l flow.Listed, id string) view.QuestionView {
	details, err := d.details(ctx, l)
	at := slices.IndexFunc(details.Questions, func(q view.QuestionView) bool { return q.ID == id })
	if err == nil && at >= 0 {
		q := details.Questions[at]
		q.RunName = l.Name
		return q
	}
	return view.QuestionView{ID: id, Run: l.ID, RunName: l.Name, Kind: "clarification",
		Question: "(what was asked is kept when a worker leaves the run)"}
}

// Show returns all that is known of a run or an agent: what its last worker has kept, and how the run is now.
func (d *Desk) Show(ctx context.Context, id string) (view.Details, error) {
	l, err := d.listed(ctx, id)
	if err != nil {
		return view.Details{}, err
	}
	details, err := d.details(ctx, l)
	if err != nil && !errors.Is(err, worker.ErrNoRecord) {
		return view.Details{}, err
	}
	agents := details.Run.Agents
	details.Run = shown(l)
	if l.EndedAt != nil && len(agents) > 0 { // a list has less of them
		details.Run.Agents = agents
	}
	if id != l.ID {
		details.Agent = id
	}
	open := asked(l)
	details.Questions = append(open, slices.DeleteFunc(details.Questions, func(q view.QuestionView) bool {
		return slices.ContainsFunc(open, func(o view.QuestionView) bool { return o.ID == q.ID })
	})...)
	return details, nil
}

// nothingKept is a record of a run that no worker has left.
const nothingKept = `{"questions": [], "reports": {}, "logs": {}, "success_criteria": {}, "rules": [],
	"worktrees": {}, "agents": {}}`

// details reads what the last worker that has left a run has kept of it. worker.ErrNoRecord if none has left it.
func (d *Desk) details(ctx context.Context, l flow.Listed) (details view.Details, err error) {
	kept, err := d.records(ctx, l.ID, l.Epoch)
	if err != nil {
		err = errors.Join(json.Unmarshal([]byte(nothingKept), &details), err)
		return details, err
	}
	if err := json.Unmarshal(kept, &details); err != nil {
		return details, fmt.Errorf("what was kept of %s cannot be read: %w", l.ID, err)
	}
	return away(details), nil
}

// away returns what was kept of a run without what lay on its worker, and with what gets the files of the run.
func away(d view.Details) view.Details {
	d.Result = Program + " fetch " + d.Run.ID + " DIR"
	clear(d.Logs)
	d.Run.Cwd, d.Run.FromPack, d.Run.Snapshot = "", "", nil
	for i := range d.Run.Agents {
		d.Run.Agents[i].Cwd = ""
	}
	for i, q := range d.Questions {
		d.Questions[i].AnswerCommand, d.Questions[i].Cwd = Program+" answer "+q.ID+" VALUE", ""
	}
	return d
}
