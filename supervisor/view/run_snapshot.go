package view

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"claude-supervise/supervisor"
)

// RunSnapshot is the last snapshot of a run, as `ps --json` shows it.
type RunSnapshot struct {
	Folder  string     `json:"folder"`  // the run's own, which unpack takes
	At      *time.Time `json:"at"`      // the moment of which the last is that is whole; nil: there is none
	Problem string     `json:"problem"` // why there is none of a later moment; "": nothing is wrong
	Due     bool       `json:"due"`     // one of a later moment is to be taken, and is not there yet

	TooLarge bool `json:"too_large"` // Problem is that the work is larger than a snapshot may be
}

// runSnapshot gives the last snapshot of a run that takes them by itself; nil for others.
func runSnapshot(run supervisor.Run) (*RunSnapshot, error) {
	if run.Snapshots == nil { // of most: their configuration is not read
		return nil, nil
	}
	var config supervisor.Config
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
