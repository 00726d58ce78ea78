package worker

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"go.temporal.io/sdk/temporal"
	"gocloud.dev/gcerrors"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
)

// A worker claims the epoch of a run in the blob store before it does anything for the run:
//
//	runs/RUN/000001/claim.age    sealed under its name: which worker
//
// A server gives each epoch out once. Who reaches the server and has no key can have it begin a run over again: by what
// the run was begun with, or by a reset of its workflow. Nobody else can write into the blob store, and whoever can has
// no key either, so a claim that opens says that the fleet has had that epoch.

const claimFile = "claim"

// claimed returns the highest epoch of a run that was claimed, from one on; 0: none was.
func (s Store) claimed(ctx context.Context, run string, from int) (highest int, err error) {
	err = s.each(ctx, run, func(epoch int, file string) error {
		if file != claimFile || epoch < from || epoch <= highest {
			return nil
		}
		key := blobKey(run, epoch, claimFile)
		sealed, err := s.Bucket.ReadAll(ctx, key)
		switch {
		case gcerrors.Code(err) == gcerrors.NotFound:
		case err != nil:
			return fmt.Errorf("the blob store cannot be read: %w", err)
		case s.Key.Open(key, io.Discard, bytes.NewReader(sealed)) == nil:
			highest = epoch
		}
		return nil
	})
	return highest, err
}

// claim claims an epoch of a run for a worker. An error of the kind flow.ErrHad says that the fleet has had it.
func (s Store) claim(ctx context.Context, run string, epoch int, worker string) error {
	key := blobKey(run, epoch, claimFile)
	highest, err := s.claimed(ctx, run, epoch)
	if err != nil {
		return err
	}
	if highest == 0 {
		err := s.write(ctx, key, []byte(worker), true)
		switch gcerrors.Code(err) {
		case gcerrors.OK:
			return nil
		case gcerrors.FailedPrecondition: // another worker was faster, or somebody has put something else there
			if highest, err = s.claimed(ctx, run, epoch); err != nil {
				return err
			}
		default: // a store may know no condition
			if ctx.Err() != nil {
				return err
			}
		}
		if highest == 0 {
			return s.write(ctx, key, []byte(worker), false)
		}
	}
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf("epoch %d of %s was had before, up to %d: whoever "+
		"reaches the server has begun the run over again, or the server was set back. Nothing was done. To continue from "+
		"the newest snapshot: claude-supervise fleet resume --failed %s", epoch, run, highest, run),
		flow.ErrHad, nil, highest)
}
