package checkpoints

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"claude-supervise/checkpoints/files"
)

// Dirs says where things are kept. Both paths are absolute; neither needs to exist.
type Dirs struct {
	State   string // the database and the folders of the runs
	Runtime string // the wake-up sockets; its contents may vanish at a reboot
}

const program = "claude-supervise"

// socketPathMax is the longest path of a Unix socket: sun_path has 104 bytes on macOS (108 on Linux), the last one NUL.
const socketPathMax = 103

// DefaultDirs finds the folders by the XDG base directory specification (relative values of its variables are ignored):
// the state in $XDG_STATE_HOME or ~/.local/state, the wake-up sockets in $XDG_RUNTIME_DIR if that exists and is short
// enough for a socket's path, else in /tmp. It creates nothing.
func DefaultDirs() (Dirs, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil || !filepath.IsAbs(home) {
			return Dirs{}, errors.New("no place to keep state: set HOME or XDG_STATE_HOME to an absolute path")
		}
		state = filepath.Join(home, ".local", "state")
	}
	d := Dirs{
		State:   filepath.Join(state, program),
		Runtime: filepath.Join("/tmp", program+"-"+strconv.Itoa(os.Getuid())),
	}
	if base := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(base) {
		own := Dirs{Runtime: filepath.Join(base, program)}
		info, err := os.Stat(base)
		if err == nil && info.IsDir() && len(own.wakerPath("r-12345678")) <= socketPathMax {
			d.Runtime = own.Runtime
		}
	}
	return d, nil
}

// Database is the path of the database.
func (d Dirs) Database() string { return filepath.Join(d.State, "state.db") }

// RunDir is the folder of a run. Own creates it.
func (d Dirs) RunDir(run string) string { return filepath.Join(d.State, "runs", run) }

// RunDirs lists the runs that have a folder, sorted, whether the database knows them or not. Nothing else that lies
// there is listed, symlinks neither.
func (d Dirs) RunDirs() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(d.State, "runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the folders of the runs: %w", err)
	}
	var runs []string
	for _, e := range entries {
		if e.IsDir() && plainID(RunPrefix, e.Name()) == nil {
			runs = append(runs, e.Name())
		}
	}
	return runs, nil
}

// AgentLog is the file of everything that an agent printed.
func (d Dirs) AgentLog(run, agent string) string { return filepath.Join(d.RunDir(run), agent+".jsonl") }

// CheckpointFile is the file of an agent's checkpoint.
func (d Dirs) CheckpointFile(run, agent string) string {
	return filepath.Join(d.RunDir(run), agent+".checkpoint.json")
}

// RunFile is another file in the folder of a run; whatever the name is, it lies there.
func (d Dirs) RunFile(run, name string) string {
	return filepath.Join(d.RunDir(run), filepath.Base(name))
}

// Lock is the file whose exclusive flock makes a process the owner of a run.
func (d Dirs) Lock(run string) string { return filepath.Join(d.RunDir(run), "owner.lock") }

// wakerPath is where the wake-up socket of a run hangs. Whoever rings takes the path from the run's record instead: the
// supervisor may have been started with other variables in its environment.
func (d Dirs) wakerPath(run string) string { return filepath.Join(d.Runtime, run+".sock") }

// makeState creates the state folder so that it lasts, and closes it to others if it is ours and open to them. A
// symlink is welcome: people put their state on another disk.
func (d Dirs) makeState(syncDir func(dir string) error) error {
	var above []string // the folders that get a new one
	for dir := d.State; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		above = append(above, filepath.Dir(dir))
	}
	if err := os.MkdirAll(d.State, 0o700); err != nil {
		return err
	}
	for _, dir := range above {
		if err := syncDir(dir); err != nil && !errors.Is(err, fs.ErrPermission) { // one may write where one may not read
			return err
		}
	}
	info, err := os.Stat(d.State)
	if err != nil {
		return err
	}
	return closeToOthers(d.State, info)
}

// placeWaker makes the folder of a run's wake-up socket, and returns the socket's path.
func (d Dirs) placeWaker(run string) (string, error) {
	path := d.wakerPath(run)
	if len(path) > socketPathMax {
		return "", fmt.Errorf("longer than the %d bytes of a socket's path; set XDG_RUNTIME_DIR to a shorter one",
			socketPathMax)
	}
	err := d.makeRuntime()
	if errors.Is(err, files.ErrUnsafeDir) {
		beside := (Dirs{Runtime: d.State}).wakerPath(run)
		if len(beside) <= socketPathMax {
			return beside, nil
		}
	}
	return path, err
}

// Answered is the path of the index of what was answered, a database that repeats what ours has, and may vanish at any
// time. It makes the folder of it.
func (d Dirs) Answered() (string, error) {
	return filepath.Join(d.Runtime, "answered.db"), d.makeRuntime()
}

// ForgetAnswered removes that index, which has the words of what was deleted as well.
func (d Dirs) ForgetAnswered() error {
	path, err := d.Answered()
	if err != nil {
		return err
	}
	return RemoveDatabase(path)
}

// RemoveDatabase removes a database, with what SQLite keeps beside it. One that is not there is no error.
func RemoveDatabase(path string) error {
	var errs []error
	for _, part := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + part); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// makeRuntime creates the folder of the wake-up sockets, and refuses one that another user could have planted in /tmp.
func (d Dirs) makeRuntime() error {
	if err := os.Mkdir(d.Runtime, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(d.Runtime)
	if err != nil {
		return err
	}
	if !info.IsDir() || !files.Ours(info) {
		return fmt.Errorf("%s is %w: remove it, or set XDG_RUNTIME_DIR to a folder of your own", d.Runtime,
			files.ErrUnsafeDir)
	}
	return closeToOthers(d.Runtime, info)
}

func closeToOthers(dir string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o077 == 0 || !files.Ours(info) {
		return nil
	}
	return os.Chmod(dir, 0o700)
}
