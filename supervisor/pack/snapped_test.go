package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
)

// A snapped run is one of which snapshots are taken.
type snapped struct {
	pc
	folder, dir string
	session     string
	taker       *Taker
	seq         int64
	taken       int
}

func newSnapped(t testing.TB, folder string, keep int) *snapped {
	t.Helper()
	p := newPC(t)
	s := &snapped{pc: p, folder: folder, dir: t.TempDir(), seq: 1}
	s.session = p.waiting(folder, conf.Config{})
	s.taker = &Taker{Dirs: p.Dirs, Store: p.Store, Env: []string{"HOME=" + p.home}, Folder: FolderOf(s.dir, packedRun),
		Keep: keep}
	if _, err := s.taker.Folder.Claim(t.Context(), packedRun, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.taker.Close)
	t.Cleanup(s.taker.Folder.Close)
	return s
}

// state is the run as its supervisor knows it, with a snapshot due.
func (s *snapped) state() supervisor.State {
	s.t.Helper()
	l, err := s.Store.Load(context.Background(), packedRun)
	if err != nil {
		s.t.Fatal(err)
	}
	state, err := supervisor.Loaded(l)
	if err != nil {
		s.t.Fatal(err)
	}
	s.taken++
	state.Run.Snapshots = &checkpoints.Snapshots{Quiet: s.taken}
	state.Config.Snapshots = &conf.SnapshotTo{Dir: s.dir, Keep: s.taker.Keep}
	return state
}

func (s *snapped) take() supervisor.Snapshotted {
	s.t.Helper()
	return s.taker.Take(context.Background(), s.state(), s.seq, func() {})
}

func (s *snapped) mustTake() supervisor.Snapshotted {
	s.t.Helper()
	b := s.take()
	if b.Problem != "" {
		s.t.Fatal(b.Problem)
	}
	return b
}

// turn lets the agent say something, and the run go on by an event. What it asks is saved with that.
func (s *snapped) turn(says string, asks ...*checkpoints.Question) {
	s.t.Helper()
	for _, path := range []string{s.transcript(s.folder, s.session), s.Dirs.AgentLog(packedRun, packedAgent)} {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			s.t.Fatal(err)
		}
		if _, err := f.WriteString(says + "\n"); err != nil {
			s.t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			s.t.Fatal(err)
		}
	}
	s.seq++
	change := checkpoints.Change{Questions: asks}
	var err error
	change.Event, err = supervisor.Happened{At: checkpoints.Now(), Event: supervisor.InterruptAsked{By: says}}.Record(
		packedRun, s.seq)
	if err == nil {
		err = s.Store.Commit(context.Background(), change)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *snapped) path(n int) string {
	return filepath.Join(s.dir, packedRun, fmt.Sprintf("%06d.tar.gz", n))
}

// goesOn unpacks a snapshot on another machine, and gives that and the folder.
func (s *snapped) goesOn(n int) (pc, string, UnpackedRun, error) {
	s.t.Helper()
	return s.unpacks(n, false)
}

func (s *snapped) unpacks(n int, vouched bool) (pc, string, UnpackedRun, error) {
	s.t.Helper()
	there := newPC(s.t)
	folder := filepath.Join(s.t.TempDir(), "there")
	f, err := os.Open(s.path(n))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()                                               // only read
	run, err := Unpack(context.Background(), there.Client, struct{ io.Reader }{f}, // which cannot seek, like a pipe
		UnpackOptions{Folder: folder, File: s.path(n), Vouched: vouched, Env: []string{"HOME=" + there.home}})
	return there, folder, run, err
}

// rewritten lets change alter the entries of a snapshot that rests on another one.
func (s *snapped) rewritten(n int, change func([]forgedEntry) []forgedEntry) {
	s.t.Helper()
	file, err := os.ReadFile(s.path(n))
	if err != nil {
		s.t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		s.t.Fatal(err)
	}
	var entries []forgedEntry
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		content, readErr := io.ReadAll(r)
		if err = errors.Join(err, readErr); err != nil {
			s.t.Fatal(err)
		}
		entries = append(entries, forgedEntry{*h, string(content)})
	}
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	w := tar.NewWriter(zw)
	for _, e := range change(entries) {
		e.Size, e.Format = int64(len(e.content)), tar.FormatUnknown
		if err := w.WriteHeader(&e.Header); err != nil {
			s.t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.content); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zw.Close(), os.WriteFile(s.path(n), out.Bytes(), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}
