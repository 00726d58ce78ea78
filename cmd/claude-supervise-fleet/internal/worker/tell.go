package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
)

// tellWithin is how long the server may take to be told something; tellAgain is when that is tried again.
const (
	tellWithin = 5 * time.Second
	tellAgain  = 2 * time.Second
)

// tellEvery is how often the workflow is told at most of what nobody has to act on: each time is six events in its
// history. A question is told of at once.
const tellEvery = time.Second

// tell says to the workflow what has become of the run, where it does not know it; again is called later where the
// server cannot be told now.
func (h *held) tell(ctx context.Context, again func()) {
	seen, err := h.look(ctx)
	if err != nil {
		h.Log.Warn("the run cannot be read", "run", h.Task.Run, "error", err)
		time.AfterFunc(tellAgain, again)
		return
	}
	seen.Run = unended(seen.Run)
	h.mu.Lock()
	same := sameSeen(seen, h.last)
	h.mu.Unlock()
	if same {
		return
	}
	if rest := tellEvery - time.Since(h.toldAt); rest > 0 && !asksAnew(seen, h.last) {
		h.mu.Lock()
		h.notes = append(seen.Notes, h.notes...)
		h.mu.Unlock()
		time.AfterFunc(rest, again)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	h.told++
	seen.Seq, h.toldAt = h.told, time.Now()
	err = h.Client.SignalWorkflow(ctx, h.Task.Run, "", flow.SignalSeen, seen)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		h.notes = append(seen.Notes, h.notes...)
		time.AfterFunc(tellAgain, again)
		return
	}
	seen.Seq = 0
	h.last = seen
}

// asksAnew reports whether a run asks what it did not ask before.
func asksAnew(now, before flow.Seen) bool {
	return slices.ContainsFunc(now.Questions, func(q flow.QuestionInfo) bool {
		return !slices.ContainsFunc(before.Questions, func(b flow.QuestionInfo) bool { return b.ID == q.ID })
	})
}

// unended returns a run as it is told of before its outcome is handed in: until then it can still be done again from
// its last snapshot, so nobody is told that it has ended.
func unended(run *flow.RunInfo) *flow.RunInfo {
	if run == nil || run.EndedAt == nil && !run.Status.Ended() {
		return run
	}
	r := *run
	r.Status, r.Reason, r.EndedAt, r.ExitCode = "running", "it is about to end", nil, nil
	return &r
}

// sameSeen reports whether the workflow need not be told of a change: what only counts up, it is told with the next.
func sameSeen(a, b flow.Seen) bool {
	if len(a.Notes) > 0 {
		return false
	}
	if (a.Kept == "") != (b.Kept == "") {
		return false
	}
	a.Notes, b.Notes, a.Kept, b.Kept = nil, nil, "", ""
	for _, s := range []*flow.Seen{&a, &b} {
		if s.Run == nil {
			continue
		}
		run := *s.Run
		run.CostUSD, run.SupervisorPID, run.Agents = 0, 0, slices.Clone(run.Agents)
		for i, agent := range run.Agents {
			run.Agents[i] = flow.AgentInfo{ID: agent.ID, Status: agent.Status, Reason: agent.Reason}
		}
		s.Run = &run
	}
	one, err := json.Marshal(a)
	other, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(one, other)
}
