package supervisor

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/text"
)

// This file is what becomes of agents whose account has met its usage limit. None has failed: they rest until the limit
// ends and go on by themselves. Those of the run that have no process rest with the first whose request was rejected,
// for they ask the same account; those at work go on until they are rejected themselves. The first goes on as soon as
// the limit ends, the others a little after it, spread out: should the limit be there still, they rest on with it.

// The rests of an agent where nobody says when the limit ends, or what was said has proved wrong: the first, doubled
// with each further rejection in a row, and the longest.
const (
	firstRest   = time.Minute
	longestRest = time.Hour
)

// maxLimit is longer than any usage limit lasts. One that says that it ends later is looked at again then.
const maxLimit = 8 * 24 * time.Hour

// spreadOver is how far the agents of a run are spread that go on when a limit ends.
const spreadOver = time.Minute

// IsLimit reports whether a failure is a usage limit, which ends by itself. Credit that is used up does not: a person
// has to buy some.
func IsLimit(f procs.Failure) bool {
	return f.Kind == procs.Limit && !strings.Contains(strings.ToLower(f.Reason), "credit")
}

// rejected has an agent rest whose request has met a usage limit that ends at a time, if that is known. It is no
// failure, and no retry.
func (d *transition) rejected(a *Agent, reason string, resets *time.Time) {
	a.Rejected++
	until := restUntil(a.Rejected, resets, d.at)
	rest := until
	r := d.run()
	if r.Limited != nil && r.Limited.After(d.at) {
		rest = spread(until, a.ID)
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

// restUntil is when an agent goes on after its nth rejection in a row. What claude says of the end of a limit counts,
// but for one that has ended and still rejects.
func restUntil(n int, resets *time.Time, at time.Time) time.Time {
	if resets == nil || !resets.After(at) {
		return at.Add(backoffOf(n))
	}
	until := *resets
	if n > 1 && until.Before(at.Add(backoffOf(n-1))) {
		until = at.Add(backoffOf(n - 1))
	}
	if latest := at.Add(maxLimit); until.After(latest) {
		return latest
	}
	return until
}

func backoffOf(n int) time.Duration { return min(firstRest<<min(n-1, 10), longestRest) }

// spread returns the moment at which an agent goes on when a limit ends: always the same within the minute after it.
func spread(until time.Time, agent string) time.Time {
	h := fnv.New32a()
	_, _ = h.Write([]byte(agent)) // it never fails
	return until.Add(time.Duration(h.Sum32()%uint32(spreadOver/time.Millisecond)) * time.Millisecond)
}

// limits hold an agent back without a process: a usage limit of its account, its own or that of others.
var limits = concern{name: "limits", idle: (*transition).limited}

func (d *transition) limited(of subject) bool {
	a := of.Agent
	if run := d.Run.Limited; run != nil && d.at.Before(*run) &&
		(a.NotBefore == nil || a.LimitedBy != "" && a.NotBefore.Before(*run)) {
		until := spread(*run, a.ID)
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
