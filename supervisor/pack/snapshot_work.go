package pack

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"claude-supervise/supervisor/git"
)

// A folderCapturer takes the files of a folder that is no work tree. It keeps a copy of each.
type folderCapturer struct {
	folder, dir string
	limit       int64
	kept        map[string]keptFile
	copies      int
}

// A workFile is a file as the file system tells of it.
type workFile struct {
	mode         fs.FileMode
	size         int64
	mod, changed int64 // Unix nanoseconds
	inode        uint64
	link         string
	racy         bool // it was changed so shortly before that it may have been again without a trace
}

// A keptFile is the copy of a file.
type keptFile struct {
	workFile
	copy string
}

// racyWithin is how exactly the file system tells when a file was changed, and more.
const racyWithin = 50 * time.Millisecond

// capture takes the files in this moment.
func (c *folderCapturer) capture(ctx context.Context, got *capturedRun) error {
	got.work = map[string]workFile{}
	root, err := os.OpenRoot(c.folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only read
	left := func(name string, _ fs.DirEntry) bool { return git.IsGitDir(path.Base(name)) }
	sizes, err := git.FolderSize(root, left)
	if err == nil && sizes.Sum > c.limit {
		err = git.TooLarge(sizes.Sum, c.limit, sizes.Largest())
	}
	if err != nil {
		return err
	}
	begun := time.Now()
	err = fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && errors.Is(err, fs.ErrNotExist) && at != ".":
			return nil // removed meanwhile
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case at == ".":
			return nil
		case left(at, d) && d.IsDir():
			return fs.SkipDir
		case left(at, d):
			return nil
		}
		return c.captureOne(root, at, d, begun, got)
	})
	for name, k := range c.kept {
		if _, there := got.work[name]; !there {
			delete(c.kept, name)
			_ = os.Remove(k.copy) // the whole folder is removed later
		}
	}
	return err
}

func (c *folderCapturer) captureOne(root *os.Root, at string, d fs.DirEntry, begun time.Time, got *capturedRun) error {
	info, err := d.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	f := workFile{mode: info.Mode() & (fs.ModeType | 0o100)}
	switch {
	case d.IsDir():
		f.mode = fs.ModeDir
	case d.Type()&fs.ModeSymlink != 0:
		f.mode = fs.ModeSymlink
		if f.link, err = root.Readlink(at); err != nil {
			return err
		}
		if linkTarget(at, f.link) != nil {
			got.told = append(got.told, "not packed: "+at+" (a symlink out of the folder)")
			return nil
		}
	case d.Type().IsRegular():
		f.size, f.mod = info.Size(), info.ModTime().UnixNano()
		f.changed, f.inode = changedAt(info)
		was, known := c.kept[at]
		if !known || was.workFile != f {
			if f, err = c.keep(root, at, f, begun); err != nil {
				return err
			}
		}
	default:
		got.told = append(got.told, "not packed: "+at+" (neither file nor folder)")
		return nil
	}
	got.work[at] = f
	return nil
}

// keep copies a file.
func (c *folderCapturer) keep(root *os.Root, at string, f workFile, begun time.Time) (workFile, error) {
	from, err := root.OpenFile(at, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return f, err
	}
	defer func() { _ = from.Close() }() // only read
	c.copies++
	k := keptFile{workFile: f, copy: filepath.Join(c.dir, strconv.Itoa(c.copies))}
	to, err := os.OpenFile(k.copy, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600|f.mode&0o100)
	if err != nil {
		return f, err
	}
	n, err := io.Copy(to, io.LimitReader(from, f.size))
	if err = errors.Join(err, to.Close()); err != nil {
		return f, err
	}
	k.size = n // it may have been cut meanwhile
	k.racy = time.Unix(0, max(f.mod, f.changed)).After(begun.Add(-racyWithin)) || n != f.size
	if old, known := c.kept[at]; known {
		_ = os.Remove(old.copy) // the whole folder is removed later
	}
	c.kept[at] = k
	return k.workFile, nil
}

// writeNew writes what a snapshot gets that has the files before.
func (c *folderCapturer) writeNew(p *packer, files, before map[string]workFile) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		if old, there := before[name]; there && old == f && !f.racy {
			continue
		}
		if err := c.write(p, name, f); err != nil {
			return err
		}
	}
	return nil
}

// removedFrom returns the files that a snapshot has and that are not there any more, or are of another kind.
func removedFrom(before, now map[string]workFile) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if f, there := now[name]; !there || f.mode.Type() != before[name].mode.Type() {
			names = append(names, name)
		}
	}
	return names
}

func (c *folderCapturer) write(p *packer, name string, f workFile) error {
	switch {
	case f.mode.IsDir():
		return p.header(&tar.Header{Typeflag: tar.TypeDir, Name: filesPrefix + name + "/", Mode: 0o700})
	case f.mode&fs.ModeSymlink != 0:
		return p.header(&tar.Header{Typeflag: tar.TypeSymlink, Name: filesPrefix + name, Linkname: f.link, Mode: 0o700})
	}
	return p.fileAt(c.kept[name].copy, filesPrefix+name)
}
