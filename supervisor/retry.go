package supervisor

import (
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/prompts"
)

// This file is how work that has ended is taken up again: by resume what was cut short, by resume --failed what has
// failed.

// failed reports whether resume --failed tries an agent's work again: it came to no good end by itself, and that is
// what makes the run's.
func (s State) failed(a *Agent) bool {
	switch a.Status {
	case checkpoints.Failed, checkpoints.Unreported:
		return !a.Group && s.counts(a)
	}
	return false
}

// returning gives the ended agents with which a run that is opened so goes on.
func (s State) returning(b Opened) map[string]bool {
	back := map[string]bool{}
	if b.Over != nil {
		return back
	}
	if b.Failed {
		for _, a := range s.Agents {
			if !s.failed(a) {
				continue
			}
			for back[a.ID] = true; s.Agents[a.Parent] != nil; { // those above hear of it, and end anew
				if a = s.Agents[a.Parent]; a.Status.Ended() {
					back[a.ID] = true
				}
			}
		}
	}
	for _, a := range s.AllAgents() { // what an end has cut short goes on with who had ended
		switch p := s.Agents[a.Parent]; {
		case b.Revive && s.brings(a) && (p == nil || !p.Status.Ended() || back[p.ID]), b.Failed &&
			p != nil && back[p.ID] && Revivable(a) && a.StopWanted == endOf(p):
			back[a.ID] = true
		}
	}
	return back
}

// revive has an agent that had ended go on: with its work, or, where work below it is tried again, once that has ended.
func (d *transition) revive(id string, b Opened, back map[string]bool) {
	a := d.agent(id)
	awaits := false
	for _, c := range d.Children(id) {
		awaits = awaits || b.Failed && back[c.ID] && gates(c)
	}
	reason := "resumed by a person"
	a.GoOn = !awaits
	switch {
	case awaits:
	case a.Launches > 0 && !d.Begun(id) && a.From == "" && d.Abilities().Resumes: // there is no conversation to continue
		a.Fresh, a.SessionID = true, sessionOf(a)
	case b.Failed && d.failed(a) && a.Launches > 0:
		reason = "tried again by a person"
		a.GoOn = !enqueue(a, checkpoints.OutboxItem{Key: fmt.Sprintf("retry %d", a.Launches), At: d.at,
			Text: prompts.TryAgain(a)})
	}
	a.EndedAt, a.Ending, a.ReportRequested = nil, checkpoints.Ending{}, false
	a.Report, a.ToldMissing = nil, false
	a.FinishBy, a.Rejected = 0, 0
	if a.Delegated != nil {
		said := *a.Delegated
		said.Told = false
		a.Delegated = &said
	}
	d.setStatus(a, checkpoints.Queued, reason)
}

// Retries reports whether resume --failed would try anything in the run again.
func (o Outcome) Retries() bool { return o.State.Retries() }

// Retries reports whether resume --failed would try anything in the run again.
func (s State) Retries() bool {
	for _, a := range s.Agents {
		if s.failed(a) {
			return true
		}
	}
	return false
}

// Revivable reports whether resume goes on with an agent that has ended: one that reported has said its last word.
func Revivable(a *Agent) bool {
	switch a.Status {
	case checkpoints.Unreported, checkpoints.Stopped:
		return true
	case checkpoints.Failed:
		return a.Fault != "" || a.Group
	case checkpoints.Partial:
		return a.Group
	}
	return false
}

// brings reports whether resume goes on with an agent that has ended: of the children those that the end of their
// parent has stopped, for their parent goes on too, and those of a group. What became of the others their parent knows.
func (s State) brings(a *Agent) bool {
	p := s.Agents[a.Parent]
	return Revivable(a) && (p == nil || p.Group || a.StopWanted == endOf(p))
}
