package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claude-supervise/supervisor/pack"
)

// ErrNoSnapshot means that the blob store has no snapshot of a run.
var ErrNoSnapshot = errors.New("no worker has taken a snapshot of the run yet, so there is nothing to fetch")

// Fetched says what was fetched of a run.
type Fetched struct {
	pack.UnpackedFiles
	Epoch int
}

// Fetch puts what the agents of a run have written into a folder, as pack.UnpackFiles does: what the newest snapshot
// has that is whole. ErrNoSnapshot if there is none.
func (s Store) Fetch(ctx context.Context, run, folder string) (f Fetched, err error) {
	all, err := s.snapshots(ctx, run)
	if err != nil {
		return f, err
	}
	if len(all) == 0 {
		return f, ErrNoSnapshot
	}
	scratch, err := os.MkdirTemp("", "claude-supervise-fetch-")
	if err != nil {
		return f, err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // nobody knows of it
	var told []string
	for _, epoch := range slices.Backward(slices.Sorted(maps.Keys(all))) {
		here, missed, err := s.download(ctx, run, epoch, all[epoch], filepath.Join(scratch, run))
		if told = append(told, missed...); err != nil {
			return f, err
		}
		for _, name := range slices.Backward(here) {
			file := filepath.Join(scratch, run, name)
			f.UnpackedFiles, err = pack.UnpackFiles(ctx, file, folder)
			if !pack.Broken(err) { // an older one would be refused, too
				f.Epoch, f.Told = epoch, append(told, f.Told...)
				return f, err
			}
			told = append(told, fmt.Sprintf("snapshot %s of epoch %d was not used: %v", name, epoch, err))
		}
	}
	return f, fmt.Errorf("none of its snapshots can be used: %s", strings.Join(told, " · "))
}
