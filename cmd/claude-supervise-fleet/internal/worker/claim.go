package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"go.temporal.io/sdk/temporal"
	"gocloud.dev/blob"
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

var claimName = regexp.MustCompile(`^runs/([^/]+)/([0-9]{6})/claim\.age$`)

func claimKey(run string, epoch int) string { return blobKey(run, epoch, "claim") }

// claimed returns the highest epoch of a run that was claimed, from one on; 0: none was.
func (s Store) claimed(ctx context.Context, run string, from int) (highest int, err error) {
	for list := s.Bucket.List(&blob.ListOptions{Prefix: "runs/" + run + "/"}); ; {
		object, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return highest, nil
		}
		if err != nil {
			return 0, fmt.Errorf("the blob store cannot be listed: %w", err)
		}
		m := claimName.FindStringSubmatch(object.Key)
		if m == nil || m[1] != run {
			continue
		}
		epoch, err := strconv.Atoi(m[2])
		if err != nil || epoch < from || epoch <= highest {
			continue
		}
		sealed, err := s.Bucket.ReadAll(ctx, object.Key)
		if gcerrors.Code(err) == gcerrors.NotFound {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("the blob store cannot be read: %w", err)
		}
		if s.Key.Open(object.Key, io.Discard, bytes.NewReader(sealed)) == nil {
			highest = epoch
		}
	}
}

// claim claims an epoch of a run for a worker. An error of the kind flow.ErrHad says that the fleet has had it.
func (s Store) claim(ctx context.Context, run string, epoch int, worker string) error {
	key := claimKey(run, epoch)
	highest, err := s.claimed(ctx, run, epoch)
	if err != nil {
		return err
	}
	if highest == 0 {
		var sealed bytes.Buffer
		if err := s.Key.File(key, &sealed, bytes.NewReader([]byte(worker))); err != nil {
			return err
		}
		options := blob.WriterOptions{ContentType: "application/octet-stream", IfNotExist: true}
		err := s.Bucket.WriteAll(ctx, key, sealed.Bytes(), &options)
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
			options.IfNotExist = false
			return s.Bucket.WriteAll(ctx, key, sealed.Bytes(), &options)
		}
	}
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf("epoch %d of %s was had before, up to %d: whoever "+
		"reaches the server has begun the run over again, or the server was set back. Nothing was done. To continue from "+
		"the newest snapshot: claude-supervise fleet resume --failed %s", epoch, run, highest, run),
		flow.ErrHad, nil, highest)
}

// forgetClaim removes the claim of an epoch, once a later one is claimed.
func (s Store) forgetClaim(ctx context.Context, run string, epoch int) error {
	err := s.Bucket.Delete(ctx, claimKey(run, epoch))
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return err
}
