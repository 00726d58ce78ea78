package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// A Record is what is kept of a run for people, when a worker leaves it.
type Record string

// The records of a run.
const (
	ShowRecord Record = "show.json" // as `show --json` prints it
	LogRecord  Record = "log.jsonl" // as `logs --json` prints it
)

// ErrNoRecord means that no worker has left the run yet.
var ErrNoRecord = errors.New("no worker has parked or ended the run yet, so there is nothing to show but what " +
	"fleet ps shows")

// putRecord seals and uploads a record.
func (s Store) putRecord(ctx context.Context, run string, epoch int, r Record, content []byte) error {
	key := blobKey(run, epoch, string(r))
	var sealed bytes.Buffer
	if err := s.Key.File(key, &sealed, bytes.NewReader(content)); err != nil {
		return err
	}
	return s.Bucket.WriteAll(ctx, key, sealed.Bytes(), &blob.WriterOptions{ContentType: "application/octet-stream"})
}

// Record writes a record of a run, of the newest epoch up to one that has it. ErrNoRecord if none has.
func (s Store) Record(ctx context.Context, run string, epoch int, r Record, out io.Writer) error {
	for ; epoch > 0; epoch-- {
		key := blobKey(run, epoch, string(r))
		sealed, err := s.Bucket.ReadAll(ctx, key)
		if gcerrors.Code(err) == gcerrors.NotFound {
			continue
		}
		if err != nil {
			return fmt.Errorf("the blob store cannot be read: %w", err)
		}
		if err := s.Key.Open(key, out, bytes.NewReader(sealed)); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	}
	return ErrNoRecord
}

// records keeps what people are shown of the run once this worker has left it. That it cannot keeps nothing back.
func (h *held) records(ctx context.Context) {
	for record, command := range map[Record]string{ShowRecord: "show", LogRecord: "logs"} {
		out, err := h.does(ctx, command, h.Task.Run, "--json")
		if err == nil {
			err = h.Store.putRecord(ctx, h.Task.Run, h.Epoch, record, out)
		}
		if err != nil {
			h.Log.Warn("a run cannot be shown later", "run", h.Task.Run, "record", record, "error", err)
		}
	}
}
