package worktree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/supervisor/internal/gittest"
)

func TestTheFilesThatAWorktreeHasChangedAreNamed(t *testing.T) {
	folder := gittest.Project(t)
	gittest.Put(t, filepath.Join(folder, "old"), "x")
	gittest.Committed(t, folder, "something to delete")
	w, cwd := made(t, siteIn(folder))
	changed := func(path string) []string {
		t.Helper()
		got, err := Changed(t.Context(), path, w.Branch, w.Base, folder)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := changed(w.Path); got != nil {
		t.Errorf("at its beginning it has changed %q", got)
	}
	gittest.Put(t, filepath.Join(cwd, "new"), "x")
	if err := os.Remove(filepath.Join(cwd, "old")); err != nil {
		t.Fatal(err)
	}
	gittest.Committed(t, cwd, "the work")
	gittest.Put(t, filepath.Join(cwd, "an e\u0301\nx"), "x")
	ran := gittest.NamesPrograms(t, folder)
	want := []string{"an e\u0301\nx (not committed)", "new", "old (deleted)"}
	got := changed(w.Path)
	if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
		t.Error(diff)
	}
	if there(t, ran) {
		t.Error("a program of the repository was run")
	}
	if diff := cmp.Diff(want[1:], changed("")); diff != "" { // its folder is gone: the branch tells
		t.Error(diff)
	}
	if _, err := Changed(t.Context(), "", "gone", w.Base, folder); err == nil {
		t.Error("a branch that is gone has changed something")
	}
}
