package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/internal/gittest"
)

// copied keeps a folder without git at a moment, and returns what a fork from there asks for.
func copied(t *testing.T) (folder string, p Spec) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "app[1]", "plain")
	gittest.Put(t, filepath.Join(folder, ".env"), "secret")
	gittest.Put(t, filepath.Join(folder, "sub", "a"), "then")
	if err := os.Mkdir(filepath.Join(folder, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	store := &git.Store{Folder: filepath.Join(t.TempDir(), "moments"), Limit: 1 << 20, Plain: 1 << 20}
	if err := os.Mkdir(store.Folder, 0o700); err != nil {
		t.Fatal(err)
	}
	id, err := store.Take(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	gittest.Put(t, filepath.Join(folder, "sub", "a"), "now")
	return folder, Spec{Agent: "a-1", Moments: store, Want: checkpoints.Worktree{State: checkpoints.WorktreeWanted,
		Branch: "claude-supervise/r-1/a-1", From: folder, Moment: &checkpoints.MomentOf{Run: "r-0", ID: id}}}
}

// A fork in a folder without git works in a copy of it as it was. One that was left half made is made again, one that
// was made is taken as it is.
func TestAForkInAFolderWithoutGitWorksInACopy(t *testing.T) {
	folder, p := copied(t)
	beside := filepath.Join(filepath.Dir(folder), ".plain-worktrees")
	gittest.Put(t, filepath.Join(beside, ".a-1-123", "half"), "")
	gittest.Put(t, filepath.Join(beside, ".a-2-123", "another's"), "")
	w, cwd, err := p.Make(t.Context())
	if err != nil || cwd != filepath.Join(beside, "a-1") || !w.IsCopy() || w.State != checkpoints.WorktreeMade {
		t.Fatalf("it is %+v in %s, %v", w, cwd, err)
	}
	gittest.WantFile(t, filepath.Join(cwd, ".env"), "secret")
	gittest.WantFile(t, filepath.Join(cwd, "sub", "a"), "then")
	if !there(t, filepath.Join(cwd, "empty")) || there(t, filepath.Join(beside, ".a-1-123")) ||
		!there(t, filepath.Join(beside, ".a-2-123")) {
		t.Error("it lacks an empty folder, or what was half made is still there, or more is gone")
	}
	gittest.Put(t, filepath.Join(cwd, "new"), "")
	for _, want := range []checkpoints.Worktree{p.Want, w} { // its record was lost, or it goes on
		p.Want = want
		if again, at, err := p.Make(t.Context()); err != nil || at != cwd || again.Path != w.Path {
			t.Errorf("made again it is %+v in %s, %v", again, at, err)
		}
		gittest.WantFile(t, filepath.Join(cwd, "new"), "")
	}
	end := WorktreeEnd{Worktree: w, Cwd: cwd, Moments: p.Moments}
	kept, err := end.Look(t.Context())
	if err != nil || kept.State != checkpoints.WorktreeKept || kept.Loose != 1 {
		t.Errorf("at its end it is %+v, %v", kept, err)
	}
	if err := os.Remove(filepath.Join(cwd, "new")); err != nil {
		t.Fatal(err)
	}
	gone, err := end.Look(t.Context())
	if err != nil || gone.State != checkpoints.WorktreeRemoved || there(t, cwd) {
		t.Errorf("with nothing in it, it is %+v, %v", gone, err)
	}
	p.Want = gone
	if w, _, err := p.Make(t.Context()); err != nil || !there(t, w.Path) {
		t.Errorf("for an agent that goes on it is %+v, %v", w, err)
	}
	if err := os.RemoveAll(cwd); err != nil {
		t.Fatal(err)
	}
	p.Want = w
	if _, _, err := p.Make(t.Context()); err == nil || !strings.Contains(err.Error(), "is gone: "+cwd) {
		t.Errorf("one that somebody has removed gives %v", err)
	}
}
