package pack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/git"
)

// A snapshot is a pack file of a run that goes on. In a folder (snapshot_folder.go) most hold only what is new since
// the one before, which they rest on: of the history the later events, of logs and conversations the later lines, of
// the
// work what has changed. The records and the inbox are whole in each.
//
// How it is taken:
//
//	capture   the state is the engine's own, of logs and conversations the sizes are taken, of the work what has changed
//	          is read. Until then nothing is said to agents: this is what a snapshot costs the run
//	write     all of it is read and written, while the run goes on; then fsync, the name, fsync of the folder
//
// A supervisor begins with a whole one, for which it reads the work beforehand (Prime), beside the first turns: as long
// as it reads, and the run goes on, no snapshot is begun. It begins with a whole one again when those since then are
// larger than it, too many, or hold more work with it than is taken in where they are read.
const (
	maxChain    = 50      // snapshots that rest on each other
	minAnew     = 1 << 20 // bytes of them that are no reason yet to begin anew
	maxRemoved  = 5000    // files that one names as removed
	captureTime = 9 * time.Second
	pruneTime   = time.Minute
)

// lateLines is how long after the end of a turn the CLI may still write of it.
const lateLines = 150 * time.Millisecond

// A snapshotManifest says what a snapshot is. Members may be added, never renamed.
type snapshotManifest struct {
	Number  int       `json:"number,omitempty"` // in its folder; 0: it was asked for, and lies in none
	Epoch   int       `json:"epoch"`            // of the supervisor that took it
	At      time.Time `json:"at"`
	Lost    []string  `json:"lost,omitempty"`    // agents in the middle of a turn
	Base    string    `json:"base,omitempty"`    // the name of the one that it rests on
	Sum     string    `json:"sum,omitempty"`     // of that file, SHA-256
	After   int64     `json:"after,omitempty"`   // the last event that is in that one
	Removed []string  `json:"removed,omitempty"` // files of the work that are in that one, and not in this
}

// offsetRecord is the PAX record of an entry that goes on where that many bytes of the same entry, as it is in the
// snapshot that this one rests on, end.
const offsetRecord = "CLAUDESUPERVISE.offset"

func (m *snapshotManifest) check() error {
	switch {
	case m == nil:
		return nil
	case m.Number < 0 || m.Number > maxCount || m.Epoch < 0 || m.Epoch > maxCount || m.After < 0 || m.After > maxCount:
		return notPack("its snapshot has the number %d, epoch %d and event %d", m.Number, m.Epoch, m.After)
	case m.Base == "" && (m.Sum != "" || m.After != 0 || len(m.Removed) > 0):
		return notPack("it is based on no other, and says what is new")
	case m.Base != "" && (!snapshotName().MatchString(m.Base) || len(m.Sum) != 2*sha256.Size || m.Number == 0):
		return notPack("it is based on %.60q", m.Base)
	case len(m.Removed) > maxRemoved:
		return notPack("it names more than %d files that are gone", maxRemoved)
	}
	for _, name := range m.Removed {
		if err := entryName(name); err != nil {
			return err
		}
	}
	return nil
}

// A Taker takes the snapshots of one run for its supervisor: those into a folder, and those that are asked for.
type Taker struct {
	Dirs    checkpoints.Dirs
	Store   *checkpoints.Store
	Env     []string // where claude's transcripts are looked for; nil is this process's
	Program string   // the name and release of this program
	Folder  *Folder  // nil: only those that are asked for
	Keep    int      // how many the folder keeps
	MaxWork int64    // bytes of what has changed; 0 is DefaultMaxWork

	At func(point string) // for tests: called at the points that writing passes; nil otherwise

	mu      sync.Mutex               // held while the work is looked at or a snapshot is written
	cwd     string                   // where the work is
	scratch string                   // what is kept of it; "": nothing yet
	store   *git.Store               // nil for a folder without git
	trees   map[string]*treeCapturer // by agent; "": the run's own
	folder  *folderCapturer          // nil in a work tree
	last    *base                    // nil: the next one is whole
	names   map[string]string
}

// A base is what the next snapshot rests on.
type base struct {
	name, sum    string
	after        int64
	files        map[string]fileEnd
	work         map[string]workFile // of a folder without git
	trees        map[string]treeMark // by agent; "": the run's own
	carried      int64               // bytes of work in all of them together: whoever reads this one takes that in
	whole, since int64               // bytes of the one that rests on none, and of those since then
	chain        map[string]string
}

// Prime reads the work of a run beforehand, so that the first snapshot need not. It blocks meanwhile; that it cannot is
// for the first snapshot to say.
func (t *Taker) Prime(ctx context.Context, run, cwd string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Folder == nil || t.opened(ctx, run, cwd) != nil {
		return
	}
	_ = t.captureWork(ctx, &capturedRun{})
}

// Close removes what the taker has kept of the run's files.
func (t *Taker) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget()
}

func (t *Taker) forget() {
	if t.scratch != "" {
		_ = os.RemoveAll(t.scratch) // the next supervisor removes what is left
	}
	t.scratch, t.store, t.trees, t.folder, t.last = "", nil, nil, nil, nil
}

// opened makes ready what looks at the work in a folder.
func (t *Taker) opened(ctx context.Context, run, cwd string) error {
	if t.fits(cwd) {
		return nil
	}
	t.forget()
	if t.MaxWork == 0 {
		t.MaxWork = DefaultMaxWork
	}
	t.scratch, t.cwd = t.Dirs.RunFile(run, "snapshots"), cwd
	err := os.RemoveAll(t.scratch)
	if err == nil {
		err = os.MkdirAll(t.scratch, 0o700)
	}
	if err != nil {
		return err
	}
	store := &git.Store{Folder: t.scratch, Limit: t.MaxWork}
	tree, err := store.WorkTree(ctx, cwd)
	if errors.Is(err, git.ErrNoWorkTree) {
		t.folder = &folderCapturer{folder: cwd, dir: t.scratch, limit: t.MaxWork, kept: map[string]keptFile{}}
		return nil
	}
	if err != nil {
		t.forget()
		return err
	}
	t.store, t.trees = store, map[string]*treeCapturer{"": {Tree: tree}}
	return nil
}

// fits reports whether a folder is still what is looked at.
func (t *Taker) fits(cwd string) bool {
	switch {
	case t.scratch == "" || cwd != t.cwd:
		return false
	case t.folder != nil:
		return !git.HasGitAbove(cwd)
	}
	_, err := os.Lstat(filepath.Join(t.trees[""].Top, ".git"))
	return err == nil
}

// Take takes the snapshots that are due and asked for in a state, whose last event has the number seq. captured is
// called once nothing that happens from then on is in them.
func (t *Taker) Take(ctx context.Context, s supervisor.State, seq int64, captured func()) supervisor.Snapshotted {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := supervisor.Snapshotted{At: checkpoints.Now(), Lost: s.InTurns()}
	due := s.SnapshotTaken() && t.Folder != nil
	if due {
		var over *checkpoints.TakenOverError
		switch err := t.Folder.Check(ctx); {
		case errors.As(err, &over):
			b.Over, b.Problem = &over.Over, err.Error()
			return b
		case err != nil:
			if b.Unleased, due = err.Error(), false; len(s.SnapshotsAsked()) == 0 {
				return b
			}
		}
	}
	got, err := t.capture(ctx, s, seq)
	captured()
	if err == nil && !s.Run.Status.Ended() && len(got.live) > 0 {
		select {
		case <-time.After(lateLines):
		case <-ctx.Done():
		}
	}
	if due {
		if err == nil {
			b.Bytes, err = t.writeNext(ctx, got)
			if over := new(checkpoints.TakenOverError); errors.As(err, &over) {
				b.Over = &over.Over
			}
		}
		if err != nil {
			b.Problem, b.Large = problemOf(err), errors.Is(err, git.ErrTooLarge)
		}
	}
	b.Files, b.Failed, b.Told = map[int64]string{}, map[int64]string{}, got.told
	for _, n := range s.SnapshotsAsked() {
		name := fmt.Sprintf("snapshot-%d.tar.gz", n)
		e := err
		if e == nil {
			e = t.writeAsked(ctx, got, t.Dirs.RunFile(s.Run.ID, name))
		}
		if e != nil {
			b.Failed[n] = problemOf(e)
			continue
		}
		b.Files[n] = name
	}
	if t.Folder == nil {
		t.forget()
	}
	return b
}

// problemOf says why there is no snapshot, and what helps.
func problemOf(err error) string {
	if errors.Is(err, git.ErrTooLarge) {
		return fmt.Sprintf("the uncommitted work is larger than snapshots may be (%d MiB): let git ignore what is not needed",
			DefaultMaxWork>>20)
	}
	return err.Error()
}

// A capturedRun is a run at one moment.
type capturedRun struct {
	state supervisor.State
	seq   int64
	at    time.Time
	files []capturedFile
	work  map[string]workFile     // of a folder without git
	trees map[string]git.Captured // by agent; "": the run's own
	live  []string                // sessions whose process lives
	told  []string
}

// capture takes the run in this moment.
func (t *Taker) capture(ctx context.Context, s supervisor.State, seq int64) (capturedRun, error) {
	got := capturedRun{state: s, seq: seq, at: checkpoints.Now()}
	ctx, cancel := context.WithTimeoutCause(ctx, captureTime, fmt.Errorf("it took longer than %v", captureTime))
	defer cancel()
	info, err := os.Stat(s.Run.Cwd)
	if err != nil || !info.IsDir() {
		return got, fmt.Errorf("the run's folder %s is gone", s.Run.Cwd)
	}
	if err := t.opened(ctx, s.Run.ID, s.Run.Cwd); err != nil {
		return got, err
	}
	if err := t.captureWork(ctx, &got); err != nil {
		return got, err
	}
	for _, a := range s.AllAgents() {
		if s.Live(a.ID) != nil {
			got.live = append(got.live, a.SessionID)
		}
	}
	got.files, err = t.captureFiles(s)
	return got, err
}

// captureWork takes the work in this moment.
func (t *Taker) captureWork(ctx context.Context, got *capturedRun) error {
	if t.folder == nil {
		return t.captureTrees(ctx, got)
	}
	err := t.folder.capture(ctx, got)
	for _, a := range ownTrees(got.state) {
		got.told = append(got.told, leftBehind(a, ""))
	}
	return err
}

// exported returns the run as a snapshot holds it: what came into the inbox since it was captured is in it, too, as
// what nobody has taken.
func (t *Taker) exported(ctx context.Context, got capturedRun, after int64) (checkpoints.Exported, error) {
	e, err := t.Store.ExportHistory(ctx, got.state.Run.ID, after, got.seq)
	if err != nil {
		return e, err
	}
	putRecords(&e, got.state)
	e.Taken = got.state.Taken
	return e, nil
}

// writeNext writes the next snapshot into the folder.
func (t *Taker) writeNext(ctx context.Context, got capturedRun) (int64, error) {
	on := t.last
	if on != nil {
		_, err := os.Stat(filepath.Join(t.Folder.path, on.name))
		if err != nil || len(on.chain) >= maxChain || on.since > max(on.whole, minAnew) ||
			len(removedFrom(on.work, got.work)) > maxRemoved {
			on = nil
		}
	}
	all, err := snapshotsIn(t.Folder.path)
	if err != nil {
		return 0, err
	}
	m := snapshotManifest{Number: 1, Epoch: got.state.Run.Epoch, At: got.at, Lost: got.state.InTurns()}
	if len(all) > 0 {
		m.Number = all[len(all)-1].number + 1
	}
	name := fmt.Sprintf("%06d.tar.gz", m.Number)
	file, err := files.Replace(filepath.Join(t.Folder.path, name))
	if err != nil {
		return 0, err
	}
	defer file.Drop()
	sum := sha256.New()
	next, err := t.write(ctx, io.MultiWriter(file, sum), got, m, on)
	if errors.Is(err, git.ErrTooLarge) && on != nil { // with those that it rests on: by itself it may not be
		t.last = nil
		return t.writeNext(ctx, got)
	}
	if err != nil {
		return 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	next.name, next.sum, next.chain = name, hex.EncodeToString(sum.Sum(nil)), map[string]string{name: ""}
	if next.whole = info.Size(); on != nil {
		next.whole, next.since = on.whole, on.since+info.Size()
		maps.Copy(next.chain, on.chain)
		next.chain[name] = on.name
	}
	supervisor.At(t.At, supervisor.PackWritten)
	err = t.Folder.put(ctx, file, max(t.Keep, 1), func(name string) string {
		if rests, known := next.chain[name]; known {
			return rests
		}
		return t.restsOn(name)
	})
	if err != nil {
		return 0, err
	}
	t.last = next
	if on == nil && t.store != nil { // what earlier ones rested on is of no use any more
		ctx, cancel := context.WithTimeout(ctx, pruneTime)
		defer cancel()
		_ = t.store.Prune(ctx, func(string) bool { return false }) // else the next time
	}
	return info.Size(), nil
}

// restsOn returns the snapshot on which one of an earlier supervisor rests.
func (t *Taker) restsOn(name string) string {
	if t.names == nil {
		t.names = map[string]string{}
	}
	rests, known := t.names[name]
	if !known {
		if m, err := manifestIn(filepath.Join(t.Folder.path, name)); err == nil && m.Snapshot != nil {
			rests = m.Snapshot.Base
		}
		t.names[name] = rests
	}
	return rests
}

// writeAsked writes a whole snapshot into a file.
func (t *Taker) writeAsked(ctx context.Context, got capturedRun, path string) error {
	file, err := files.Replace(path)
	if err != nil {
		return err
	}
	defer file.Drop()
	m := snapshotManifest{Epoch: got.state.Run.Epoch, At: got.at, Lost: got.state.InTurns()}
	if _, err := t.write(ctx, file, got, m, nil); err != nil {
		return err
	}
	return file.Keep()
}

// write writes a snapshot that rests on another one, or on none.
func (t *Taker) write(ctx context.Context, w io.Writer, got capturedRun, s snapshotManifest, on *base) (*base, error) {
	next := &base{after: got.seq, files: map[string]fileEnd{}, work: got.work}
	m := manifest{Program: t.Program, Created: got.at.Truncate(time.Second), Run: got.state.Run.ID,
		Folder: got.state.Run.Cwd, Work: workFiles, Snapshot: &s}
	var before map[string]workFile
	if on != nil {
		s.Base, s.Sum, s.After, before = on.name, on.sum, on.after, on.work
		next.files = maps.Clone(on.files) // some of an agent that is not there any more, say
		s.Removed = removedFrom(before, got.work)
	}
	e, err := t.exported(ctx, got, s.After)
	if err != nil {
		return nil, err
	}
	trees, err := t.prepareTrees(ctx, got, on)
	if err != nil {
		return nil, err
	}
	if next.trees, m.Worktrees = trees.marks, trees.manifests; t.store != nil {
		m.Work, m.Git = workGit, m.Worktrees[""]
		delete(m.Worktrees, "")
	}
	m.Format = m.formatOf()
	p := newPacker(w, got.at)
	if err := errors.Join(p.document(manifestName, m), p.document(runName, e)); err != nil {
		return nil, err
	}
	for _, f := range got.files {
		if next.files[f.name], err = p.later(f, next.files[f.name]); err != nil {
			return nil, err
		}
	}
	if err := writeTrees(p, trees.bundles); err != nil {
		return nil, err
	}
	if t.folder != nil {
		if err := t.folder.writeNew(p, got.work, before); err != nil {
			return nil, err
		}
	}
	if next.carried = p.work; on != nil {
		next.carried += on.carried
	}
	if next.carried > t.MaxWork {
		return nil, git.TooLarge(next.carried, t.MaxWork, nil)
	}
	return next, p.close()
}
