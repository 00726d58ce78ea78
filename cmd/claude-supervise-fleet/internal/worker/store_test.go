package worker

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gocloud.dev/blob/memblob"

	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
)

// What an epoch has, that later ones were not read to have whole, stays.
func TestOlderSnapshotsGoOnceANewerOneWasRead(t *testing.T) {
	key, err := seal.MakeKey(filepath.Join(t.TempDir(), "fleet.key"))
	if err != nil {
		t.Fatal(err)
	}
	s := Store{Bucket: memblob.OpenBucket(nil), Key: key}
	const run = "r-abcd1234"
	file := filepath.Join(t.TempDir(), "000001.tar.gz")
	if err := os.WriteFile(file, []byte("cut short"), 0o600); err != nil {
		t.Fatal(err)
	}
	for epoch := 1; epoch <= 3; epoch++ {
		if err := s.Put(t.Context(), run, epoch, file); err != nil {
			t.Fatal(err)
		}
	}
	for epoch := 1; epoch <= 2; epoch++ {
		if err := s.write(t.Context(), blobKey(run, epoch, string(ShowRecord)), []byte("shown"), false); err != nil {
			t.Fatal(err)
		}
	}
	epochs := func() (all []int) {
		t.Helper()
		there, err := s.snapshots(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		for epoch := range there {
			all = append(all, epoch)
		}
		slices.Sort(all)
		return all
	}
	// The newest does not unpack: it was not read, and nothing before what does goes.
	origin, _, err := s.Newest(t.Context(), run, 4, t.TempDir(), func(string) error {
		return errors.New("it is cut short")
	})
	if err != nil || origin.Epoch != 0 || !slices.Equal(epochs(), []int{1, 2, 3}) {
		t.Fatalf("from epoch %d, %v; there are %v", origin.Epoch, err, epochs())
	}
	if err := s.Keep(t.Context(), run, 3); err != nil {
		t.Fatal(err)
	}
	if all := epochs(); !slices.Equal(all, []int{3}) {
		t.Errorf("with that of epoch 3 read there are %v", all)
	}
	var shown sink
	if of, err := s.Record(t.Context(), run, 3, ShowRecord, &shown); err != nil || of != 2 || string(shown) != "shown" {
		t.Errorf("it is shown as of epoch %d: %q, %v", of, shown, err)
	}
}

type sink []byte

func (s *sink) Write(b []byte) (int, error) { *s = append(*s, b...); return len(b), nil }
