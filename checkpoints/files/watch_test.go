package files

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

func TestAWatchTellsOfAFileInFoldersThatAreMadeLater(t *testing.T) {
	top := t.TempDir()
	folder := filepath.Join(top, "a", "b", "c")
	w, err := NewWatch(func(name string) bool { return name == "wanted" }, folder)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for range 3 {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, "wanted"))
		open, err := os.Open(filepath.Join(folder, "wanted")) // keeps the folder, once it is removed, from being gone
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = open.Close() }()
		told(t, w, func() bool { return exists(filepath.Join(folder, "wanted")) })
		if err := os.RemoveAll(filepath.Join(top, "a")); err != nil {
			t.Fatal(err)
		}
		told(t, w, func() bool { return !exists(folder) })
	}
}

// A folder that is made while it is looked for is watched together with the one above it, which alone tells of its end.
func TestAWatchMissesNoFolderThatIsMadeAtTheSameTime(t *testing.T) {
	top := t.TempDir()
	for i := range 100 {
		folder := filepath.Join(top, strconv.Itoa(i), "a", "b", "c")
		var made sync.WaitGroup
		made.Go(func() {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Error(err)
			}
		})
		w, err := NewWatch(func(string) bool { return true }, folder)
		if err != nil {
			t.Fatal(err)
		}
		made.Wait()
		limit := time.After(patience)
		for watched := w.kernel.WatchList(); !slices.Contains(watched, folder) ||
			!slices.Contains(watched, filepath.Dir(folder)); watched = w.kernel.WatchList() {
			select {
			case <-w.C:
			case <-limit:
				t.Fatalf("of %s only these are watched: %v", folder, watched)
			}
		}
		w.Close()
	}
}

func TestAWatchIsSilentAboutOtherFiles(t *testing.T) {
	folder := t.TempDir()
	names := make(chan string, 100)
	w, err := NewWatch(func(name string) bool { names <- name; return name == "wanted" }, folder)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	write(t, filepath.Join(folder, "wanted.new"))
	write(t, filepath.Join(folder, "last"))
	for <-names != "last" {
	}
	select {
	case <-w.C:
		t.Error("it tells of a file that nobody asked for")
	default:
	}
}

func TestAWatchOfWhatCannotBeAFolderFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file)
	if w, err := NewWatch(func(string) bool { return true }, filepath.Join(file, "below")); err == nil {
		w.Close()
		t.Error("it watches below a file")
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// told waits until the watch has told of a change after which the fact holds.
func told(t *testing.T, w *Watch, fact func() bool) {
	t.Helper()
	limit := time.After(patience)
	for {
		select {
		case <-w.C:
			if fact() {
				return
			}
		case <-limit:
			t.Fatal("no change is told")
		}
	}
}

// patience bounds a failing test only.
const patience = 30 * time.Second
