package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"claude-supervise/cmd/claude-supervise-fleet/internal/desk"
	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/runlog"
	"claude-supervise/cmd/claude-supervise-fleet/internal/worker"
	"claude-supervise/supervisor/view"
)

// commands puts the fleet before one command. The blob store is opened for what is read of it.
func (c connected) commands() *desk.Commands {
	records := func(ctx context.Context, run string, epoch int) ([]byte, error) {
		store, err := c.snapshots(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { _ = store.Bucket.Close() }() // only read
		return shownRecord(ctx, store, run, epoch)
	}
	return &desk.Commands{Desk: desk.New(c.Fleet, records, nil, fleet.Who()), Kept: c.keptLog}
}

// desk puts the fleet before a person. close lets the blob store go.
func (c connected) desk(ctx context.Context) (d *desk.Desk, closed func(), err error) {
	store, err := c.snapshots(ctx)
	if err != nil {
		return nil, nil, err
	}
	records := func(ctx context.Context, run string, epoch int) ([]byte, error) {
		return shownRecord(ctx, store, run, epoch)
	}
	read := func(ctx context.Context, run string, follow bool, each func(view.Remark) error) error {
		_, err := c.Log(ctx, fleet.LogReading{Run: run, Follow: follow, Tail: -1, Kept: c.keptLog, Note: func(string) {},
			Each: func(e runlog.Entry) error { return each(e.Remark) }})
		return err
	}
	return desk.New(c.Fleet, records, read, fleet.Who()), func() { _ = store.Bucket.Close() }, nil // only read
}

func shownRecord(ctx context.Context, store worker.Store, run string, epoch int) ([]byte, error) {
	var content bytes.Buffer
	_, err := store.Record(ctx, run, epoch, worker.ShowRecord, &content)
	return content.Bytes(), err
}

// keptLog reads what the last worker up to an epoch has kept of a log when it left the run, and gives its epoch; 0 if
// none has left it.
func (c connected) keptLog(ctx context.Context, run string, epoch int, each func(runlog.Entry) error) (int, error) {
	store, err := c.snapshots(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = store.Bucket.Close() }() // only read
	var kept bytes.Buffer
	of, err := store.Record(ctx, run, epoch, worker.LogRecord, &kept)
	if errors.Is(err, worker.ErrNoRecord) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(kept.Bytes()) {
		var e runlog.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return 0, fmt.Errorf("what was kept of the log cannot be read: %w", err)
		}
		if err := each(e); err != nil {
			return 0, err
		}
	}
	return of, nil
}
