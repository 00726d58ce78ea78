package filedrop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// A Folders is the folders of question and answer files below one .claude folder, in the form of the hybrid protocol
// ("Directory Structure"):
//
//	.claude/
//	  questions/             0700, as are all folders that the file drop makes
//	    pending/ID.json      what is asked: ours, put there whole, and those of agents' scripts
//	    answered/ID.json     the same with answer, answered_at, response_seconds and path
//	  answers/
//	    ID.txt               somebody's answer: its first line, once that is complete
//	    ID.rejected          an answer that could not be used, and why
//	  audit/
//	    questions.log        a line for each answer
//
// What lies there is another's word and never trusted over the database. A file is read only if it is regular, this
// user's, no symlink and at most fileDropMax bytes long; a folder that is a symlink or another user's is not used
// (errUnsafeDir). Folders that are gone are made again by what puts something there.
//
// Several file drops, in one process or many, may stand in the same folders. All methods may be called at once.
type Folders struct {
	claude string
	kernel func() (*fsnotify.Watcher, error)
	loosen chan bool // how the folders are to be followed from now on; holds the newest word

	mu      sync.Mutex
	watched *dropWatch // what Watch has seen; nil while nobody watches
}

// fileDropMax bounds a question or answer file, in bytes.
const fileDropMax = 1 << 20

// What the file drop refuses, besides what the file system says.
var (
	ErrBadID           = errors.New("no plain file name: only A-Z a-z 0-9 . _ -, no dot first, at most 128")
	ErrBadQuestionFile = errors.New("no question file")
	errBadAnswer       = errors.New("not a line of text")
)

// Workflows is where agents' scripts keep their checkpoints ("Ensure directories exist" in the hybrid protocol).
const Workflows = "/tmp/workflows"

// The folders, below .claude.
const (
	pendingFolder  = "questions/pending"
	answeredFolder = "questions/answered"
	answersFolder  = "answers"
	auditFolder    = "audit"
)

const (
	questionSuffix = ".json"
	answerSuffix   = ".txt"
	rejectedSuffix = ".rejected"
)

// OpenFolders makes the folders below the .claude folder at that path, and asks whether each can be written. The error
// names the one that cannot; what is below it is as it was.
func OpenFolders(claude string) (*Folders, error) {
	d, err := newFolders(claude)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{pendingFolder, answeredFolder, answersFolder, auditFolder} {
		path, err := d.folder(name)
		if err == nil {
			err = writable(path)
		}
		if err != nil {
			return nil, fmt.Errorf("the folder %s cannot be used for questions and answers as files: %w", d.at(name), err)
		}
	}
	return d, nil
}

// OpenReadOnly is OpenFolders for who only reads, or answers what is asked: it makes no folder, and gives
// fs.ErrNotExist where there is none for questions.
func OpenReadOnly(claude string) (*Folders, error) {
	d, err := newFolders(claude)
	if err != nil {
		return nil, err
	}
	if _, err := d.standing(pendingFolder); err != nil {
		return nil, fmt.Errorf("the folder %s cannot be read: %w", d.at(pendingFolder), err)
	}
	return d, nil
}

func newFolders(claude string) (*Folders, error) {
	claude, err := filepath.Abs(claude)
	if err != nil {
		return nil, err
	}
	return &Folders{claude: claude, kernel: fsnotify.NewWatcher, loosen: make(chan bool, 1)}, nil
}

// writable asks for the rights of this user, on a disk that takes anything: no file is made to try it.
func writable(folder string) error {
	err := unix.Faccessat(unix.AT_FDCWD, folder, unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	if err != nil {
		return &fs.PathError{Op: "write in", Path: folder, Err: err}
	}
	return nil
}

// Watched returns the paths of the folders in a folder of Claude's own in which questions and answers come and go.
func Watched(claude string) []string {
	return []string{filepath.Join(claude, filepath.FromSlash(pendingFolder)), filepath.Join(claude, answersFolder)}
}

func (d *Folders) at(name string) string { return filepath.Join(d.claude, filepath.FromSlash(name)) }

// folder makes a folder if it is not there, and gives its path.
func (d *Folders) folder(name string) (path string, err error) {
	if err := os.MkdirAll(d.claude, 0o700); err != nil {
		return "", err
	}
	return d.walk(name, func(path string) error {
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	})
}

// standing is the path of a folder that is there.
func (d *Folders) standing(name string) (path string, err error) {
	return d.walk(name, func(string) error { return nil })
}

// walk goes from the .claude folder down to another one, and refuses what leads elsewhere. The .claude folder itself
// may be a symlink: people keep theirs with their other settings.
func (d *Folders) walk(name string, enter func(path string) error) (path string, err error) {
	path = d.claude
	for part := range strings.SplitSeq(name, "/") {
		path = filepath.Join(path, part)
		if err := enter(path); err != nil {
			return "", err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return "", err
		}
		if !info.IsDir() || !files.Ours(info) {
			return "", fmt.Errorf("%s is %w", path, files.ErrUnsafeDir)
		}
	}
	return path, nil
}

// file is the path of an id's file in a folder, which is made if it is not there.
func (d *Folders) file(folder, id, suffix string) (string, error) {
	return fileIn(d.folder, folder, id, suffix)
}

// fileThere is the path of an id's file in a folder that is there.
func (d *Folders) fileThere(folder, id, suffix string) (string, error) {
	return fileIn(d.standing, folder, id, suffix)
}

func fileIn(find func(folder string) (string, error), folder, id, suffix string) (string, error) {
	if !checkpoints.PlainID(id) {
		return "", ErrBadID
	}
	path, err := find(folder)
	if err != nil {
		return "", err
	}
	return filepath.Join(path, id+suffix), nil
}

// readDropFile returns the file's description as well, as it was before the text was read: who sees the same one later
// has missed nothing.
func readDropFile(path string) ([]byte, fs.FileInfo, error) {
	folder, err := files.OpenFolder(filepath.Dir(path))
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = folder.Close() }() // only read
	return files.ReadIn(folder, filepath.Base(path), fileDropMax)
}

// publish puts a file where none is, whole; fs.ErrExist if there is one. When it returns nil the file is on the disk.
func publish(path string, text []byte) error {
	if err := putUp(path, text); err != nil {
		return err
	}
	return files.SyncDir(filepath.Dir(path))
}

// putUp is publish for what the next supervisor puts up anew: a power cut may take its name away, never a part of what
// it holds.
func putUp(path string, text []byte) error {
	return files.PutOnce(path, text, func(r *files.Replacement) error { return r.Sync() })
}

// failed says of an error, if there is one, what was being done with the file of an id.
func failed(doing, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", doing, files.Shown(id), err)
}

// remove reports whether it was this caller who removed the file.
func remove(path string) (bool, error) {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
