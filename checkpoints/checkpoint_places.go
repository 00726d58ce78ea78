package checkpoints

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"claude-supervise/checkpoints/files"

	"golang.org/x/sys/unix"
)

// Places is where files that an agent names may lie: anywhere under its folders, once all symlinks above the file are
// resolved. What an agent names is read only if it is a regular file of this user, no symlink itself, and at most
// checkpointMax bytes long; it is written, and something put beside it, only if it is a checkpoint. Between the look at
// a file and its use nothing can be put in its place: what is opened lies under a folder of these, wherever links are
// bent meanwhile.
//
// The errors of all methods name the file as the agent did, for people, and are errOutside, errNotCheckpoint,
// errNotOurs, errTooLarge, fs.ErrNotExist (for a folder on the way, too), or what else the file system says.
type Places struct {
	Base  string   // the run's folder, absolute: relative paths begin there, and it is one of the folders
	Roots []string // the others, absolute; one that is not there does not count
}

// stateAnswerSuffix makes the name of the file with the answers out of that of the agent's state file beside it.
const stateAnswerSuffix = ".answer.json"

// Keep reads the checkpoint that an agent names, and keeps an exact copy of it in a file of ours, mode 0600 and whole,
// which is on the disk when Keep returns. What is no checkpoint is not kept.
func (p Places) Keep(path, to string) (*Checkpoint, error) {
	var c *Checkpoint
	err := p.in(path, func(folder *os.File, name string) error {
		read, err := checkpointIn(folder, name)
		if err != nil {
			return err
		}
		if err := files.ReplacePrivate(to, read.text); err != nil {
			return fmt.Errorf("no copy of it could be kept: %w", err)
		}
		c = read.Checkpoint
		return nil
	})
	return c, err
}

// Read reads a file that an agent names, whatever it holds, of at most so many bytes. Of one that holds more the error
// is files.ErrTooLarge, beside what is known of it.
func (p Places) Read(path string, most int64) (content []byte, info fs.FileInfo, err error) {
	folder, name, err := p.open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = folder.Close() }() // only read
	return files.ReadIn(folder, name, most)
}

// SetAnswer writes an answer, as JSON, into the user_answer of a checkpoint of the hybrid form. Nothing else changes in
// it but its layout, which is Encode's. It is replaced whole, keeps its mode, and is on the disk when SetAnswer
// returns. Doing it again changes nothing. A checkpoint of another form is errNotCheckpoint.
func (p Places) SetAnswer(path string, answer json.RawMessage) error {
	return p.in(path, func(folder *os.File, name string) error {
		read, err := checkpointIn(folder, name)
		if err != nil {
			return err
		}
		if read.Form != FormHybrid {
			return fmt.Errorf("%w that takes an answer: its form is %s", errNotCheckpoint, read.Form)
		}
		read.SetUserAnswer(answer)
		text, err := read.encode()
		if err != nil {
			return err
		}
		next, err := files.ReplaceIn(folder, name)
		if err != nil {
			return err
		}
		return next.KeepText(text, read.info.Mode().Perm())
	})
}

// StoreAnswers writes the answers, by the ids of their questions, beside the state file that an agent named, into a
// file of its name and stateAnswerSuffix: {"answers": {ID: ANSWER}}, each a string, a list of them, or null. (The
// skill's "Verification Checklist": "User's answer is stored alongside saved state".) An earlier one is replaced;
// another file of that name stays as it is, and the error is errNotOurs. The answers are on the disk when StoreAnswers
// returns.
func (p Places) StoreAnswers(path string, answers map[string]any) error {
	return p.in(path, func(folder *os.File, name string) error {
		if _, err := checkpointIn(folder, name); err != nil {
			return err
		}
		name += stateAnswerSuffix
		switch there, _, err := files.ReadIn(folder, name, checkpointMax); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("its answers cannot be stored in %s: %w", files.Shown(name), err)
		case !holdsAnswers(there):
			return fmt.Errorf("its answers cannot be stored in %s: %w: it holds something else",
				files.Shown(name), files.ErrNotOurs)
		}
		text, err := files.PlainJSON(answersFile{answers})
		if err != nil {
			return err
		}
		next, err := files.ReplaceIn(folder, name)
		if err != nil {
			return err
		}
		return next.KeepText(append(text, '\n'), 0o600)
	})
}

// answersFile is what StoreAnswers writes.
type answersFile struct {
	Answers map[string]any `json:"answers"`
}

func holdsAnswers(text []byte) bool {
	members, err := files.Object(text)
	var answers map[string]any
	if err != nil || len(members) != 1 || json.Unmarshal(members["answers"], &answers) != nil {
		return false
	}
	for _, answer := range answers {
		switch answer.(type) {
		case nil, string, []any:
		default:
			return false
		}
	}
	return true
}

// A foundCheckpoint is one as it lies on the disk.
type foundCheckpoint struct {
	*Checkpoint
	text []byte
	info fs.FileInfo
}

func checkpointIn(folder *os.File, name string) (f foundCheckpoint, err error) {
	if f.text, f.info, err = files.ReadIn(folder, name, checkpointMax); err == nil {
		f.Checkpoint, err = parseCheckpoint(f.text)
	}
	return f, err
}

// in does something with the file at a path, given as its folder and its name there.
func (p Places) in(path string, do func(folder *os.File, name string) error) error {
	folder, name, err := p.open(path)
	if err == nil {
		defer func() { _ = folder.Close() }() // only read
		err = do(folder, name)
	}
	switch {
	case errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ENAMETOOLONG):
		return fmt.Errorf("checkpoint %s: %w: %w", files.Shown(path), fs.ErrNotExist, err)
	case err != nil:
		return fmt.Errorf("checkpoint %s: %w", files.Shown(path), err)
	}
	return nil
}

// open opens the folder in which a path ends.
func (p Places) open(path string) (folder *os.File, name string, err error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return nil, "", fmt.Errorf("%w: no file can have this name", fs.ErrNotExist)
	}
	path = p.Absolute(path)
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	var of *fs.PathError
	switch {
	case err != nil && !errors.As(err, &of): // the one that is not the system's
		return nil, "", fmt.Errorf("%w: its links lead in a circle", errOutside)
	case err != nil:
		return nil, "", files.Bare(err)
	}
	for _, place := range append([]string{p.Base}, p.Roots...) {
		real, err := filepath.EvalSymlinks(place)
		if err != nil || !filepath.IsAbs(real) {
			continue
		}
		rel, err := filepath.Rel(real, dir)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		folder, err := folderUnder(real, rel)
		return folder, filepath.Base(path), files.Bare(err)
	}
	return nil, "", errOutside
}

// Absolute is a path as an agent names it, which may begin at the run's folder or at ~.
func (p Places) Absolute(path string) string {
	if rest, home := strings.CutPrefix(path, "~/"); home {
		if dir, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(dir, rest)
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Base, path)
	}
	return filepath.Clean(path)
}

// folderUnder opens a folder under another one, and never one that lies elsewhere.
func folderUnder(root, rel string) (*os.File, error) {
	r, err := os.OpenRoot(root + "/.") // a FIFO that has taken its place would hold us without the dot
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // only read
	return r.OpenFile(rel, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
}
