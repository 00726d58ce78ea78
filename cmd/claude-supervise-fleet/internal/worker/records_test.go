package worker

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"gocloud.dev/blob/memblob"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
)

// A signal to all that a worker has started ends what makes the record, too: it is made again.
func TestARunIsShownThoughASignalEndedWhatMakesItsRecord(t *testing.T) {
	dir := t.TempDir()
	key, err := seal.MakeKey(filepath.Join(dir, "fleet.key"))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program")
	script := "#!/bin/sh\n[ -e struck ] || { : > struck; kill -TERM $$; }\necho shown\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	bucket := memblob.OpenBucket(nil)
	defer func() { _ = bucket.Close() }() // in memory
	h := &held{Worker: &Worker{Name: "one", Program: program, Store: Store{Bucket: bucket, Key: key},
		Log: slog.New(slog.DiscardHandler)}, dir: dir, Attempt: flow.Attempt{Epoch: 1, Task: flow.Task{Run: "r-abcd1234"}}}
	h.records(t.Context())
	var kept bytes.Buffer
	if _, err := h.Store.Record(t.Context(), "r-abcd1234", 1, ShowRecord, &kept); err != nil || kept.String() != "shown\n" {
		t.Errorf("what is shown is %q: %v", kept.String(), err)
	}
	if _, err := os.Stat(filepath.Join(dir, "struck")); err != nil {
		t.Errorf("no signal came: %v", err)
	}
}
