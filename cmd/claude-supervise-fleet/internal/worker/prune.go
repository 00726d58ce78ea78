package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
)

// Stored is what the blob store has of a run.
type Stored struct {
	Run   string
	Last  time.Time // when something was put there last
	Bytes int64
	keys  []string
}

// Stored returns what the blob store has of each run, by its id.
func (s Store) Stored(ctx context.Context) (map[string]*Stored, error) {
	const below = "runs/"
	all := map[string]*Stored{}
	for list := s.Bucket.List(&blob.ListOptions{Prefix: below}); ; {
		object, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the blob store cannot be listed: %w", err)
		}
		run, _, _ := strings.Cut(strings.TrimPrefix(object.Key, below), "/")
		if !flow.IsRun(run) {
			continue // it is none of ours
		}
		if all[run] == nil {
			all[run] = &Stored{Run: run}
		}
		of := all[run]
		of.Bytes, of.keys = of.Bytes+object.Size, append(of.keys, object.Key)
		if object.ModTime.After(of.Last) {
			of.Last = object.ModTime
		}
	}
}

// Remove removes all that was found of a run. What is gone already is removed.
func (s Store) Remove(ctx context.Context, of *Stored) error {
	for _, key := range of.keys {
		if err := s.Bucket.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return fmt.Errorf("%s cannot be removed: %w", key, err)
		}
	}
	return nil
}
