//go:build linux && (amd64 || arm64)

package checkpoints

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var seed = flag.Uint64("seed", 0, "the one seed of the tests of power loss to play; 0: the usual ones")

// A history is what a program did to a database on a recorded disk: after n operations the database held states[n], as
// a program reads it. Of those, so many were acknowledged as the recorder says: all but the lazy ones at the end.
type history struct {
	recorder
	states [][]string
}

// world is what a history is played on. What is zero is sound.
type world struct {
	pragmas  string // of a program that is not
	promises bool   // it takes lazy commits for acknowledged
	pretends bool   // what a failed sync has lost it takes for made good
	fails    bool   // a sync fails now and then
	ignores  func(kind string) bool
}

// play works on a new database as a supervisor and its clients do, until it has made so many operations. With options,
// so that a test can take away what keeps the data safe.
func play(t *testing.T, random *rand.Rand, operations int, on world) *history {
	t.Helper()
	dir, remove := passingDir(t)
	defer remove()
	d := Dirs{State: dir + "/state"}
	h := &history{recorder: recorder{folder: d.State, ignores: on.ignores}}
	if on.fails {
		h.fails = func(kind string) bool { return kind == callSync && random.IntN(15) == 0 }
	}
	noError(t, os.Mkdir(d.State, 0o700))
	if random.IntN(2) == 0 { // a log that outlived its database
		stale := crashed(t, func(s *Store) { commit(t, s, firstChange()) })
		copyFile(t, stale.Database()+"-wal", d.Database()+"-wal")
		text, err := os.ReadFile(d.Database() + "-wal")
		noError(t, err)
		for _, c := range []diskCall{{kind: callWrite, data: text}, {kind: callSync}, {kind: callSyncDir}} {
			c.path = d.Database() + "-wal"
			h.after(c)
		}
	}
	watch(d.State, h)
	defer watch(d.State, nil)

	persist := func(doing string, do func() error) {
		t.Helper()
		var err error
		for range 20 { // a disk that fails now and then
			if err = do(); err == nil {
				return
			}
			if problem, ok := errors.AsType[*databaseError](err); !ok || problem.Problem == nil {
				t.Fatalf("%s: %v", doing, err)
			}
		}
		t.Fatalf("%s, at last: %v", doing, err)
	}
	var s *Store
	reopen := func() error {
		opened, err := open(d, h.system())
		if err != nil {
			return err
		}
		s = opened
		if s.logged = 12; on.pretends {
			s.rewrite = func(string) error { return nil }
		}
		_, err = s.conn.ExecContext(t.Context(), "PRAGMA wal_autocheckpoint = 12; "+on.pragmas)
		return err
	}
	lazy := false // the last operation
	acknowledge := func() {
		h.states = append(h.states, everything(t, s))
		h.acknowledge(len(h.states)-1, lazy && !on.promises)
		lazy = false
	}
	h.states = append(h.states, nil) // before anything was acknowledged
	persist("open", reopen)
	acknowledge()

	ctx, event, c := context.Background(), int64(0), firstChange()
	text := func() string { return strings.Repeat(string(rune('a'+random.IntN(26))), 1+random.IntN(9_000)) }
	for n := range operations {
		switch kind := random.IntN(10); {
		case n == 0 || kind < 5:
			event++
			c.Event.Seq, c.Agents[0].Task, c.Agents[0].Launches = event, text(), int(event)
			c.Questions[0].ID, c.Questions[0].Own = fmt.Sprintf("q-%06d", event), text()
			c.Lazy = on.pragmas == "" && random.IntN(2) == 0
			c.Last = !c.Lazy && random.IntN(4) == 0
			lazy = c.Lazy
			persist("commit", func() error { return s.Commit(ctx, c) })
		case kind < 7:
			question, value := fmt.Sprintf("q-%06d", event), text() // of every try: one that failed may be on the disk
			err := error(nil)
			persist("answer", func() error {
				_, err = s.Answer(ctx, InboxEntry{Question: question, Value: value, By: "me", At: noon})
				if errors.As(err, new(*TakenError)) {
					err = nil
				}
				return err
			})
		case kind == 7:
			value := text()
			persist("leave", func() error {
				_, err := s.Leave(ctx, InboxEntry{Run: testRun, Kind: "stop", Value: value, At: noon})
				return err
			})
		case kind == 8:
			past := Change{Run: &Run{ID: "r-past0000", EndedAt: &noon, Reason: text()}}
			persist("commit", func() error { return s.Commit(ctx, past) })
			acknowledge()
			persist("remove", func() error { return s.Remove(ctx, past.Run.ID) })
		default: // the supervisor ends, another comes
			for range 20 { // on a failing disk it may not be able to tidy up
				if s.Close() == nil {
					break
				}
			}
			persist("open", reopen)
		}
		acknowledge()
	}
	if err := s.Close(); err != nil && !on.fails {
		t.Fatal(err)
	}
	return h
}

// lost cuts the power at a moment that random picks, opens what is left as ever, and tells what is wrong with it.
func (h *history) lost(t *testing.T, random *rand.Rand) error {
	t.Helper()
	cut := 1 + random.IntN(len(h.done))
	if random.IntN(4) == 0 { // while the database is being made
		cut = 1 + random.IntN(min(len(h.done), 80))
	}
	files, acknowledged, made := h.afterPowerCut(cut, random)
	dir, remove := passingDir(t)
	defer remove()
	d := Dirs{State: dir}
	if random.IntN(2) == 0 {
		files["state.db-shm"] = slices.Repeat([]byte{byte(random.IntN(256))}, 32<<10)
	}
	for name, text := range files {
		noError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	s, err := Open(d)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	var sound string
	if err := s.row(t.Context(), `PRAGMA integrity_check`, nil, &sound); err != nil || sound != "ok" {
		return fmt.Errorf("%s (%w)", sound, err)
	}
	found := everything(t, s)
	for _, state := range h.states[acknowledged:min(made+2, len(h.states))] {
		if slices.Equal(state, found) {
			return s.Commit(t.Context(), Change{Run: &Run{ID: "r-goes-on"}})
		}
	}
	return fmt.Errorf(
		"after call %d of %d, with %d operations acknowledged, %d rows are found that belong to none of %d to %d",
		cut, len(h.done), acknowledged, len(found), acknowledged, made+1)
}

func randomOf(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// What was acknowledged is there after a power cut, what was under way is there whole or not at all.
func TestAPowerCutLosesNothingThatWasAcknowledged(t *testing.T) {
	histories, cuts := rounds(t, 500)/100, 18
	if *seed != 0 {
		histories = 1
	}
	for i := range max(histories, 1) {
		from := max(*seed, uint64(i)+1)
		random := randomOf(from)
		h := play(t, random, 30, world{fails: from%3 == 0})
		for range cuts {
			if err := h.lost(t, random); err != nil {
				t.Fatalf("%v\nreplay: go test -run %s -seed %d", err, t.Name(), from)
			}
		}
	}
}

// The test above is one only if it finds what is lost without that which keeps the data safe.
func TestThePowerCutFindsWhatAnUnsafeProgramLoses(t *testing.T) {
	for name, on := range map[string]world{
		"it syncs no log":       {pragmas: "PRAGMA synchronous = NORMAL"},
		"it syncs nothing":      {pragmas: "PRAGMA synchronous = OFF"},
		"its disk lies":         {ignores: func(kind string) bool { return kind == callSync }},
		"it syncs no folders":   {ignores: func(kind string) bool { return kind == callSyncDir }},
		"it promises lazy work": {promises: true},
		"it forgets failures":   {fails: true, pretends: true},
	} {
		t.Run(name, func(t *testing.T) {
			for from := range uint64(20) {
				random := randomOf(from + 1)
				h := play(t, random, 20, on)
				for range 30 {
					if h.lost(t, random) != nil {
						return
					}
				}
			}
			t.Error("nothing was lost in 600 power cuts")
		})
	}
}

// What a run saves from its beginning to its end waits for the disk once for each change that is told, besides the
// beginning and the end of the log.
func TestARunWaitsForTheDiskAsOftenAsItTells(t *testing.T) {
	dir, remove := passingDir(t)
	defer remove()
	d := Dirs{State: dir}
	s, err := Open(d)
	noError(t, err)
	defer func() { _ = s.Close() }()
	h := &recorder{folder: dir}
	watch(dir, h)
	defer watch(dir, nil)
	c := firstChange()
	for i, how := range []Change{{Lazy: true}, {}, {Lazy: true}, {}, {Last: true}} {
		c.Lazy, c.Last, c.Event.Seq = how.Lazy, how.Last, int64(i+1)
		noError(t, s.Commit(t.Context(), c))
	}
	noError(t, s.Close())
	var waited []string
	for _, call := range h.done {
		if call.kind == callSync || call.kind == callSyncDir {
			waited = append(waited, call.kind+" "+call.name)
		}
	}
	folder, log, file := "syncfolder "+filepath.Base(dir), "sync state.db-wal", "sync state.db"
	if want := []string{folder, log, log, log, log, file}; !slices.Equal(waited, want) {
		t.Errorf("waited for\n%q, want\n%q", waited, want)
	}
}

// A last change that the disk does not confirm is an error, and can be saved again as it is.
func TestALastChangeThatTheDiskRefusesIsTriedAgain(t *testing.T) {
	dir, remove := passingDir(t)
	defer remove()
	h := &recorder{folder: dir}
	s, err := open(Dirs{State: dir}, h.system())
	noError(t, err)
	defer func() { _ = s.Close() }()
	watch(dir, h)
	defer watch(dir, nil)
	c := firstChange()
	noError(t, s.Commit(t.Context(), c))
	c.Event.Seq, c.Last = c.Event.Seq+1, true
	h.fails = func(kind string) bool { return kind == callSync }
	for range 2 {
		if err := s.Commit(t.Context(), c); err == nil {
			t.Fatal("a change is saved that is not on the disk")
		}
	}
	h.fails = nil
	noError(t, s.Commit(t.Context(), c))
	var last int64
	if err := s.row(t.Context(), `SELECT max(seq) FROM events`, nil, &last); err != nil || last != c.Event.Seq {
		t.Errorf("the last event is %d (%v), want %d", last, err, c.Event.Seq)
	}
}
