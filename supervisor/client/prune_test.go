package client

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/internal/storetest"
)

// The words of what is deleted are nowhere else either.
func TestWhatIsPrunedIsNotInTheIndexOfAnswers(t *testing.T) {
	s := storetest.NewSaver(t, storetest.TestDirs(t), "r-aaaaaaaa")
	ended := checkpoints.Now()
	s.Run.Status, s.Run.EndedAt = checkpoints.Succeeded, &ended
	s.Leave("it has ended")
	path, err := s.Dirs.Answered()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"", "-wal"} {
		if err := os.WriteFile(path+part, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := Client{Dirs: s.Dirs, Store: s.Store}
	all, err := c.Prune(t.Context(), nil, time.Now().Add(time.Hour), false, nil)
	if err != nil || len(all) != 1 || all[0].Kept != "" {
		t.Fatalf("it pruned %+v, %v", all, err)
	}
	for _, part := range []string{"", "-wal"} {
		if _, err := os.Stat(path + part); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("index%s is there: %v", part, err)
		}
	}
}
