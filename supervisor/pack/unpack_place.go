package pack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// A rootedWriter puts files into a folder without leaving it: through os.Root, never through a symlink, and each whole
// or not at all. What it has begun lies in placing until it is whole.
type rootedWriter struct{ root *os.Root }

// placing is a folder in the one that is written to, gone when all is in place.
const placing = ".claude-supervise-unpack"

// free tells why a path cannot be written: something that is no folder stands in the way, or a folder in its place.
// What is about to be dropped stands in no way.
func (p rootedWriter) free(name string, dropped []string) error {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := p.root.Lstat(dir)
		if err == nil && !info.IsDir() && !slices.Contains(dropped, dir) {
			return notClean(dir + " is in the way of " + name)
		}
	}
	info, err := p.root.Lstat(name)
	if err == nil && info.IsDir() && !slices.ContainsFunc(dropped, func(d string) bool {
		return strings.HasPrefix(d, name+"/")
	}) {
		return notClean(name + " is a folder")
	}
	return nil
}

// parents makes the folders above a path. It refuses a symlink among them, wherever it leads.
func (p rootedWriter) parents(name string) error {
	dir := ""
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		if part == "." {
			return nil
		}
		dir = path.Join(dir, part)
		err := p.root.Mkdir(dir, 0o777)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if info, err := p.root.Lstat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is not a folder", dir)
		}
	}
	return nil
}

// begin returns the path where a file is made before it takes its place.
func (p rootedWriter) begin(name string) (string, error) {
	if err := p.root.Mkdir(placing, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	next := path.Join(placing, "next")
	if err := p.root.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return next, p.parents(name)
}

// file writes a file.
func (p rootedWriter) file(name string, content io.Reader, exec bool) error {
	next, err := p.begin(name)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o666)
	if exec {
		mode = 0o777
	}
	f, err := p.root.OpenFile(next, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return p.root.Rename(next, name)
}

// link makes a symlink.
func (p rootedWriter) link(name, target string) error {
	next, err := p.begin(name)
	if err != nil {
		return err
	}
	if err := p.root.Symlink(target, next); err != nil {
		return err
	}
	return p.root.Rename(next, name)
}

// drop removes a file, and the folders that it leaves empty.
func (p rootedWriter) drop(name string) error {
	if err := p.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if p.root.Remove(dir) != nil {
			return nil // it holds something else
		}
	}
	return nil
}

// clear removes what the placer needed for itself.
func (p rootedWriter) clear() error { return p.root.RemoveAll(placing) }

// same reports whether a file is there with this content already.
func (p rootedWriter) same(name string, content io.Reader) (bool, error) {
	info, err := p.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false, nil
	}
	f, err := p.root.Open(name)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // only read
	n, err := common(f, content)
	return n == wholeSame, err
}

// How the beginnings of two files are alike.
const (
	wholeSame = iota
	firstIsBeginning
	secondIsBeginning
	unlike
)

// common tells how two contents are alike: the same, the one the beginning of the other, or neither.
func common(first, second io.Reader) (int, error) {
	a, b := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errA := io.ReadFull(first, a)
		m, errB := io.ReadFull(second, b)
		for _, err := range []error{errA, errB} {
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return unlike, err
			}
		}
		switch least := min(n, m); {
		case !bytes.Equal(a[:least], b[:least]):
			return unlike, nil
		case n < m:
			return firstIsBeginning, nil
		case n > m:
			return secondIsBeginning, nil
		case errA != nil:
			return wholeSame, nil
		}
	}
}
