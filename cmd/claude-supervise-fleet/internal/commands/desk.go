package commands

import (
	"bytes"
	"context"
	"encoding/json"

	"claude-supervise/cmd/claude-supervise-fleet/internal/desk"
	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/worker"
	"claude-supervise/supervisor/view"
)

// desk puts the fleet before a person. close lets the blob store go.
func (c connected) desk(ctx context.Context) (d *desk.Desk, closed func(), err error) {
	store, err := c.snapshots(ctx)
	if err != nil {
		return nil, nil, err
	}
	kept := func(ctx context.Context, run string, epoch int, r worker.Record) ([]byte, error) {
		var content bytes.Buffer
		err := store.Record(ctx, run, epoch, r, &content)
		return content.Bytes(), err
	}
	records := func(ctx context.Context, run string, epoch int) ([]byte, error) {
		return kept(ctx, run, epoch, worker.ShowRecord)
	}
	read := func(ctx context.Context, run string, _ bool, each func(view.Remark) error) error {
		l, err := c.Run(ctx, run)
		if err != nil {
			return err
		}
		content, err := kept(ctx, run, l.Epoch, worker.LogRecord)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(content) {
			var r view.Remark
			if err := json.Unmarshal(line, &r); err != nil {
				return err
			}
			if err := each(r); err != nil {
				return err
			}
		}
		return nil
	}
	return desk.New(c.Fleet, records, read, fleet.Who()), func() { _ = store.Bucket.Close() }, nil // only read
}
