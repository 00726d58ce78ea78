package checkpoints

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A run in the file, its last changes in the log, and every state it had since the first of them.
type withLog struct {
	files  map[string]string
	states []string
}

func (w withLog) with(name, text string) map[string]string {
	files := maps.Clone(w.files)
	files[name] = text
	return files
}

func logged(t *testing.T, run string) withLog {
	t.Helper()
	c := firstChange()
	c.Run.ID, c.Event.Run, c.Run.Root = run, run, AgentPrefix+run
	c.Agents[0].ID, c.Agents[0].Run, c.Launches[0].Agent = AgentPrefix+run, run, AgentPrefix+run
	c.Questions[0].ID, c.Questions[0].Run, c.Questions[0].Agent = QuestionPrefix+run, run, AgentPrefix+run
	d := closed(t, func(s *Store) { commit(t, s, c) })
	s := openAt(t, d)
	w := withLog{map[string]string{}, []string{strings.Join(everything(t, s), "\n")}}
	for seq := range int64(5) {
		c.Event.Seq = 2 + seq
		c.Agents[0].Task = strings.Repeat(fmt.Sprint("task ", seq, " "), 1000)
		commit(t, s, c)
		w.states = append(w.states, strings.Join(everything(t, s), "\n"))
	}
	for _, name := range []string{"state.db", "state.db-wal"} {
		text, err := os.ReadFile(filepath.Join(d.State, name))
		noError(t, err)
		w.files[name] = string(text)
	}
	return w
}

// opened tells what a person gets from a state folder with these files, read-only and then to write: its rows, or an
// error. What is refused must be as it was, with nothing beside it but the index of a log that was there.
func opened(t *testing.T, files map[string]string) (rows string, refused bool, err error) {
	t.Helper()
	dir, remove := passingDir(t)
	defer remove()
	for name, text := range files {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, open := range []func(Dirs) (*Store, error){OpenReadOnly, Open} { // Open last: it moves the log into the file
		var s *Store
		s, err = open(Dirs{State: dir})
		if refused = err != nil; refused {
			if !errors.Is(err, errCorrupt) && !errors.Is(err, ErrNewer) {
				t.Fatalf("refused as %v", err)
			}
			left := contents(t, Dirs{State: dir})
			if files["state.db-wal"] != "" {
				delete(left, "state.db-shm")
			}
			if diff := cmp.Diff(files, left); diff != "" {
				t.Fatalf("refused (%v) and not left as it was: %.300s", err, diff)
			}
			continue
		}
		if rows, err = read(t, s); err != nil && !errors.Is(err, errCorrupt) {
			t.Fatalf("the damage is told as %v", err)
		}
		_ = s.Close() // a damaged log may not go into the file
	}
	return rows, refused, err
}

// read reads what there is as the commands do.
func read(t *testing.T, s *Store) (rows string, err error) {
	t.Helper()
	runs, err := s.Runs(t.Context(), true)
	if err != nil {
		return "", err
	}
	if _, err := s.Questions(t.Context(), QuestionFilter{}); err != nil {
		return "", err
	}
	for _, r := range runs {
		if _, err := s.Export(t.Context(), r.ID); err != nil && !errors.As(err, new(*UnknownError)) { // a garbled id
			return "", err
		}
	}
	var sound string
	err = s.read(t.Context(), "check", func(ctx context.Context) error {
		return s.row(ctx, `PRAGMA integrity_check`, nil, &sound)
	})
	if err == nil && sound != "ok" {
		err = fmt.Errorf("%w: %s", errCorrupt, sound)
	}
	if err != nil {
		return "", err
	}
	return strings.Join(everything(t, s), "\n"), nil
}

// cuts are the lengths at which a file may end in the middle of something.
func cuts(text string) []int {
	lengths := []int{0, 1, 31, 32, 33, 55, 56, 99, 100, 512, pageSize / 2, len(text) - 1}
	for at := 0; at < len(text); at += pageSize + 24 { // the frames of a log
		lengths = append(lengths, 32+at, 32+at+24)
	}
	for at := pageSize; at < len(text); at += pageSize { // the pages of a file
		lengths = append(lengths, at-1, at, at+1)
	}
	return slices.DeleteFunc(lengths, func(n int) bool { return n >= len(text) })
}

// flipped changes some bytes of a text, at most so many.
func flipped(text string, random *rand.Rand, most, from, to int) string {
	b := []byte(text)
	for range 1 + random.IntN(most) {
		b[from+random.IntN(to-from)] ^= byte(1 + random.IntN(255))
	}
	return string(b)
}

func TestATruncatedDatabaseIsRefused(t *testing.T) {
	whole := contents(t, closed(t, func(s *Store) { commit(t, s, firstChange()) }))["state.db"]
	for _, length := range cuts(whole) {
		_, refused, err := opened(t, map[string]string{"state.db": whole[:length]})
		if !refused || !errors.Is(err, errCorrupt) {
			t.Errorf("cut at %d: refused %v, %v", length, refused, err)
		}
	}
}

// The log may have what the file lacks, or not: it is the last state, or damage that is told.
func TestATruncatedDatabaseWithALogIsReadRightOrNotAtAll(t *testing.T) {
	w := logged(t, testRun)
	for _, length := range cuts(w.files["state.db"]) {
		rows, refused, err := opened(t, w.with("state.db", w.files["state.db"][:length]))
		if err == nil && rows != w.states[len(w.states)-1] {
			t.Errorf("cut at %d: other rows", length)
		}
		if length < pageSize && !refused {
			t.Errorf("cut at %d: opened, which costs the log", length)
		}
	}
}

// A log that ends early is what a power cut leaves: all its whole transactions count.
func TestATruncatedLogGivesAnEarlierState(t *testing.T) {
	w := logged(t, testRun)
	seen := map[string]bool{}
	for _, length := range cuts(w.files["state.db-wal"]) {
		rows, _, err := opened(t, w.with("state.db-wal", w.files["state.db-wal"][:length]))
		if err != nil || !slices.Contains(w.states, rows) {
			t.Errorf("cut at %d: %v, or rows that never were", length, err)
		}
		seen[rows] = true
	}
	if len(seen) != len(w.states)-1 {
		t.Errorf("%d of the %d earlier states were seen", len(seen), len(w.states)-1)
	}
}

func TestADamagedLogIsRefusedOrGivesAnEarlierState(t *testing.T) {
	w := logged(t, testRun)
	log, random := w.files["state.db-wal"], rand.New(rand.NewPCG(4, 0))
	for n := range 60 {
		most, from, to, inHeader := 8, 32, len(log), n%3 == 0
		if inHeader { // of two bytes one may be of the checksum, and make up for the other where the salt happens to be so
			most, from, to = 1, 0, 32
		}
		rows, refused, err := opened(t, w.with("state.db-wal", flipped(log, random, most, from, to)))
		if inHeader && !refused {
			t.Errorf("%d: a log with a damaged header was passed over", n)
		}
		if err == nil && !slices.Contains(w.states, rows) {
			t.Errorf("%d: rows that never were", n)
		}
	}
	for name, garbage := range map[string]string{
		"text": strings.Repeat("not a log\n", 1000), "zeros": strings.Repeat("\x00", 9000), "a database": w.files["state.db"],
	} {
		if _, refused, err := opened(t, w.with("state.db-wal", garbage)); !refused ||
			!strings.Contains(err.Error(), "state.db-wal") {
			t.Errorf("%s for a log: refused %v, %v", name, refused, err)
		}
	}
}

// Nothing ties a log to its database, so SQLite replays whatever it finds: what comes out is damage that is told, or
// the rows of one of both; never nothing.
func TestTheLogOfAnotherDatabaseIsNotTakenForNothing(t *testing.T) {
	ours, other := logged(t, testRun), logged(t, "r-other000")
	rows, _, err := opened(t, ours.with("state.db-wal", other.files["state.db-wal"]))
	if err == nil && !slices.Contains(append(ours.states, other.states...), rows) {
		t.Errorf("found a mixture, or nothing: %.300s", rows)
	}
}

func TestADatabaseWithADamagedHeaderOrSchemaIsToldToBe(t *testing.T) {
	d := closed(t, func(s *Store) { commit(t, s, firstChange()) })
	whole, random := contents(t, d)["state.db"], rand.New(rand.NewPCG(5, 0))
	s := openAt(t, d)
	rows := strings.Join(everything(t, s), "\n")
	for n := range 150 {
		to := 100 // the header
		if n%2 == 0 {
			to = pageSize // the first page of the schema, too
		}
		found, _, err := opened(t, map[string]string{"state.db": flipped(whole, random, 8, 0, to)})
		if err == nil && found != rows {
			t.Errorf("%d: other rows", n)
		}
	}
}

// A letter that has become another within a record is past noticing; whatever else happens is told, and nothing
// crashes.
func TestDamageAmongTheRowsIsToldWhenItIsRead(t *testing.T) {
	whole, random := contents(t, closed(t, func(s *Store) { parkedRun(t, s) }))["state.db"], rand.New(rand.NewPCG(6, 0))
	told := 0
	for range 100 {
		if _, _, err := opened(t,
			map[string]string{"state.db": flipped(whole, random, 8, pageSize, len(whole))}); err != nil {
			told++
		}
	}
	if told == 0 {
		t.Error("no damage was told")
	}
}
