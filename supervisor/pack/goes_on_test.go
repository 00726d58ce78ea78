package pack

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/internal/gittest"
)

func TestASnapshotThatNobodyCanGoOnFromIsToldFromOneOfANewerRelease(t *testing.T) {
	for name, c := range map[string]struct {
		spoil  func(s *snapped) error
		goesOn bool
		known  bool
	}{
		"whole":                            {func(*snapped) error { return nil }, true, true},
		"cut short":                        {func(s *snapped) error { return os.Truncate(s.path(2), 100) }, false, true},
		"what it is based on is cut short": {func(s *snapped) error { return os.Truncate(s.path(1), 100) }, false, true},
		"what it is based on is missing":   {func(s *snapped) error { return os.Remove(s.path(1)) }, false, true},
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
				t.Errorf("continues: %t, %v", goesOn, err)
			}
		})
	}
}

// What has failed can be tried again elsewhere, from the snapshot of the run's end; what has succeeded cannot, but a
// fleet, which vouches for the snapshot, reads how.
func TestARunThatHasEndedIsGoneOnWithOnlyToTryWhatFailedAgain(t *testing.T) {
	for status, again := range map[checkpoints.Status]bool{
		checkpoints.Failed: true, checkpoints.Unreported: true, checkpoints.Succeeded: false,
	} {
		t.Run(string(status), func(t *testing.T) {
			s := newSnapped(t, t.TempDir(), 10)
			s.mustTake()
			state := s.state()
			at, code := checkpoints.Now(), 1
			run, agent := *state.Run, *state.Agents.Get(packedAgent)
			run.EndedAt, run.ExitCode, agent.EndedAt = &at, &code, &at
			agent.Status = status
			change := checkpoints.Change{Run: &run, Agents: []*checkpoints.Agent{&agent}}
			if err := s.Store.Commit(t.Context(), change); err != nil {
				t.Fatal(err)
			}
			s.turn("its end")
			s.mustTake()
			if goesOn, err := GoesOn(s.path(2)); !goesOn || err != nil {
				t.Errorf("goes on: %t, %v", goesOn, err)
			}
			there, _, _, err := s.unpacks(2, true)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := there.Reader().Run(t.Context(), packedRun); err != nil || v.EndedAt == nil || v.Agents[0].Status != status {
				t.Errorf("vouched for it is %+v, %v", v, err)
			}
			there, _, unpacked, err := s.goesOn(2)
			if (err == nil) != again {
				t.Fatalf("unpacked: %v", err)
			}
			if err != nil {
				return
			}
			if unpacked.Failed == (&agent).Revivable() {
				t.Errorf("that only resume --failed goes on with it is said as %t", unpacked.Failed)
			}
			if _, err := there.Retryable(t.Context(), packedRun); err != nil {
				t.Error(err)
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
	session := here.waiting(folder, conf.Config{})
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

// Of a run that has ended there is nothing to go on with, and all that was written.
func TestTheFilesOfARunThatHasEndedAreUnpackedAlone(t *testing.T) {
	folder := t.TempDir()
	s := newSnapped(t, folder, 10)
	s.mustTake()
	state := s.state()
	at, code := checkpoints.Now(), 0
	run, agent := *state.Run, *state.Agents.Get(packedAgent)
	run.EndedAt, run.ExitCode, agent.EndedAt, agent.Status = &at, &code, &at, checkpoints.Succeeded
	change := checkpoints.Change{Run: &run, Agents: []*checkpoints.Agent{&agent}}
	if err := errors.Join(s.Store.Commit(t.Context(), change),
		os.WriteFile(filepath.Join(folder, "result.txt"), []byte("42"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s.turn("its end")
	s.mustTake()
	into := filepath.Join(t.TempDir(), "new", "result")
	got, err := UnpackFiles(t.Context(), s.path(2), into)
	if err != nil || got.Run != packedRun || got.At.IsZero() {
		t.Fatalf("it is %+v, %v", got, err)
	}
	if written, err := os.ReadFile(filepath.Join(into, "result.txt")); err != nil || string(written) != "42" {
		t.Errorf("the result is %q, %v", written, err)
	}
	if _, err := UnpackFiles(t.Context(), s.path(2), into); err == nil {
		t.Error("it is unpacked into a folder with files")
	}
	if err := os.Truncate(s.path(1), 100); err != nil {
		t.Fatal(err)
	}
	another := filepath.Join(t.TempDir(), "another")
	if _, err := UnpackFiles(t.Context(), s.path(2), another); err == nil {
		t.Error("a file that is not whole is unpacked")
	}
	if _, err := os.Stat(another); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder was made for nothing: %v", err)
	}
}
