package pack

import (
	"archive/tar"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// errOtherFile means that a file is there already and tells another story than the one in the pack file. It is left as
// it is, and nothing was changed.
var errOtherFile = errors.New("exists already, and is a different file or has grown")

// A installer puts files of ours, logs and transcripts, where they belong: once it is planned, nothing that is there is
// lost by it. A file that is the beginning of the one in the pack is replaced; any other stays, and is an error.
type installer struct {
	archive *archive
	files   []kept
	aside   string // what is added to the name of a file that is another one, to keep it beside; "": it is an error
}

type kept struct {
	entry entry
	to    string
	aside bool // what lies there is kept under another name
}

// plan takes a file on the list, if it has to be written.
func (k *installer) plan(e entry, to string) error {
	old, err := os.Open(to)
	if errors.Is(err, fs.ErrNotExist) {
		k.files = append(k.files, kept{entry: e, to: to})
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = old.Close() }() // only read
	if info, err := old.Stat(); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s %w", to, errOtherFile)
	}
	packed, err := os.Open(k.archive.path(e))
	if err != nil {
		return err
	}
	defer func() { _ = packed.Close() }() // only read
	switch how, err := common(old, packed); {
	case err != nil:
		return err
	case how == wholeSame:
		return nil
	case how == firstIsBeginning:
		k.files = append(k.files, kept{entry: e, to: to})
		return nil
	case k.aside != "":
		k.files = append(k.files, kept{entry: e, to: to, aside: true})
		return nil
	}
	return fmt.Errorf("%s %w. Nothing was changed: move it away if it is not needed, and unpack again", to, errOtherFile)
}

// do writes the files, each whole or not at all.
func (k *installer) do() error {
	for _, f := range k.files {
		dir := filepath.Dir(f.to)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if f.aside {
			if err := os.Rename(f.to, f.to+k.aside); err != nil {
				return err
			}
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		err = placeFile(rootedWriter{root: root}, k.archive, f.entry, filepath.Base(f.to))
		if err := errors.Join(err, rootedWriter{root: root}.clear(), root.Close()); err != nil {
			return err
		}
		if err := os.Chmod(f.to, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// placeFile puts the content of an entry in a place.
func placeFile(to rootedWriter, p *archive, e entry, name string) error {
	content, err := os.Open(p.path(e))
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // only read
	return to.file(name, content, e.exec)
}

// A folderWork puts all files of a folder that is no work tree into another one. A file that is there already must be
// the same.
type folderWork struct {
	archive *archive
	folder  string
	dirs    []string
	put     []entry
}

// planFolder finds what is to be put into a folder, which need not be there; it changes nothing.
func planFolder(folder string, p *archive) (*folderWork, error) {
	w := &folderWork{archive: p, folder: folder}
	root, err := os.OpenRoot(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil {
		defer func() { _ = root.Close() }() // only read
	}
	for _, e := range p.under(filesPrefix) {
		name := strings.TrimPrefix(e.name, filesPrefix)
		if root == nil {
			w.add(e, name)
			continue
		}
		done, err := w.there(rootedWriter{root: root}, e, name)
		if err != nil {
			return nil, err
		}
		if !done {
			w.add(e, name)
		}
	}
	return w, nil
}

func (w *folderWork) add(e entry, name string) {
	if e.kind == tar.TypeDir {
		w.dirs = append(w.dirs, name)
		return
	}
	w.put = append(w.put, e)
}

// there reports whether an entry is in place already.
func (w *folderWork) there(at rootedWriter, e entry, name string) (bool, error) {
	if err := at.free(name, nil); err != nil && e.kind != tar.TypeDir {
		return false, otherInFolder(err)
	}
	info, err := at.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	same := false
	switch e.kind {
	case tar.TypeDir:
		same = info.IsDir()
	case tar.TypeSymlink:
		target, err := at.root.Readlink(name)
		same = err == nil && target == e.link
	default:
		content, err := os.Open(w.archive.path(e))
		if err != nil {
			return false, err
		}
		defer func() { _ = content.Close() }() // only read
		if same, err = at.same(name, content); err != nil {
			return false, err
		}
	}
	if !same {
		return false, otherInFolder(fmt.Errorf("%s is another there", path.Base(name)))
	}
	return true, nil
}

func otherInFolder(err error) error {
	return fmt.Errorf("%w: %w. Nothing was changed: unpack into an empty folder (--cwd FOLDER)", errNotClean, err)
}

// do puts the files in place.
func (w *folderWork) do() error {
	if err := os.MkdirAll(w.folder, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(w.folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // every file was closed by itself
	to := rootedWriter{root: root}
	for _, dir := range w.dirs {
		if err := to.parents(dir + "/x"); err != nil {
			return err
		}
	}
	for _, e := range w.put {
		name := strings.TrimPrefix(e.name, filesPrefix)
		if e.kind == tar.TypeSymlink {
			err = to.link(name, e.link)
		} else {
			err = placeFile(to, w.archive, e, name)
		}
		if err != nil {
			return fmt.Errorf("put %s in place: %w", name, err)
		}
	}
	return to.clear()
}
