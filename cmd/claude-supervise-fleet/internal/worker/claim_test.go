package worker

import (
	"errors"
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/temporal"
	"gocloud.dev/blob/memblob"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
)

// An epoch is had once, and none that is before one that was had; what somebody without the key has put there claims
// nothing.
func TestAnEpochIsClaimedOnce(t *testing.T) {
	key, err := seal.MakeKey(filepath.Join(t.TempDir(), "fleet.key"))
	if err != nil {
		t.Fatal(err)
	}
	s := Store{Bucket: memblob.OpenBucket(nil), Key: key}
	const run = "r-abcd1234"
	if err := s.Bucket.WriteAll(t.Context(), blobKey(run, 2, claimFile), []byte("forged"), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		run        string
		epoch, had int
	}{{run, 1, 0}, {run, 1, 1}, {run, 2, 0}, {run, 2, 2}, {run, 1, 2}, {run, 5, 0}, {run, 3, 5}, {"r-bbbb1234", 1, 0}} {
		err := s.claim(t.Context(), c.run, c.epoch, "one")
		var had *temporal.ApplicationError
		last := 0
		if errors.As(err, &had) && had.Type() == flow.ErrHad {
			err = had.Details(&last)
		}
		if err != nil || last != c.had {
			t.Errorf("epoch %d of %s: it was had up to %d, not %d: %v", c.epoch, c.run, last, c.had, err)
		}
		if last == 0 {
			if err := s.Delete(t.Context(), c.run, c.epoch-1, claimFile); err != nil {
				t.Error(err)
			}
		}
	}
}
