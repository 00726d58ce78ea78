package commands

import (
	"bytes"
	"context"

	"claude-supervise/cmd/claude-supervise-fleet/internal/desk"
	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/runlog"
	"claude-supervise/cmd/claude-supervise-fleet/internal/worker"
	"claude-supervise/supervisor/view"
)

// desk puts the fleet before a person. close lets the blob store go.
func (c connected) desk(ctx context.Context) (d *desk.Desk, closed func(), err error) {
	store, err := c.snapshots(ctx)
	if err != nil {
		return nil, nil, err
	}
	records := func(ctx context.Context, run string, epoch int) ([]byte, error) {
		var content bytes.Buffer
		_, err := store.Record(ctx, run, epoch, worker.ShowRecord, &content)
		return content.Bytes(), err
	}
	read := func(ctx context.Context, run string, follow bool, each func(view.Remark) error) error {
		_, err := c.Log(ctx, fleet.LogReading{Run: run, Follow: follow, Tail: -1, Kept: c.keptLog, Note: func(string) {},
			Each: func(e runlog.Entry) error { return each(e.Remark) }})
		return err
	}
	return desk.New(c.Fleet, records, read, fleet.Who()), func() { _ = store.Bucket.Close() }, nil // only read
}
