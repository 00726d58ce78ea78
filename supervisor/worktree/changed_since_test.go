package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claude-supervise/supervisor/internal/gittest"
)

// What was written since is found below the paths that are named, once each, and nothing of what a link leads to
// outside.
func TestWhatWasChangedSinceIsFoundInAFolder(t *testing.T) {
	folder, outside := t.TempDir(), t.TempDir()
	before := time.Now().Add(-time.Hour)
	for _, name := range []string{"src/old", "src/new", "src/sub/new", "src/.git/new", "other/new"} {
		gittest.Put(t, filepath.Join(folder, name), name)
	}
	gittest.Put(t, filepath.Join(outside, "secret"), "new")
	for _, err := range []error{
		os.Symlink(outside, filepath.Join(folder, "src/out")), os.Symlink("sub", filepath.Join(folder, "src/in")),
		os.Symlink(outside, filepath.Join(folder, "away")),
		os.Chtimes(filepath.Join(folder, "src/old"), before, before),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	since := time.Now().Add(-time.Minute)
	changed, unknown := ChangedSince(t.Context(), folder, []string{"src", "src/sub", "not/there", "away/secret"}, since,
		[]string{"other/gone", "src/gone", "srcs"})
	want := []string{"src/in", "src/new", "src/out", "src/sub/new", "src/gone (deleted)"}
	if !slices.Equal(changed, want) {
		t.Errorf("changed are %q, not %q", changed, want)
	}
	if !strings.Contains(unknown, "first moment after the question are not listed. Not looked through: away/secret (") {
		t.Errorf("not known is %q", unknown)
	}
	if changed, unknown = ChangedSince(t.Context(), folder, []string{"src/new"}, since, nil); len(changed) != 1 ||
		unknown != "Deleted files are not listed." {
		t.Errorf("changed are %q, and not known is %q", changed, unknown)
	}
	for i := range maxChanged + 5 {
		gittest.Put(t, filepath.Join(folder, "many", strings.Repeat("x", i+1)), "new")
	}
	changed, unknown = ChangedSince(t.Context(), folder, []string{"many"}, since, []string{})
	if len(changed) != maxChanged || !strings.HasPrefix(unknown, "And 5 more. ") {
		t.Errorf("of many there are %d, and not known is %q", len(changed), unknown)
	}
	if changed, unknown = ChangedSince(t.Context(), filepath.Join(folder, "none"), []string{"."}, since, nil); changed != nil ||
		!strings.HasPrefix(unknown, "What was changed could not be looked for: ") {
		t.Errorf("of a folder that is gone it says %q, %q", changed, unknown)
	}
}
