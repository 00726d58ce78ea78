package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"

	"gocloud.dev/gcerrors"

	"claude-supervise/supervisor/view"
)

// A Record is what is kept of a run for people, when a worker leaves it.
type Record string

// The records of a run.
const (
	ShowRecord Record = "show.json" // as `show --json` prints it
	LogRecord  Record = "log.jsonl" // a runlog.Entry on each line
)

// ErrNoRecord means that no worker has left the run yet.
var ErrNoRecord = errors.New("no worker has parked or ended the run yet, so there is nothing to show but what " +
	"fleet ps shows")

// Record writes a record of a run, of the newest epoch up to one that has it, and gives that epoch. ErrNoRecord if none
// has.
func (s Store) Record(ctx context.Context, run string, epoch int, r Record, out io.Writer) (int, error) {
	for ; epoch > 0; epoch-- {
		key := blobKey(run, epoch, string(r))
		sealed, err := s.Bucket.ReadAll(ctx, key)
		if gcerrors.Code(err) == gcerrors.NotFound {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("the blob store cannot be read: %w", err)
		}
		if err := s.Key.Open(key, out, bytes.NewReader(sealed)); err != nil {
			return 0, fmt.Errorf("%s: %w", key, err)
		}
		return epoch, nil
	}
	return 0, ErrNoRecord
}

// recordTries is how often what makes a record is run: a service manager that stops a worker sends its signal to all
// that the worker has started, and this is what the run is shown by from then on.
const recordTries = 3

// endedBySignal reports whether a program was ended before it could say what is wrong.
func endedBySignal(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == -1
}

// records keeps what people are shown of the run once this worker has left it. That it cannot keeps nothing back.
func (h *held) records(ctx context.Context) {
	for record, make := range map[Record]func(context.Context) ([]byte, error){
		ShowRecord: func(ctx context.Context) ([]byte, error) { return h.does(ctx, "show", h.Task.Run, "--json") },
		LogRecord:  h.logRecord,
	} {
		content, err := make(ctx)
		for tries := 1; endedBySignal(err) && tries < recordTries && ctx.Err() == nil; tries++ {
			content, err = make(ctx)
		}
		if err == nil {
			err = h.Store.write(ctx, blobKey(h.Task.Run, h.Epoch, string(record)), content, false)
		}
		if err != nil {
			h.Log.Warn("a run cannot be shown later", "run", h.Task.Run, "record", record, "error", err)
		}
	}
}

// logRecord is all that the log of the run says to people, with its marks.
func (h *held) logRecord(ctx context.Context) ([]byte, error) {
	c, err := h.opened()
	if err != nil || c == nil {
		return nil, err
	}
	log, err := c.Reader().RunLog(ctx, h.Task.Run)
	if err != nil {
		return nil, err
	}
	var lines bytes.Buffer
	out := json.NewEncoder(&lines)
	err = log.Each(ctx, func(l view.LogLine) error {
		for _, e := range entriesOf(l) {
			if err := out.Encode(e); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) { // no agent has said anything
		err = nil
	}
	return lines.Bytes(), err
}
