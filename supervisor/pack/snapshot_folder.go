package pack

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/text"
)

// The snapshots of a run lie in a folder of its own, below one that the person names:
//
//	DIR/RUN/               0700
//	  epoch                who goes on with the run (Epoch below); replaced whole, under the lock
//	  lock                 its exclusive flock is held while the epoch is raised, and while a snapshot gets its name
//	  000017.tar.gz        a snapshot: a pack file, or what is new since the one that its manifest names (snapshot.go)
//
// Who goes on with the run, its supervisor or unpack, has raised the epoch there. A supervisor that finds another
// holder than itself has lost the run: it ends its agents, delivers nothing and puts no snapshot there. It looks
// before each
// snapshot, before each thing that is said to an agent, when the kernel tells of a change, and once a minute. Between
// such a look and what follows it lie microseconds, in which somebody else can take the run over: what is said then
// falls into a turn that whoever takes over repeats. What a repeated turn does outside of the folder is done twice.
//
// All of it holds for those who see the same folder: on one machine, or on a file system that several mount and whose
// locks work. A copy of the folder is another folder.

// An Epoch is what lies in the file of that name.
type Epoch struct {
	Run    string    `json:"run"`
	Epoch  int       `json:"epoch"`
	Holder string    `json:"holder"` // of the supervisor or unpack that raised it: random
	By     string    `json:"by"`     // the same, for people
	At     time.Time `json:"at"`
}

const (
	epochName  = "epoch"
	lockName   = "lock"
	maxEpochIn = 4 << 10 // bytes
)

// lockPatience is how long the lock of a folder is waited for: it is held for as long as the disk takes.
const lockPatience = 10 * time.Second

// A Folder is the folder of the snapshots of one run, for one supervisor.
type Folder struct {
	path    string // DIR/RUN
	run     string
	holder  string
	watched *files.Watch // nil: nothing is
}

// FolderOf returns the folder of a run's snapshots below dir, an absolute path. It looks at nothing.
func FolderOf(dir, run string) *Folder {
	return &Folder{path: filepath.Join(dir, run), run: run, holder: rand.Text()}
}

// Path is the folder's.
func (f *Folder) Path() string { return f.path }

var snapshotName = text.Lazily(`^([0-9]{6,9})\.tar\.gz$`)

// MayHoldSnapshots says why snapshots of runs that work in cwd cannot be put below dir, which need not be there; both
// are absolute.
func MayHoldSnapshots(dir, cwd, state string) error {
	real, work := resolved(dir), resolved(cwd)
	if top := git.TopAbove(work); top != "" {
		work = top
	}
	switch {
	case text.Under(real, work):
		return fmt.Errorf("%s is in %s, where the agents work: its snapshots would be part of their work; name a folder "+
			"elsewhere", dir, work)
	case text.Under(real, resolved(state)):
		return fmt.Errorf("%s is in %s, where claude-supervise keeps its own state; name a folder elsewhere", dir, state)
	case checkpoints.PlainID(filepath.Base(real)):
		if _, err := os.Lstat(filepath.Join(real, epochName)); err == nil {
			return fmt.Errorf("%s holds the snapshots of %s; name the folder above it", dir, filepath.Base(real))
		}
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("snapshots cannot be put into %s: it is not a folder", dir)
	}
	return nil
}

// ReadyForSnapshots makes the folder below which snapshots are put, and writes to it: a disk that is full or cannot be
// written to is found before the run is begun.
func ReadyForSnapshots(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(dir, ".probe-*"); err == nil {
			_, err = probe.WriteString("snapshots of claude-supervise are put here\n")
			err = errors.Join(err, probe.Sync(), probe.Close(), os.Remove(probe.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("snapshots cannot be put into %s: %w; nothing was started: name another folder, or none", dir, err)
	}
	return nil
}

// resolved returns a path with the links of what of it is there followed.
func resolved(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if filepath.Dir(path) == path {
		return path
	}
	return filepath.Join(resolved(filepath.Dir(path)), filepath.Base(path))
}

// Claim takes the next epoch for this supervisor, if the run's own, 0 for a new one, is still the last that was taken:
// *checkpoints.TakenOverError if not. It makes the folder where it is not there, and begins to watch it.
func (f *Folder) Claim(ctx context.Context, _ string, epoch int) (int, error) {
	next := 0
	err := f.locked(ctx, func() error {
		now, err := f.read()
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case now.Epoch > epoch:
			return f.over(now)
		}
		next = epoch + 1
		return f.raise(next)
	})
	if over := new(checkpoints.TakenOverError); errors.As(err, &over) {
		return 0, err
	}
	if err != nil {
		return 0, fmt.Errorf("the snapshots of %s cannot be put into %s: %w; nothing was started. --snapshots names another "+
			"folder, and --snapshots none takes none", f.run, f.path, err)
	}
	f.watch()
	return next, f.clear(ctx)
}

// TakeOver takes the next epoch, whoever has the last one: from now on this is the one who goes on with the run. own is
// the epoch of the snapshot from which that is done. It is the error fs.ErrNotExist where the folder has no epoch.
func (f *Folder) TakeOver(ctx context.Context, own int) (int, error) {
	if _, err := f.read(); err != nil {
		return 0, err
	}
	next := 0
	err := f.locked(ctx, func() error {
		now, err := f.read()
		if err != nil {
			return err
		}
		next = max(now.Epoch, own) + 1
		return f.raise(next)
	})
	return next, err
}

// Check is nil as long as nobody else has raised the epoch, *checkpoints.TakenOverError then; any other error says that
// this cannot be known.
func (f *Folder) Check(context.Context) error {
	now, err := f.read()
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", filepath.Join(f.path, epochName), err)
	}
	if now.Holder != f.holder {
		return f.over(now)
	}
	return f.leased()
}

func (f *Folder) over(now Epoch) error {
	return &checkpoints.TakenOverError{Run: f.run, Over: checkpoints.TakenOver{
		Epoch: now.Epoch, By: text.Line(now.By, text.MaxNamed), At: now.At, In: f.path,
		Leased: exists(filepath.Join(f.path, leaseName))}}
}

// Changed has a value when the kernel has told of a change in the folder.
func (f *Folder) Changed() <-chan struct{} {
	if f.watched == nil {
		return nil
	}
	return f.watched.C
}

// watch has the kernel tell of changes. Where it cannot, Check is asked once a minute all the same.
func (f *Folder) watch() {
	ours := func(name string) bool { return name == epochName || name == leaseName }
	if watched, err := files.NewWatch(ours, f.path); err == nil {
		f.watched = watched
	}
}

// Close ends the watch.
func (f *Folder) Close() {
	if f.watched != nil {
		f.watched.Close()
	}
}

// content reads a small file of the folder. What anybody can have put there is bounded, and neither a link is followed
// nor a pipe waited for.
func (f *Folder) content(name string) ([]byte, error) {
	file, err := openRegular(filepath.Join(f.path, name), unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	return io.ReadAll(io.LimitReader(file, maxEpochIn))
}

// openRegular opens a file to read it, and waits for no pipe in its place.
func openRegular(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, supervisor.ErrNotRegular, file.Close())
	}
	return file, nil
}

// read reads the epoch.
func (f *Folder) read() (Epoch, error) {
	var e Epoch
	content, err := f.content(epochName)
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(content, &e); err != nil {
		return e, fmt.Errorf("it is not an epoch: %w", err)
	}
	if e.Run != f.run || e.Epoch < 1 || e.Epoch > maxCount || e.Holder == "" {
		return e, fmt.Errorf("it is not an epoch of %s", f.run)
	}
	return e, nil
}

// raise writes the next epoch. The lock is held.
func (f *Folder) raise(epoch int) error {
	by := "pid " + strconv.Itoa(os.Getpid())
	if u, err := user.Current(); err == nil {
		by = u.Username + ", " + by
	}
	if host, err := os.Hostname(); err == nil {
		by = host + ", " + by
	}
	doc, err := json.Marshal(Epoch{Run: f.run, Epoch: epoch, Holder: f.holder, By: by, At: checkpoints.Now()})
	if err != nil {
		return err
	}
	return files.ReplaceFile(filepath.Join(f.path, epochName), append(doc, '\n'), 0o600)
}

// locked does something while no other process changes the folder, which is made where it is not there.
func (f *Folder) locked(ctx context.Context, do func() error) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(f.path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := os.Lstat(f.path); err != nil || !info.IsDir() {
		return errors.Join(err, fmt.Errorf("%s is not a folder", f.path))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lockPatience, errors.New("another process holds its lock"))
	defer cancel()
	lock := flock.New(filepath.Join(f.path, lockName), flock.SetFlag(os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW),
		flock.SetPermissions(0o600))
	held, err := lock.TryLockContext(ctx, 5*time.Millisecond)
	if err != nil || !held {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return err
	}
	defer func() { _ = lock.Close() }() // the kernel would do it
	return do()
}

// A snapshotFile is one that lies in the folder.
type snapshotFile struct {
	name   string
	number int
}

// files gives the snapshots in a folder, oldest first.
func snapshotsIn(folder string) ([]snapshotFile, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []snapshotFile
	for _, e := range entries {
		if m := snapshotName().FindStringSubmatch(e.Name()); m != nil && e.Type().IsRegular() {
			n, err := strconv.Atoi(m[1])
			if err == nil && n > 0 {
				all = append(all, snapshotFile{e.Name(), n})
			}
		}
	}
	slices.SortFunc(all, func(a, b snapshotFile) int { return a.number - b.number })
	return all, nil
}

// Newest returns the newest snapshot in a folder of snapshots, or in one that holds the folder of one run. Any other
// path is given as it is.
func Newest(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return path, nil // whoever opens it says what is wrong
	}
	all, err := snapshotsIn(path)
	if err != nil {
		return "", fmt.Errorf("the snapshots in %s cannot be listed: %w", path, err)
	}
	if len(all) > 0 {
		return filepath.Join(path, all[len(all)-1].name), nil
	}
	runs, err := filepath.Glob(filepath.Join(path, "*", epochName))
	switch {
	case err != nil:
		return "", err
	case len(runs) == 1:
		return Newest(filepath.Dir(runs[0]))
	case len(runs) > 1:
		return "", fmt.Errorf("%s holds the snapshots of %d runs; name one of its folders", path, len(runs))
	}
	return "", fmt.Errorf("there is no snapshot in %s; nothing was changed", path)
}

var halfWritten = text.Lazily(`^\.[0-9]{6,9}\.tar\.gz\.[A-Z0-9]+$`)

// clear removes what a supervisor has left that was killed while it wrote.
func (f *Folder) clear(ctx context.Context) error {
	return f.locked(ctx, func() error {
		entries, err := os.ReadDir(f.path)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if halfWritten().MatchString(e.Name()) && e.Type().IsRegular() {
				if err := os.Remove(filepath.Join(f.path, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
		}
		return nil
	})
}

// put gives a snapshot that is written its name, if this supervisor still holds the run, and removes the oldest ones,
// so that keep are left and what those rest on. rests gives what a snapshot rests on, by name; "" if on none.
func (f *Folder) put(ctx context.Context, file *files.Replacement, keep int,
	rests func(name string) string) error {
	if err := file.Sync(); err != nil { // before the lock, for it may take long
		return err
	}
	return f.locked(ctx, func() error {
		if err := f.Check(ctx); err != nil {
			return err
		}
		if err := file.Keep(); err != nil {
			return err
		}
		return f.prune(keep, rests)
	})
}

func (f *Folder) prune(keep int, rests func(name string) string) error {
	all, err := snapshotsIn(f.path)
	if err != nil {
		return err
	}
	needed := map[string]bool{}
	for _, file := range all[max(0, len(all)-keep):] {
		for name := file.name; name != "" && !needed[name]; name = rests(name) {
			needed[name] = true
		}
	}
	for _, file := range all {
		if !needed[file.name] {
			if err := os.Remove(filepath.Join(f.path, file.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
