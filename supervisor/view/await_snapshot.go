package view

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
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

// RunSnapshot is the last snapshot of a run, as `ps --json` shows it.
type RunSnapshot struct {
	Folder  string     `json:"folder"`  // the run's own, which unpack takes
	At      *time.Time `json:"at"`      // the moment of which the last is that is whole; nil: there is none
	Problem string     `json:"problem"` // why there is none of a later moment; "": nothing is wrong
	Due     bool       `json:"due"`     // one of a later moment is to be taken, and is not there yet

	TooLarge bool `json:"too_large"` // Problem is that the work is larger than a snapshot may be
}

// runSnapshot returns the last snapshot of a run that takes them by itself; nil for others.
func runSnapshot(run supervisor.Run) (*RunSnapshot, error) {
	if run.Snapshots == nil { // of most: their configuration is not read
		return nil, nil
	}
	var config conf.Config
	if err := json.Unmarshal(run.Config, &config); err != nil {
		return nil, fmt.Errorf("the configuration of run %s cannot be read: %w", run.ID, err)
	}
	if config.Snapshots == nil || config.Snapshots.Dir == "" {
		return nil, nil
	}
	return &RunSnapshot{Folder: filepath.Join(config.Snapshots.Dir, run.ID), At: run.Snapshots.At,
		Problem: run.Snapshots.Problem, Due: run.Snapshots.Quiet > run.Snapshots.Covered,
		TooLarge: run.Snapshots.TooLarge}, nil
}
