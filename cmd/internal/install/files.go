package install

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"claude-supervise/cmd/internal/skill"
	"claude-supervise/supervisor/client"
)

// A place is a folder that init works in. Below it no symlink is followed and nothing of another user is touched: a
// repository that somebody else has made must not lead init out of it.
type place struct {
	base    string
	home    string
	project bool
	uid     int // whose files are touched

	skill, command, settings string // files below base
}

// A personsFile is a file that init puts something into.
type personsFile struct {
	place
	rel  string
	part skill.Part
}

// maxPersonsFile bounds what is read, in bytes.
const maxPersonsFile = 1 << 20

// contents is what was found in a file's place.
type contents struct {
	there bool
	text  string
	mode  fs.FileMode
}

func (f personsFile) path() string { return filepath.Join(f.base, f.rel) }

// shown is the file's path as a person would type it.
func (f personsFile) shown() string {
	if f.project {
		return f.rel
	}
	return underHome(f.path(), f.home)
}

func underHome(path, home string) string {
	if rel, err := filepath.Rel(home, path); err == nil && home != "" && filepath.IsLocal(rel) {
		return filepath.Join("~", rel)
	}
	return path
}

// look reads the file. The error says what is there that init does not touch.
func (f personsFile) look() (contents, error) {
	at := f.base
	parts := strings.Split(f.rel, string(filepath.Separator))
	for i, part := range parts {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return contents{}, nil
		}
		if err != nil {
			return contents{}, fmt.Errorf("%s cannot be read: %w", f.shown(), err)
		}
		if err := f.acceptable(at, info, i < len(parts)-1); err != nil {
			return contents{}, err
		}
	}
	// What it has become since it was looked at, opening tells: O_NOFOLLOW refuses a symlink, O_NONBLOCK waits for no
	// pipe.
	file, err := os.OpenFile(at, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return contents{}, fmt.Errorf("%s cannot be read: %w", f.shown(), err)
	}
	defer func() { _ = file.Close() }() // only read
	info, err := file.Stat()
	if err != nil {
		return contents{}, fmt.Errorf("%s cannot be read: %w", f.shown(), err)
	}
	if err := f.acceptable(at, info, false); err != nil {
		return contents{}, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxPersonsFile+1))
	switch {
	case err != nil:
		return contents{}, fmt.Errorf("%s cannot be read: %w", f.shown(), err)
	case len(text) > maxPersonsFile:
		return contents{}, fmt.Errorf("%s is larger than %d MiB: init does not change a file of that size",
			f.shown(), maxPersonsFile>>20)
	case !utf8.Valid(text):
		return contents{}, fmt.Errorf("%s is not UTF-8 text: init does not change it", f.shown())
	}
	return contents{there: true, text: string(text), mode: info.Mode().Perm()}, nil
}

// acceptable tells why something in the way of the file, or the file itself, is not touched.
func (f personsFile) acceptable(path string, info fs.FileInfo, folder bool) error {
	shown := personsFile{place: f.place, rel: strings.TrimPrefix(path, f.base+string(filepath.Separator))}.shown()
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf(
			"%s is a symlink, which init does not follow: put one of your own there, or copy init's text by hand", shown)
	case folder && !info.IsDir():
		return fmt.Errorf("%s is not a folder: move it away first", shown)
	case !folder && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file: move it away first", shown)
	case !ok || int(stat.Uid) != f.uid:
		return fmt.Errorf("%s belongs to another user: init changes only what is yours", shown)
	case info.Mode().Perm()&0o200 == 0:
		return fmt.Errorf("%s is read-only: `chmod u+w %s` first, if init may change it", shown, shown)
	}
	return nil
}

// room reports whether the file can be written: the nearest folder that is there must take new files.
func (f personsFile) room() error {
	dir := filepath.Dir(f.path())
	for ; dir != f.base; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil {
			break
		}
	}
	for !f.project { // ~/.claude itself may be missing
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
	case !info.IsDir():
		err = errors.New("it is not a folder")
	case info.Mode().Perm()&0o222 == 0:
		err = errors.New("it is read-only") // which would not keep root
	default:
		err = unix.Access(dir, unix.W_OK|unix.X_OK)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: of its folder %s, %w", f.shown(), underHome(dir, f.home), err)
	}
	return nil
}

var errChanged = errors.New("it has changed since you were shown what init would do")

// write gives the file its next text, and removes it where that is empty. What was looked at must still be there.
func (f personsFile) write(before contents, next string) error {
	now, err := f.look()
	if err != nil {
		return err
	}
	if now != before {
		return errChanged
	}
	if next == "" {
		if err := os.Remove(f.path()); err != nil {
			return err
		}
		for dir := filepath.Dir(f.path()); dir != f.base && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
			// a folder that is left empty was there for the file
		}
		return nil
	}
	if !f.project { // what Claude Code keeps there is private
		if err := os.MkdirAll(f.base, 0o700); err != nil {
			return err
		}
	}
	dir := filepath.Dir(f.path())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mode := before.mode
	if !before.there { // as open as its folder is
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		mode = info.Mode().Perm() & 0o666
	}
	return client.ReplaceFile(f.path(), []byte(next), mode)
}
