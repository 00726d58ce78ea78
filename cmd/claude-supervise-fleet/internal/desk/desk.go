// Package desk is what a person has before them of a fleet: its runs and questions, and what is done with them, as a
// service.Service.
//
// A fleet has no database to watch: the desk lists the runs again and again (watch.go). A list may be a moment behind:
// what was answered here is shown as answered before a list says so.
package desk

import (
	"context"
	"fmt"
	"sync"
	"time"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// Program is how a person calls the program of a fleet.
const Program = "claude-supervise fleet"

// Records reads what the last worker that has left a run, up to an epoch, has kept of it: worker.ShowRecord.
// worker.ErrNoRecord if none has left it.
type Records func(ctx context.Context, run string, epoch int) ([]byte, error)

// A Desk is the runs and questions of a fleet before one person. All its methods may be called at once.
type Desk struct {
	fleet   fleet.Fleet
	records Records
	log     ReadLog
	who     string // the person, to others

	mu     sync.Mutex
	now    view.Overview
	agents map[string]string  // the run of each agent that was seen
	closed map[string]closing // questions that were seen to be closed, by their ids
	order  []string           // of closed, the oldest first
	clock  func() time.Time
}

// A closing is how a question was closed.
type closing struct {
	view.QuestionView
	at   time.Time
	here bool // it was answered here, and a list may not say so yet
}

// maxClosed is how many closed questions are kept in mind.
const maxClosed = 1000

// New makes a desk. who names the person to others.
func New(f fleet.Fleet, records Records, log ReadLog, who string) *Desk {
	return &Desk{fleet: f, records: records, log: log, who: who, agents: map[string]string{},
		closed: map[string]closing{}, clock: time.Now}
}

// shown returns a run as the page and the board show it: with the worker that has it, and the last thing that befell it
// beside why it stands as it does.
func shown(l flow.Listed) view.RunView {
	v := l.RunInfo.View()
	v.Worker = l.Worker
	if v.Worker == "" { // the folder is one of a machine that does not have the run any more
		v.Cwd = ""
	}
	v.Reason = l.Why()
	return v
}

// asked returns the open questions of a run.
func asked(l flow.Listed) []view.QuestionView {
	open := make([]view.QuestionView, 0, len(l.Questions))
	for _, told := range l.Questions {
		q := told.View()
		q.RunName, q.Cwd, q.State = l.Name, "", supervisor.Open
		open = append(open, q)
	}
	return open
}

// answeredAs returns a question as it is with an answer.
func answeredAs(q view.QuestionView, a flow.Answer) view.QuestionView {
	q.State, q.Answer, q.AnsweredBy, q.AnsweredAt = "answered", &a.Text, a.By, &a.At
	q.Skipped, q.Declined = a.Skip, a.Decline
	return q
}

// closes notes how a question was closed. The lock is held.
func (d *Desk) closes(c closing) {
	if _, known := d.closed[c.ID]; !known {
		d.order = append(d.order, c.ID)
	}
	d.closed[c.ID] = c
	for len(d.order) > maxClosed {
		delete(d.closed, d.order[0])
		d.order = d.order[1:]
	}
}

// noSuch says that the fleet has nothing of an id.
func noSuch(what, id string) error {
	return &service.Refusal{Reason: service.NotThere, Text: fmt.Sprintf("the fleet has no %s %.60q", what, id)}
}
