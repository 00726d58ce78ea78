package supervisor

import (
	"fmt"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/pace"
	"claude-supervise/supervisor/text"
)

// This file is what becomes of agents whose account has met its usage limit. None has failed: they rest until the limit
// ends and go on by themselves. Those of the run that have no process rest with the first whose request was rejected,
// for they ask the same account; those at work go on until they are rejected themselves. The first goes on as soon as
// the limit ends, the others a little after it, spread out: should the limit be there still, they rest on with it.

// rejected has an agent rest whose request has met a usage limit that ends at a time, if that is known. It is no
// failure, and no retry.
func (d *transition) rejected(a *Agent, reason string, resets *time.Time) {
	a.Rejected++
	until := pace.RestUntil(a.Rejected, resets, d.at)
	rest := until
	r := d.run()
	if r.Limited != nil && r.Limited.After(d.at) {
		rest = pace.Spread(until, a.ID)
	}
	a.NotBefore, a.LimitedBy, a.GoOn = &rest, text.FirstLine(reason), true
	if r.Limited == nil || r.Limited.Before(until) {
		r.Limited, r.LimitedBy = &until, a.LimitedBy
	}
	d.end(a.ID, endRetry, a.LimitedBy)
	for id, other := range d.Agents.All() {
		if (other.QueuedAt != nil || other.LimitedBy != "") && !other.Status.Ended() {
			d.touch(id)
		}
	}
}

// limits hold an agent back without a process: a usage limit of its account, its own or that of others.
var limits = concern{name: "limits", idle: (*transition).limited}

func (d *transition) limited(of subject) bool {
	a := of.Agent
	if run := d.Run.Limited; run != nil && d.at.Before(*run) &&
		(a.NotBefore == nil || a.LimitedBy != "" && a.NotBefore.Before(*run)) {
		until := pace.Spread(*run, a.ID)
		a.NotBefore, a.LimitedBy = &until, d.Run.LimitedBy
	}
	if a.NotBefore == nil || a.LimitedBy == "" {
		return false
	}
	d.setStatus(a, checkpoints.Limited,
		fmt.Sprintf("%s; resumes at %s", a.LimitedBy, a.NotBefore.Format(time.RFC3339)))
	return true
}

// RetryDue says that an agent has rested long enough after a failure.
type RetryDue struct {
	Agent string
	Until time.Time `json:",omitzero"` // what it has rested until
}

var _ = kind[RetryDue]("retry_due")

// apply has an agent go on. Where it has waited for the end of a limit, that has ended for the run.
func (e RetryDue) apply(d *transition) error {
	a := d.Agents.Get(e.Agent)
	if a == nil || a.NotBefore == nil || !e.Until.IsZero() && !e.Until.Equal(*a.NotBefore) {
		return unwelcome("%s does not rest until then", e.Agent)
	}
	a = d.agent(e.Agent)
	if a.LimitedBy != "" {
		r := d.run()
		r.Limited, r.LimitedBy = nil, ""
	}
	a.NotBefore, a.LimitedBy = nil, ""
	return nil
}
