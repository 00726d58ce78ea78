package pack

import (
	"os"
	"path/filepath"
	"testing"
)

// Whoever unpacks a snapshot waits for all that it rests on to be read, too.
func TestTheProgressOfASnapshotCountsAllThatItRestsOn(t *testing.T) {
	s := newSnapped(t, t.TempDir(), 10)
	for _, says := range []string{`{"n":1}`, `{"n":2}`, `{"n":3}`} {
		s.turn(says)
		s.mustTake()
	}
	all := int64(0)
	for n := range 3 {
		info, err := os.Stat(s.path(n + 1))
		if err != nil {
			t.Fatal(err)
		}
		all += info.Size()
	}
	f, err := os.Open(s.path(3))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // only read
	there := newPC(t)
	var done, total int64
	_, err = Unpack(t.Context(), there.Client, f, UnpackOptions{Folder: filepath.Join(t.TempDir(), "there"), File: s.path(3),
		Env: []string{"HOME=" + there.home}, Progress: func(d, all int64) {
			if d < done || all < total || d > all {
				t.Errorf("it goes from %d of %d to %d of %d", done, total, d, all)
			}
			done, total = d, all
		}})
	if err != nil || total != all || done != all {
		t.Errorf("it ends with %d of %d read, of files of %d bytes: %v", done, total, all, err)
	}
}
