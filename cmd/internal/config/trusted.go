package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"claude-supervise/cmd/internal/yamlfile"
)

// Who could have written the file decides whether it counts. It is a regular file of the person's own, or of root, that
// nobody else may write, in a folder of which that is true as well. A link is followed, since people keep such files in
// a repository of their own: what counts is the file that it leads to. That must not lie in the folder of the run
// (Config.outside), whatever led there: a link, or an XDG_CONFIG_HOME that something in a repository has set. There the
// agents write, and git lays down what others have written. A run in a folder that holds the person's whole home is no
// such case: what its agents would write to the file is asked about (permission.Guarded).

var errOthers = errors.New("others could have written it")

// read reads the file at path, at most yamlfile.MaxFile bytes of it.
func read(path string) ([]byte, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, plainly(err)
	}
	f, err := os.OpenFile(real, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, plainly(err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, plainly(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if err := owned(info, real); err != nil {
		return nil, err
	}
	folder, err := os.Stat(filepath.Dir(real))
	if err != nil {
		return nil, plainly(err)
	}
	if err := owned(folder, filepath.Dir(real)); err != nil {
		return nil, err
	}
	return yamlfile.Read(f)
}

// plainly leaves out the path of an error, which is told beside it.
func plainly(err error) error {
	if at := new(fs.PathError); errors.As(err, &at) {
		return at.Err
	}
	return err
}

// owned reports, as an error, who else could have written a file or folder.
func owned(info fs.FileInfo, path string) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || stat.Uid != 0 && int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("%w: %s is another user's; make it yours", errOthers, path)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%w: %s is writable by others; run: chmod go-w %[2]s", errOthers, path)
	}
	return nil
}

// outside reports, as an error, that the file lies in the folder of a run.
func (c Config) outside(cwd string) error {
	if c.Path == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(c.Path)
	if err != nil { // it has gone since it was read
		return fmt.Errorf("%s cannot be used: %w; nothing was started", c.Path, plainly(err))
	}
	home, err := filepath.EvalSymlinks(c.home)
	if !Within(real, cwd) || err == nil && Within(home, cwd) {
		return nil
	}
	return fmt.Errorf("%s is %s, in the folder of the run, where its agents could rewrite it; nothing was started.\n"+
		"Keep it elsewhere, or start without it: XDG_CONFIG_HOME=/var/empty claude-supervise …", c.Path, real)
}
