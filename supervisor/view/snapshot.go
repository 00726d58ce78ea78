package view

import (
	"context"
	"fmt"
	"slices"

	"claude-supervise/supervisor"
)

// AwaitSnapshot blocks until the supervisor of a run has answered a note that asks for a snapshot, and gives what came
// of it; after is the last event that was known before. The error says so where nobody supervises the run any more.
func (r Reader) AwaitSnapshot(ctx context.Context, run string, after, note int64) (supervisor.Snapshotted, error) {
	var answer supervisor.Snapshotted
	err := r.follow(ctx, func(ctx context.Context, now Reader) ([]RunView, bool, error) {
		v, err := now.Run(ctx, run) // before the events: what its supervisor has saved is then among them
		if err != nil {
			return nil, false, err
		}
		events, err := now.Store.Events(ctx, run, after)
		if err != nil {
			return nil, false, err
		}
		for _, e := range events {
			after = e.Seq
			if e.Type != supervisor.SnapshottedName {
				continue
			}
			h, err := supervisor.Recorded(e)
			if err != nil {
				return nil, false, err
			}
			if b, is := h.Event.(supervisor.Snapshotted); is && slices.Contains(b.Asked, note) {
				answer = b
				return nil, false, nil
			}
		}
		if !v.GoesOn() {
			return nil, false, fmt.Errorf("%s was left by its supervisor before it could be packed (%s); pack it now: "+
				"claude-supervise pack %s", run, v.Status, run)
		}
		return []RunView{v}, true, nil
	})
	return answer, err
}
