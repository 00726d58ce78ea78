package pack

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/internal/gittest"
)

func TestASnapshotThatNobodyCanGoOnFromIsToldFromOneOfANewerRelease(t *testing.T) {
	for name, c := range map[string]struct {
		spoil  func(s *snapped) error
		goesOn bool
		known  bool
	}{
		"whole":                         {func(*snapped) error { return nil }, true, true},
		"cut short":                     {func(s *snapped) error { return os.Truncate(s.path(2), 100) }, false, true},
		"what it rests on is cut short": {func(s *snapped) error { return os.Truncate(s.path(1), 100) }, false, true},
		"what it rests on is missing":   {func(s *snapped) error { return os.Remove(s.path(1)) }, false, true},
		"of a newer release": {func(s *snapped) error {
			s.rewritten(2, func(es []forgedEntry) []forgedEntry {
				es[0].content = regexp.MustCompile(`"format": *[0-9]+`).ReplaceAllString(es[0].content, `"format": 99`)
				return es
			})
			return nil
		}, false, false},
		"not to be read": {func(s *snapped) error {
			return errors.Join(os.Remove(s.path(2)), os.Mkdir(s.path(2), 0o700))
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSnapped(t, t.TempDir(), 10)
			s.mustTake()
			s.turn("two")
			s.mustTake()
			if err := c.spoil(s); err != nil {
				t.Fatal(err)
			}
			if goesOn, err := GoesOn(s.path(2)); goesOn != c.goesOn || (err == nil) != c.known {
				t.Errorf("goes on: %t, %v", goesOn, err)
			}
		})
	}
}

// A run leaves a machine, goes on elsewhere, and comes back: its conversation here would be in its way.
func TestAConversationThatWasDroppedIsNotInTheWayOfTheRunThatComesBack(t *testing.T) {
	here := newPC(t)
	t.Setenv("HOME", here.home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	folder := t.TempDir()
	session := here.waiting(folder, supervisor.Config{})
	other := filepath.Join(here.home, ".claude", "projects", "other", "notes.txt")
	gittest.Put(t, other, "of somebody else\n")
	file := here.mustPack()
	gittest.Put(t, here.transcript(folder, session), "one\nanother two\n")
	if err := here.DropConversations(t.Context(), packedRun); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(here.transcript(folder, session))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its conversations are there: %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	if _, err := here.unpack(file, UnpackOptions{Folder: folder}); err != nil {
		t.Error(err)
	}
}
