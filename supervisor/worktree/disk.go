package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"claude-supervise/supervisor/text"
)

// This file looks on disk for files that an agent has named. An agent may name anything: a pattern that every file of
// the machine fits, a folder behind a link, a file system that does not answer. So
//
//   - a plain path costs one call of the system, which follows no link in its last step and opens nothing;
//   - a pattern is matched below the agent's folder or the run's, never through a link out of it, and all patterns of
//     one look read at most MaxEntries entries of folders;
//   - a look ends with its context between any two calls. A call that does not come back holds its goroutine alone:
//     looks run in effects, which are given up (engine/giveup.go), never in the engine's goroutine.

// maxEntriesRead bounds how many entries of folders one look reads. A variable, so that a test need not make as many
// files.
var maxEntriesRead = 100_000

// A FileSearch is one look for named files.
type FileSearch struct {
	Cwd     string   // the agent's folder, absolute: relative paths begin there
	Folders []string // other folders below which a pattern may be matched, absolute
	listed  int      // entries read so far
}

var errListedTooMuch = errors.New("too many files to look through")

// Missing returns the files that are not on disk, as they were named; one that could not be looked for with the reason
// after it.
func (l *FileSearch) Missing(ctx context.Context, files []string) []string {
	var gone []string
	for _, path := range files {
		switch there, err := l.OnDisk(ctx, path); {
		case err != nil:
			gone = append(gone, fmt.Sprintf("%s (%s)", path, text.FirstLine(err.Error())))
		case !there:
			gone = append(gone, path)
		}
	}
	return gone
}

// OnDisk reports whether a file that an agent named is on disk. The error says why that is not known.
func (l *FileSearch) OnDisk(ctx context.Context, path string) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if home, ok := strings.CutPrefix(path, "~/"); ok {
		dir, err := os.UserHomeDir()
		if err != nil {
			return false, nil
		}
		path = filepath.Join(dir, home)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.Cwd, path)
	}
	if strings.Contains(path, "*") {
		return l.matches(ctx, path)
	}
	_, err := os.Lstat(path)
	return err == nil, nil
}

// matches reports whether any file fits a pattern, which is absolute.
func (l *FileSearch) matches(ctx context.Context, pattern string) (bool, error) {
	for _, folder := range append([]string{l.Cwd}, l.Folders...) {
		rel, below := patternBelow(folder, pattern)
		if !below {
			continue
		}
		root, err := os.OpenRoot(folder)
		if err != nil {
			return false, nil
		}
		defer func() { _ = root.Close() }() // only read
		tree := &listing{ctx: ctx, root: root, search: l}
		found, err := fs.Glob(tree, filepath.ToSlash(rel))
		if len(found) > 0 {
			return true, nil
		}
		return false, errors.Join(err, tree.err)
	}
	return false, nil
}

// patternBelow returns a pattern as it is below a folder, if all that it fits lies there: the folder itself, or its
// name without links, which is how an agent may see it.
func patternBelow(folder, pattern string) (rel string, below bool) {
	for _, base := range []string{folder, unlinked(folder)} {
		rel, err := filepath.Rel(base, pattern)
		if err == nil && filepath.IsLocal(rel) && rel != "." {
			return rel, true
		}
	}
	return "", false
}

func unlinked(folder string) string {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return folder
	}
	return real
}

// A listing is the tree of a folder as fs.Glob reads it: within the bounds of a look, and without its links.
type listing struct {
	ctx    context.Context
	root   *os.Root
	search *FileSearch
	err    error // why it was not read to its end
}

func (t *listing) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid} // a look opens no file
}

func (t *listing) Stat(name string) (fs.FileInfo, error) { return t.root.Lstat(name) }

func (t *listing) ReadDir(name string) ([]fs.DirEntry, error) {
	if t.stopped() {
		return nil, t.err
	}
	if info, err := t.root.Lstat(name); err != nil || !info.IsDir() {
		return nil, err // a link is not followed
	}
	dir, err := t.root.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // only read
	var all []fs.DirEntry
	for !t.stopped() {
		some, err := dir.ReadDir(min(1000, maxEntriesRead-t.search.listed))
		all = append(all, some...)
		if t.search.listed += len(some); err != nil {
			return all, nil // its end, or as much as can be read of it
		}
	}
	return all, t.err
}

func (t *listing) stopped() bool {
	switch {
	case t.err != nil:
	case t.ctx.Err() != nil:
		t.err = context.Cause(t.ctx)
	case t.search.listed >= maxEntriesRead:
		t.err = errListedTooMuch
	}
	return t.err != nil
}
