package pack

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/internal/gittest"
)

func TestEachSnapshotIsTheRunAsItWasThenAndHoldsOnlyWhatIsNew(t *testing.T) {
	for name, in := range map[string]func(*testing.T) string{
		"a folder": func(t *testing.T) string { return t.TempDir() },
		"a work tree": func(t *testing.T) string {
			folder := t.TempDir()
			gittest.InRepository(t, folder)
			gittest.Put(t, filepath.Join(folder, "committed"), "committed\n")
			gittest.Committed(t, folder, "first")
			return folder
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := in(t)
			s := newSnapped(t, folder, 10)
			gittest.Put(t, filepath.Join(folder, "big"), strings.Repeat("0123456789abcdef\x00\xff", 1<<16)+name)
			gittest.Put(t, filepath.Join(folder, "gone later"), "here\n")
			gittest.Put(t, filepath.Join(folder, "deep/er/file"), "one\n")
			s.turn(`{"type":"assistant","n":1}`)
			s.mustTake()
			gittest.Put(t, filepath.Join(folder, "deep/er/file"), "two\n")
			if err := os.Remove(filepath.Join(folder, "gone later")); err != nil {
				t.Fatal(err)
			}
			s.turn(`{"type":"assistant","n":2}`)
			second := s.mustTake()
			gittest.Put(t, filepath.Join(folder, "gone later"), "here again\n")
			s.turn(`{"type":"assistant","n":3}`)
			s.mustTake()

			if second.Bytes > 8<<10 {
				t.Errorf("a change of a few bytes takes %d", second.Bytes)
			}
			for n, want := range map[int]struct{ file, gone, said string }{
				1: {"one\n", "here\n", `"n":1}`}, 2: {"two\n", "", `"n":2}`}, 3: {"two\n", "here again\n", `"n":3}`},
			} {
				there, to, run, err := s.goesOn(n)
				if err != nil {
					t.Fatalf("snapshot %d: %v", n, err)
				}
				gittest.WantFile(t, filepath.Join(to, "deep/er/file"), want.file)
				if want.gone != "" {
					gittest.WantFile(t, filepath.Join(to, "gone later"), want.gone)
				} else if _, err := os.Lstat(filepath.Join(to, "gone later")); err == nil {
					t.Errorf("snapshot %d has a file that was removed before", n)
				}
				transcript, err := claude.Transcript([]string{"HOME=" + there.home}, s.session)
				if err != nil {
					t.Fatal(err)
				}
				said, err := os.ReadFile(transcript)
				if err != nil || !strings.HasSuffix(string(said), want.said+"\n") || strings.Count(string(said), `"n":`) != n {
					t.Errorf("snapshot %d: the conversation is %q, %v", n, said, err)
				}
				e, err := there.Store.Export(t.Context(), packedRun)
				if err != nil || len(e.Events) != n+2 { // created, n turns, unpacked
					t.Errorf("snapshot %d has %d events, %v", n, len(e.Events), err)
				}
				if run.Snapshot == nil || run.Snapshot.Epoch < 2 || e.Run.Epoch != run.Snapshot.Epoch {
					t.Errorf("snapshot %d is taken over as %+v, epoch %d", n, run.Snapshot, e.Run.Epoch)
				}
			}
		})
	}
}

func TestTheNumberOfSnapshotsIsBoundedAndEachOneThatIsLeftCanBeUnpacked(t *testing.T) {
	folder := t.TempDir()
	s := newSnapped(t, folder, 3)
	for i := range maxChain + 5 {
		gittest.Put(t, filepath.Join(folder, "file"), fmt.Sprint(i))
		s.mustTake()
	}
	all, err := snapshotsIn(filepath.Join(s.dir, packedRun))
	if err != nil {
		t.Fatal(err)
	}
	if last := all[len(all)-1].number; last != maxChain+5 || len(all) > maxChain+3 {
		t.Errorf("%d are left, the last is %d", len(all), last)
	}
	for i := range 8 { // those before the new beginning are not needed any more
		gittest.Put(t, filepath.Join(folder, "file"), fmt.Sprint("again", i))
		s.mustTake()
	}
	if all, err = snapshotsIn(filepath.Join(s.dir, packedRun)); err != nil || len(all) > 3+13 {
		t.Fatalf("%d are left, %v", len(all), err)
	}
	for _, file := range all[len(all)-3:] {
		if _, _, _, err := s.goesOn(file.number); err != nil {
			t.Errorf("%s: %v", file.name, err)
		}
	}
}

// However often the work changes, no snapshot holds more together with those that it rests on than is unpacked.
func TestAChainOfSnapshotsHoldsNoMoreWorkThanIsUnpacked(t *testing.T) {
	for name, inGit := range map[string]bool{"a folder": false, "a work tree": true} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if inGit {
				gittest.InRepository(t, folder)
			}
			random := rand.NewChaCha8([32]byte{})
			put := func(file string, size int) {
				content := make([]byte, size)
				_, _ = random.Read(content) // it never fails
				gittest.Put(t, filepath.Join(folder, file), string(content))
			}
			s := newSnapped(t, folder, 20)
			s.taker.MaxWork = 1 << 20
			put("stays", 500<<10)
			for n := 1; n <= 6; n++ {
				put("changes", 200<<10)
				s.turn("changed")
				s.mustTake()
				f, err := os.Open(s.path(n))
				if err != nil {
					t.Fatal(err)
				}
				_, err = readChain(&progress{}, f, s.path(n), t.TempDir(), s.taker.MaxWork)
				if err := errors.Join(err, f.Close()); err != nil {
					t.Fatalf("snapshot %d: %v", n, err)
				}
			}
			// in a folder a file that is so new is read twice
			if m, err := manifestIn(s.path(2)); err != nil || inGit && m.Snapshot.Base == "" {
				t.Errorf("the second rests on none: %+v, %v", m.Snapshot, err)
			}
			put("stays", 900<<10)
			if b := s.take(); !b.Large {
				t.Errorf("what is larger by itself is %+v", b)
			}
		})
	}
}

// What a supervisor keeps for its snapshots is bounded, however often the work changes.
func TestWhatIsKeptOfTheWorkIsFreedWithTheSnapshotsThatNeededIt(t *testing.T) {
	folder := t.TempDir()
	gittest.InRepository(t, folder)
	s := newSnapped(t, folder, 2)
	random := rand.NewChaCha8([32]byte{})
	for range 12 {
		content := make([]byte, 600<<10)
		_, _ = random.Read(content) // it never fails
		gittest.Put(t, filepath.Join(folder, "changes"), string(content))
		s.mustTake()
	}
	root, err := os.OpenRoot(s.Dirs.RunFile(packedRun, "snapshots"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }() // only read
	size, err := git.FolderSize(root, func(string, fs.DirEntry) bool { return false })
	if err != nil || size.Sum > 5*600<<10 {
		t.Errorf("of 600 KiB of work there are %d KiB, %v", size.Sum>>10, err)
	}
	if _, _, _, err := s.goesOn(12); err != nil {
		t.Error(err)
	}
}

func TestASnapshotIsRefusedWithoutTheOneItRestsOn(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, path string)
		says  string
	}{
		"cut short": {func(t *testing.T, path string) {
			if err := os.Truncate(path, 100); err != nil {
				t.Fatal(err)
			}
		}, "is cut short"},
		"missing": {func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, "copy it beside"},
		"another": {func(t *testing.T, path string) {
			if err := os.WriteFile(path, forged(t, func(es []forgedEntry) []forgedEntry { return es }), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "is not the file"},
		"a pipe": {func(t *testing.T, path string) {
			if err := errors.Join(os.Remove(path), os.Symlink("/dev/zero", path)); err != nil {
				t.Fatal(err)
			}
		}, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSnapped(t, t.TempDir(), 10)
			s.mustTake()
			s.turn("two")
			s.mustTake()
			c.spoil(t, s.path(1))
			there, folder, _, err := s.goesOn(2)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
			if _, err := os.Lstat(folder); err == nil {
				t.Error("something was changed")
			}
			if err := s.taker.Folder.Check(t.Context()); err != nil {
				t.Errorf("the run was taken over by what was refused: %v", err)
			}
			_ = there
		})
	}
}

func TestASnapshotThatRestsOnAnotherIsRefusedFromStdin(t *testing.T) {
	s := newSnapped(t, t.TempDir(), 10)
	s.mustTake()
	s.turn("two")
	s.mustTake()
	for n, says := range map[int]string{1: "", 2: "is based on 000001.tar.gz and cannot be read without it"} {
		f, err := os.Open(s.path(n))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }() // only read
		there := newPC(t)
		_, err = Unpack(t.Context(), there.Client, f,
			UnpackOptions{Folder: filepath.Join(t.TempDir(), "there"), File: "-", Env: []string{"HOME=" + there.home}})
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("snapshot %d: %v", n, err)
		}
	}
}

// manifestWith alters the manifest among entries.
func manifestWith(t *testing.T, change func(m map[string]any)) func([]forgedEntry) []forgedEntry {
	return func(es []forgedEntry) []forgedEntry {
		var m map[string]any
		if err := json.Unmarshal([]byte(es[0].content), &m); err != nil {
			t.Fatal(err)
		}
		change(m["snapshot"].(map[string]any))
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		es[0].content = string(text)
		return es
	}
}

func TestAForgedSnapshotIsRefusedBeforeAnythingIsChanged(t *testing.T) {
	entry := func(name, content string, pax map[string]string) func([]forgedEntry) []forgedEntry {
		return func(es []forgedEntry) []forgedEntry {
			return append(es, forgedEntry{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, PAXRecords: pax}, content})
		}
	}
	for name, change := range map[string]func([]forgedEntry) []forgedEntry{
		"a file through a link of the one below": entry("work/files/link/evil", "x", nil),
		"a file in the place of a folder":        entry("work/files/deep", "x", nil),
		"a file twice": func(es []forgedEntry) []forgedEntry {
			return entry("work/files/file", "x", nil)(entry("work/files/file", "y", nil)(es))
		},
		"more of what is not there": entry("logs/"+packedAgent+".checkpoint.json", "x",
			map[string]string{offsetRecord: "7"}),
		"more of work": entry("work/files/deep/file", "x", map[string]string{offsetRecord: "1"}),
		"more beyond the end": entry("logs/"+packedAgent+".jsonl", "x",
			map[string]string{offsetRecord: "4000000000"}),
		"more before the beginning": entry("logs/"+packedAgent+".jsonl", "x", map[string]string{offsetRecord: "-4"}),
		"a conversation of another": entry("transcripts/0e6d3cb4-0b6a-4a65-b7e8-f8aa2b1c9b0b.jsonl", "x", nil),
		"a base elsewhere":          manifestWith(t, func(m map[string]any) { m["base"] = "../../000001.tar.gz" }),
		"a base after it":           manifestWith(t, func(m map[string]any) { m["number"] = 1 }),
		"events that are not there": manifestWith(t, func(m map[string]any) { m["after"] = 40 }),
		"fewer events":              manifestWith(t, func(m map[string]any) { m["after"] = 0 }),
		"a negative epoch":          manifestWith(t, func(m map[string]any) { m["epoch"] = -1 }),
		"removal of what git believes": manifestWith(t, func(m map[string]any) {
			m["removed"] = []string{"../x", ".git/config"}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			s := newSnapped(t, folder, 10)
			gittest.Put(t, filepath.Join(folder, "deep/file"), "one\n")
			if err := os.Symlink("deep", filepath.Join(folder, "link")); err != nil {
				t.Fatal(err)
			}
			s.mustTake()
			s.turn("two")
			gittest.Put(t, filepath.Join(folder, "new"), "two\n")
			s.mustTake()
			s.rewritten(2, func(es []forgedEntry) []forgedEntry { return es })
			if there, _, _, err := s.goesOn(2); err != nil {
				t.Fatalf("as it is it cannot be unpacked: %v", err)
			} else if err := there.Store.Close(); err != nil {
				t.Fatal(err)
			}
			s.rewritten(2, change)
			_, to, _, err := s.goesOn(2)
			if !errors.Is(err, errNotPack) {
				t.Errorf("%v", err)
			}
			if _, err := os.Lstat(to); err == nil {
				t.Error("something was changed")
			}
		})
	}
}

func TestWhoTakesARunOverIsTheOnlyOneWhoGoesOn(t *testing.T) {
	ctx := t.Context()
	s := newSnapped(t, t.TempDir(), 10)
	s.mustTake()
	if err := s.taker.Folder.Check(ctx); err != nil {
		t.Fatal(err)
	}
	others := make([]*Folder, 8)
	epochs := make([]int, len(others))
	var all sync.WaitGroup
	for i := range others {
		others[i] = FolderOf(s.dir, packedRun)
		all.Go(func() {
			var err error
			if epochs[i], err = others[i].TakeOver(ctx, 1); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	slices.Sort(epochs)
	if !slices.Equal(epochs, []int{2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("they took the epochs %v", epochs)
	}
	held := 0
	for _, f := range others {
		if f.Check(ctx) == nil {
			held++
		}
	}
	if held != 1 {
		t.Errorf("%d of them have it", held)
	}
	select {
	case <-s.taker.Folder.Changed():
	case <-ctx.Done():
	}
	var over *checkpoints.TakenOverError
	if err := s.taker.Folder.Check(ctx); !errors.As(err, &over) || over.Over.Epoch != 9 {
		t.Errorf("%v", err)
	}
	if b := s.take(); b.Over == nil || b.Over.Epoch != 9 {
		t.Errorf("it took one more snapshot: %+v", b)
	}
	for _, epoch := range []int{0, 1, 8} {
		if _, err := FolderOf(s.dir, packedRun).Claim(ctx, packedRun, epoch); !errors.As(err, &over) {
			t.Errorf("who has epoch %d continues: %v", epoch, err)
		}
	}
	next := FolderOf(s.dir, packedRun)
	defer next.Close()
	if epoch, err := next.Claim(ctx, packedRun, 9); err != nil || epoch != 10 {
		t.Errorf("%d, %v", epoch, err)
	}
}

// A supervisor that was stopped while it wrote a snapshot, and that goes on after somebody has taken the run over, puts
// nothing into the folder.
func TestASnapshotThatIsWrittenWhenTheRunIsTakenOverGetsNoName(t *testing.T) {
	s := newSnapped(t, t.TempDir(), 10)
	s.mustTake()
	s.taker.At = func(point string) {
		if point == supervisor.PackWritten {
			if _, err := FolderOf(s.dir, packedRun).TakeOver(t.Context(), 1); err != nil {
				t.Error(err)
			}
		}
	}
	if b := s.take(); b.Over == nil {
		t.Errorf("it says nothing of it: %+v", b)
	}
	entries, err := os.ReadDir(filepath.Join(s.dir, packedRun))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), "000002") {
			t.Errorf("%s is there", e.Name())
		}
	}
}

func TestWhatAKilledSupervisorHasWrittenOfASnapshotIsRemoved(t *testing.T) {
	s := newSnapped(t, t.TempDir(), 10)
	half := filepath.Join(s.dir, packedRun, ".000002.tar.gz.ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	gittest.Put(t, half, "half")
	gittest.Put(t, filepath.Join(s.dir, packedRun, "notes"), "a person's")
	next := FolderOf(s.dir, packedRun)
	defer next.Close()
	if _, err := next.Claim(t.Context(), packedRun, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(half); err == nil {
		t.Error("it is still there")
	}
	gittest.WantFile(t, filepath.Join(s.dir, packedRun, "notes"), "a person's")
}

func TestAnEpochThatNobodyHasWrittenIsNone(t *testing.T) {
	for name, put := range map[string]func(t *testing.T, path string){
		"of another run": func(t *testing.T, path string) {
			gittest.Put(t, path, `{"run":"r-other000","epoch":3,"holder":"X"}`)
		},
		"without a holder": func(t *testing.T, path string) { gittest.Put(t, path, `{"run":"r-abcdefgh","epoch":3}`) },
		"too large": func(t *testing.T, path string) {
			gittest.Put(t, path, `{"run":"r-abcdefgh","epoch":9000000000000000000,"holder":"X"}`)
		},
		"without an end": func(t *testing.T, path string) { gittest.Put(t, path, `{"run":"r-abcdefgh",`) },
		"a link": func(t *testing.T, path string) {
			if err := errors.Join(os.Remove(path), os.Symlink("/dev/zero", path)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSnapped(t, t.TempDir(), 10)
			put(t, filepath.Join(s.dir, packedRun, epochName))
			var over *checkpoints.TakenOverError
			if err := s.taker.Folder.Check(t.Context()); err == nil || errors.As(err, &over) {
				t.Errorf("Check: %v", err)
			}
			if _, err := FolderOf(s.dir, packedRun).Claim(t.Context(), packedRun, 1); err == nil || errors.As(err, &over) {
				t.Errorf("Claim: %v", err)
			}
		})
	}
}

func TestSnapshotsAreNotPutWhereTheyWouldBePartOfSomethingElse(t *testing.T) {
	root := t.TempDir()
	at := func(path string) string { return filepath.Join(root, path) }
	for _, dir := range []string{"work/sub", "state", "fine", "r-abcdefgh", "elsewhere"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	gittest.InRepository(t, at("work"))
	gittest.Put(t, at("r-abcdefgh/epoch"), "{}")
	gittest.Put(t, at("file"), "")
	if err := os.Symlink(at("work"), at("link")); err != nil {
		t.Fatal(err)
	}
	for dir, says := range map[string]string{
		"fine": "", "not/there/yet": "", "work": "where the agents work", "work/sub": "where the agents work",
		"work/new": "where the agents work", "link/new": "where the agents work", "state/x": "its own state",
		"r-abcdefgh": "name the folder above", "file": "not a folder",
	} {
		err := MayHoldSnapshots(at(dir), at("work/sub"), at("state"))
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
