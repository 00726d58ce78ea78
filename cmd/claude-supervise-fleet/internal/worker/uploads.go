package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claude-supervise/checkpoints/files"
)

// uploadAgain is how long to wait before the blob store is tried again.
const uploadAgain = 5 * time.Second

// uploads uploads the snapshots of a run as they appear, until last is closed and all that there are then are in the
// blob store, or ctx ends. changed is told after each.
func (h *held) uploads(ctx context.Context, last <-chan struct{}, changed func()) error {
	if err := os.MkdirAll(h.snapshotsOf(), 0o700); err != nil {
		return err
	}
	w, err := files.NewWatch(func(string) bool { return true }, h.snapshotsOf())
	if err != nil {
		return fmt.Errorf("the snapshots cannot be watched: %w", err)
	}
	defer w.Close()
	if h.uploaded == nil {
		h.uploaded = map[string]bool{}
	}
	there := h.uploaded
	for ending := false; ; {
		again := (<-chan time.Time)(nil)
		more, err := h.upload(ctx, there)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			h.note("a snapshot cannot be uploaded, and is tried again: %v", err)
			again = time.After(uploadAgain)
		}
		if more || err != nil {
			changed()
		}
		if ending && err == nil {
			return nil
		}
		select {
		case <-w.C:
		case <-again:
		case <-last:
			ending, last = true, nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// upload uploads what is new, and removes what the run's supervisor has removed. there is what is in the blob store.
func (h *held) upload(ctx context.Context, there map[string]bool) (more bool, err error) {
	entries, err := os.ReadDir(h.snapshotsOf())
	if err != nil {
		return false, err
	}
	here := map[string]bool{}
	for _, e := range entries { // sorted: what a snapshot rests on comes first
		name := e.Name()
		if !strings.HasSuffix(name, ".tar.gz") || strings.HasPrefix(name, ".") {
			continue
		}
		here[name] = true
		if there[name] {
			continue
		}
		path := filepath.Join(h.snapshotsOf(), name)
		err := h.Store.Put(ctx, h.Task.Run, h.Epoch, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the supervisor has removed it
		}
		if err != nil {
			return more, err
		}
		if err := h.isSafe(h.Epoch, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return more, err
		}
		there[name], more = true, true
	}
	for name := range there {
		if !here[name] {
			if err := h.Store.Delete(ctx, h.Task.Run, h.Epoch, name); err != nil {
				return more, err
			}
			delete(there, name)
		}
	}
	return more, nil
}
