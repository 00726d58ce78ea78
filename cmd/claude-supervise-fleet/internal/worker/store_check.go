package worker

import (
	"bytes"
	"context"
	"fmt"

	"gocloud.dev/gcerrors"
)

// keyMark is a blob that is sealed with the fleet's key: by it a worker with another key is known, before it takes runs
// that it cannot read.
const keyMark = "fleet" + sealedSuffix

// Check looks whether the store can be read and written, and is one that the fleet's key opens. A worker writes the
// mark each time, so that a store that cannot be written is known before a run's snapshots are.
func (s Store) Check(ctx context.Context) error {
	sealed, err := s.Bucket.ReadAll(ctx, keyMark)
	if err == nil {
		if err := s.Key.Open(keyMark, new(bytes.Buffer), bytes.NewReader(sealed)); err != nil {
			return fmt.Errorf("this is not the key of the fleet whose snapshots are in the blob store (its %s: %w). "+
				"Nothing was started: name the right one with --key, or another store with --store", keyMark, err)
		}
	} else if gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("the blob store cannot be read: %w. Nothing was started", err)
	}
	if err := s.write(ctx, keyMark, nil, false); err != nil {
		return fmt.Errorf("the blob store cannot be written, so no snapshot of a run would be safe: %w. Nothing was started",
			err)
	}
	return nil
}
