package files

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ReplaceFile makes a text the whole content of the file at path, whose folder must exist, with that mode. Whatever
// happens, the file is afterwards the old one or the new one; when ReplaceFile returns nil it is the new one, on the
// disk. A symlink at path is not followed but replaced.
func ReplaceFile(path string, text []byte, mode fs.FileMode) error {
	next, err := Replace(path)
	if err != nil {
		return err
	}
	return next.KeepText(text, mode)
}

// ReplacePrivate is ReplaceFile for a file that is only for this user's eyes.
func ReplacePrivate(path string, text []byte) error { return ReplaceFile(path, text, 0o600) }

// A Replacement is the next content of a file. Whatever happens, the file is afterwards the old one or the new one,
// whole.
type Replacement struct {
	*os.File
	folder *os.File
	name   string // in the folder
	temp   string // the same, of what is being written
}

// Replace begins the next content of the file at path, whose folder must exist, under a name of its own beside it and
// with mode 0600. Drop has to be called in any case.
func Replace(path string) (*Replacement, error) {
	folder, err := OpenFolder(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	r, err := ReplaceIn(folder, filepath.Base(path))
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return r, nil
}

// ReplaceIn is Replace for a name in a folder, wherever that is moved meanwhile. The folder is closed by Drop.
func ReplaceIn(folder *os.File, name string) (*Replacement, error) {
	const most = 200 // bytes: a name has 255
	temp := "." + name[:min(len(name), most)] + "." + rand.Text()
	file, err := OpenIn(folder, temp, unix.O_CREAT|unix.O_EXCL|unix.O_RDWR)
	if err != nil {
		return nil, err
	}
	return &Replacement{File: file, folder: folder, name: name, temp: temp}, nil
}

// Keep gives what was written its name. When it returns nil that is on the disk.
func (r *Replacement) Keep() error {
	if err := r.Rename(); err != nil {
		return err
	}
	return r.folder.Sync()
}

// Rename gives what was written its name, which may be lost in a power cut until the folder is synced. What stands
// under the name is whole.
func (r *Replacement) Rename() error {
	if err := errors.Join(r.Sync(), r.Close()); err != nil {
		return err
	}
	at := int(r.folder.Fd())
	if err := unix.Renameat(at, r.temp, at, r.name); err != nil {
		return &os.LinkError{Op: "rename", Old: r.Name(), New: filepath.Join(r.folder.Name(), r.name), Err: err}
	}
	return nil
}

// KeepText makes a text the whole content of the file.
func (r *Replacement) KeepText(text []byte, mode fs.FileMode) error {
	defer r.Drop()
	if err := r.Chmod(mode.Perm()); err != nil {
		return err
	}
	if _, err := r.Write(text); err != nil {
		return err
	}
	return r.Keep()
}

// Replacing writes a text as the next content of the file at path, for finish to give it a name.
func Replacing(path string, text []byte, finish func(*Replacement) error) error {
	next, err := Replace(path)
	if err != nil {
		return err
	}
	defer next.Drop()
	if _, err := next.Write(text); err != nil {
		return err
	}
	return finish(next)
}

// Drop removes what was not kept.
func (r *Replacement) Drop() {
	_ = r.Close()                                    // fails where it was kept
	_ = unix.Unlinkat(int(r.folder.Fd()), r.temp, 0) // so does this
	_ = r.folder.Close()                             // only read
}

// PutOnce puts a file where none is, once ready has returned.
func PutOnce(path string, text []byte, ready func(*Replacement) error) error {
	return Replacing(path, text, func(next *Replacement) error {
		if err := ready(next); err != nil {
			return err
		}
		return os.Link(next.Name(), path)
	})
}

// SyncDir makes a rename in dir last.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
