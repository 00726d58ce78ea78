package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// A Capturer takes the state of a work tree again and again. What it has read once it knows by the times of the files,
// so that later only what has changed is read. It is for one goroutine at a time.
type Capturer struct {
	*Shadow
	Without []string // files that are not part of the work, by absolute path
	Limit   int64    // bytes of what has changed since the last time

	begun   bool
	modules map[string]string // submodules that the index has
	added   fs.FileInfo       // the repository's own index, as it was read last
}

// A Captured is the state of a work tree at one moment. Its objects are in the shadow.
type Captured struct {
	To   *GitManifest
	Told []string // what is not in it, for people

	index, work string // trees
}

// Same reports whether two captures of one work tree hold the same.
func (c Captured) Same(as Captured) bool {
	return c.To.Head == as.To.Head && c.To.Branch == as.To.Branch && c.index == as.index && c.work == as.work
}

// workIndex is the shadow's index of the files on disk, addedIndex that of what was added.
const (
	workIndex  = "captured"
	addedIndex = "added"
)

// Capture takes the state of the work tree in this moment. It blocks for as long as it takes to look at all files and
// to read those that have changed.
func (c *Capturer) Capture(ctx context.Context) (Captured, error) {
	got := Captured{To: &GitManifest{Prefix: c.Prefix, Format: c.Format}}
	var snap snapshot
	group, within := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		got.To.Head, got.To.Branch, err = c.Head(within)
		return err
	})
	group.Go(func() error {
		var err error
		if snap, err = c.take(within); err != nil {
			c.begun = false // what the index knows may be half
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return Captured{}, err
	}
	got.index, got.work, got.Told = snap.Index, snap.Work, snap.told()
	return got, nil
}

func (c *Capturer) take(ctx context.Context) (snapshot, error) {
	added, err := os.Stat(filepath.Join(c.Git, "index"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return snapshot{}, err
	}
	anew := !c.begun || !sameFile(added, c.added)
	snap, err := c.takeAdded(ctx)
	if err != nil {
		return snap, err
	}
	if !c.begun {
		if err := c.CopyIndex(workIndex); err != nil {
			return snap, fmt.Errorf("read the index: %w", err)
		}
	}
	if anew {
		if c.modules, err = c.Gitlinks(ctx, addedIndex); err != nil {
			return snap, err
		}
		if err := c.follow(ctx); err != nil {
			return snap, err
		}
	}
	if len(c.modules) > 0 {
		if err := c.forget(ctx, workIndex, c.modules); err != nil { // else git would look into them, by their configuration
			return snap, err
		}
	}
	paths := c.paths()
	if err := c.bounded(ctx, workIndex, paths, c.Limit); err != nil {
		return snap, err
	}
	if _, err := c.loose(ctx, append([]string{"add", "--all"}, paths...)...); err != nil {
		return snap, fmt.Errorf("the uncommitted work cannot be read: %w", err)
	}
	if err := c.link(ctx, &snap); err != nil {
		return snap, err
	}
	out, err := c.In(ctx, workIndex, nil, "write-tree")
	if err != nil {
		return snap, err
	}
	snap.Work, c.begun, c.added = strings.TrimSpace(string(out)), true, added
	return snap, nil
}

// loose runs git on the index of the files, and keeps what it adds as it is: to make it small is for later.
func (c *Capturer) loose(ctx context.Context, args ...string) ([]byte, error) {
	return c.In(ctx, workIndex, nil, append([]string{"-c", "core.looseCompression=0"}, args...)...)
}

// takeAdded gives the tree of what was added; "" if an unfinished merge leaves none.
func (c *Capturer) takeAdded(ctx context.Context) (snap snapshot, err error) {
	if err := os.Remove(filepath.Join(c.Dir, addedIndex)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return snap, err
	}
	if err := c.CopyIndex(addedIndex); err != nil {
		return snap, fmt.Errorf("read the index: %w", err)
	}
	if out, err := c.In(ctx, addedIndex, nil, "write-tree"); err == nil {
		snap.Index = strings.TrimSpace(string(out))
	} else if ctx.Err() != nil {
		return snap, err
	}
	return snap, nil
}

// follow has the index of the files hold those ignored files that were added all the same, and no others.
func (c *Capturer) follow(ctx context.Context) error {
	if !c.begun {
		return nil // it is a copy
	}
	names := func(index string, args ...string) (map[string]bool, error) {
		out, err := c.In(ctx, index, nil, append([]string{"ls-files", "-z"}, args...)...)
		all := map[string]bool{}
		for name := range strings.SplitSeq(string(out), "\x00") {
			if name != "" {
				all[name] = true
			}
		}
		return all, err
	}
	ignored := []string{"--cached", "--ignored", "--exclude-standard", "--full-name"}
	wanted, err := names(addedIndex, ignored...)
	if err != nil {
		return err
	}
	known, err := names(workIndex, ignored...)
	if err != nil {
		return err
	}
	gone := map[string]string{}
	var list strings.Builder
	for name := range known {
		if !wanted[name] {
			gone[name] = ""
		}
	}
	for name := range wanted {
		if !known[name] {
			list.WriteString(name + "\x00")
		}
	}
	if len(gone) > 0 {
		if err := c.forget(ctx, workIndex, gone); err != nil {
			return err
		}
	}
	if list.Len() == 0 {
		return nil
	}
	_, err = c.In(ctx, workIndex, strings.NewReader(list.String()), "update-index", "-z", "--add", "--remove", "--stdin")
	return err
}

func (c *Capturer) paths() []string {
	paths := []string{"--", ":/"}
	for _, file := range c.Without {
		if rel, err := filepath.Rel(c.Top, file); err == nil && filepath.IsLocal(rel) {
			paths = append(paths, ":(top,exclude,literal)"+filepath.ToSlash(rel))
		}
	}
	return paths
}

// link puts submodules into the index of the files as they were added, and takes other repositories out of it.
func (c *Capturer) link(ctx context.Context, snap *snapshot) error {
	now, err := c.Gitlinks(ctx, workIndex)
	if err != nil {
		return err
	}
	if len(now) > 0 {
		if err := c.forget(ctx, workIndex, now); err != nil {
			return err
		}
	}
	for path := range now {
		if _, module := c.modules[path]; !module {
			snap.nested = append(snap.nested, path)
		}
	}
	slices.Sort(snap.nested)
	snap.modules = slices.Sorted(maps.Keys(c.modules))
	if len(c.modules) == 0 {
		return nil
	}
	var links strings.Builder
	for path, object := range c.modules {
		fmt.Fprintf(&links, "%s %s\t%s\x00", ModeSubmodule, object, path)
	}
	_, err = c.In(ctx, workIndex, strings.NewReader(links.String()), "update-index", "-z", "--index-info")
	return err
}

func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// Bundle writes what was captured to a file in the shadow, as WorkRef; without what belongs to an earlier state, by the
// name that that was given, "" if there is none. It gives the name of this one.
func (c *Capturer) Bundle(ctx context.Context, got Captured, base string, at time.Time) (file, name string, err error) {
	g := got.To
	g.Remotes = c.remotes(ctx)
	if got.index == "" {
		got.index = c.emptyTree()
		if g.Head != "" {
			got.index = g.Head + "^{tree}"
		}
	}
	indexed, err := c.commit(ctx, at, "index", got.index, g.Head)
	if err != nil {
		return "", "", err
	}
	if name, err = c.commit(ctx, at, "work", got.work, g.Head, indexed, base); err != nil {
		return "", "", err
	}
	if _, err := c.In(ctx, "none", nil, "update-ref", WorkRef, name); err != nil {
		return "", "", err
	}
	have, err := c.elsewhere(ctx)
	if err != nil {
		return "", "", err
	}
	if base != "" {
		have += "^" + base + "\n"
	}
	file = filepath.Join(c.Dir, "work.bundle")
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", "", err
	}
	_, err = c.In(ctx, "none", strings.NewReader(WorkRef+"\n"+have), "bundle", "create", "--quiet", file, "--stdin")
	return file, name, err
}
