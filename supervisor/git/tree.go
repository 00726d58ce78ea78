package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// A Tree is a work tree, or a folder without git, that is captured again and again. What was read once it knows by the
// times of the files, so that later only what has changed is read. One of a store is for any number of goroutines, any
// other for one at a time.
type Tree struct {
	*Shadow
	Without []string // files that are not part of the work, by absolute path
	Limit   int64    // bytes of what has changed since the last time; of a folder without git, of all its files

	mu       sync.Mutex
	removing sync.Locker // of a store: held while something is made that no ref has yet; nil if nothing is removed

	most    int               // files of a folder without git; 0: any number
	dir     string            // where in the shadow its indexes are; "": in the shadow itself
	begun   bool              // the two below and its index of the files are of the last capture
	last    Captured          // its trees only
	added   fs.FileInfo       // the repository's own index, as it was read last
	modules map[string]string // submodules that the index has
	known   map[string]bool   // files of a folder without git that its index has
}

// A Captured is the state of a work tree at one moment. Its objects are in the shadow.
type Captured struct {
	To    *GitManifest // nil for a folder without git
	Told  []string     // what is not in it, for people
	Index string       // the tree of what was added; "" for a folder without git, and for an unfinished merge
	Work  string       // the tree of the files on disk
	Empty []string     // of a folder without git: the folders that hold nothing, which no tree has
}

// Same reports whether two captures of one work tree hold the same.
func (c Captured) Same(as Captured) bool {
	return c.To.Head == as.To.Head && c.To.Branch == as.To.Branch && c.Index == as.Index && c.Work == as.Work
}

// The indexes of a tree: of the files on disk, and of what was added.
func (t *Tree) files() string  { return filepath.Join(t.dir, "captured") }
func (t *Tree) copied() string { return filepath.Join(t.dir, "added") }

// Capture takes the state of the work tree in this moment. It blocks for as long as it takes to look at all files and
// to read those that have changed. ErrTooLarge if these are larger than the limit; they were not read then.
func (t *Tree) Capture(ctx context.Context) (Captured, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.removing != nil {
		t.removing.Lock()
		defer t.removing.Unlock()
	}
	return t.capture(ctx)
}

func (t *Tree) capture(ctx context.Context) (got Captured, err error) {
	if t.Common == "" {
		got, err = t.captureFolder(ctx)
	} else {
		got, err = t.captureWork(ctx)
	}
	t.begun = err == nil // else what the index knows may be half
	if err != nil {
		return Captured{}, err
	}
	t.last = Captured{Index: got.Index, Work: got.Work}
	return got, nil
}

func (t *Tree) captureWork(ctx context.Context) (Captured, error) {
	got := Captured{To: &GitManifest{Prefix: t.Prefix, Format: t.Format}}
	group, within := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		got.To.Head, got.To.Branch, err = t.Head(within)
		return err
	})
	group.Go(func() error { return t.take(within, &got) })
	return got, group.Wait()
}

func (t *Tree) take(ctx context.Context, got *Captured) error {
	got.Index, got.Work = t.last.Index, t.last.Work
	added, err := os.Stat(filepath.Join(t.Git, "index"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if !t.begun || !sameFile(added, t.added) {
		if got.Index, err = t.takeAdded(ctx); err != nil {
			return err
		}
		t.added, got.Work = added, ""
	}
	// Else git would look into them, by their configuration.
	if err := t.forget(ctx, t.files(), maps.Keys(t.modules)); err != nil {
		return err
	}
	changed, repositories, err := t.changed(ctx)
	if err != nil {
		return err
	}
	if changed || got.Work == "" {
		if got.Work, err = t.add(ctx, repositories); err != nil {
			return err
		}
	}
	got.Told = t.told(repositories, got.Index)
	return nil
}

// takeAdded returns the tree of what was added, "" if an unfinished merge leaves none, and has the index of the files
// follow it.
func (t *Tree) takeAdded(ctx context.Context) (tree string, err error) {
	if err := os.Remove(filepath.Join(t.Dir, t.copied())); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if err := t.CopyIndex(t.copied()); err != nil {
		return "", fmt.Errorf("read the index: %w", err)
	}
	if out, err := t.In(ctx, t.copied(), nil, "write-tree"); err == nil {
		tree = strings.TrimSpace(string(out))
	} else if ctx.Err() != nil {
		return "", err
	}
	if t.modules, err = t.Gitlinks(ctx, t.copied()); err != nil {
		return "", err
	}
	if t.begun {
		return tree, t.follow(ctx)
	}
	if err := t.CopyIndex(t.files()); err != nil {
		return "", fmt.Errorf("read the index: %w", err)
	}
	return tree, nil
}

// changed reports whether there is anything to add, and gives the repositories inside this one, submodules among them.
// It refuses changes that are larger than the limit, before git reads them.
func (t *Tree) changed(ctx context.Context) (changed bool, repositories []string, err error) {
	out, err := t.In(ctx, t.files(), nil, append([]string{"ls-files", "-z", "--full-name", "--modified", "--others",
		"--exclude-standard"}, t.paths(nil)...)...)
	if err != nil {
		return false, nil, err
	}
	var sizes sizes
	var odd []string // in the place of files; git would fail over them
	for name := range strings.SplitSeq(string(out), "\x00") {
		if repository, is := strings.CutSuffix(name, "/"); is {
			repositories = append(repositories, repository)
			continue
		}
		changed = changed || name != ""
		switch info, err := os.Lstat(filepath.Join(t.Top, filepath.FromSlash(name))); {
		case err == nil && info.Mode().IsRegular():
			sizes.add(name, info.Size())
		case err == nil && info.Mode()&(fs.ModeDir|fs.ModeSymlink) == 0, err != nil && !errors.Is(err, fs.ErrNotExist):
			odd = append(odd, name)
		}
	}
	if sizes.Sum > t.Limit {
		return false, nil, TooLarge(sizes.Sum, t.Limit, sizes.Largest())
	}
	return changed, repositories, t.forget(ctx, t.files(), slices.Values(odd))
}

// add adds all files but those of repositories to the index of the files, and gives its tree: of submodules it has the
// commits that were added. Objects are kept as they are: to make them small is for later.
func (t *Tree) add(ctx context.Context, repositories []string) (tree string, err error) {
	args := append([]string{"-c", "core.looseCompression=0", "add", "--all"}, t.paths(repositories)...)
	if _, err := t.In(ctx, t.files(), nil, args...); err != nil {
		return "", fmt.Errorf("the uncommitted work cannot be read: %w", err)
	}
	if len(t.modules) > 0 {
		var links strings.Builder
		for module, commit := range t.modules {
			fmt.Fprintf(&links, "%s %s\t%s\x00", ModeSubmodule, commit, module)
		}
		if _, err := t.In(ctx, t.files(), strings.NewReader(links.String()), "update-index", "-z",
			"--index-info"); err != nil {
			return "", err
		}
	}
	out, err := t.In(ctx, t.files(), nil, "write-tree")
	return strings.TrimSpace(string(out)), err
}

// told says what of the work tree is not captured.
func (t *Tree) told(repositories []string, index string) []string {
	var told []string
	if modules := slices.Sorted(maps.Keys(t.modules)); len(modules) > 0 {
		told = append(told, "changes inside submodules are not packed: "+strings.Join(modules, ", "))
	}
	others := slices.DeleteFunc(slices.Clone(repositories), func(r string) bool { return t.modules[r] != "" })
	if slices.Sort(others); len(others) > 0 {
		told = append(told, "repositories inside this one are not packed: "+strings.Join(others, ", "))
	}
	if index == "" {
		told = append(told, "of an unfinished merge only the files are packed")
	}
	return told
}

// follow has the index of the files hold those ignored files that were added all the same, and no others.
func (t *Tree) follow(ctx context.Context) error {
	ignored := []string{"--cached", "--ignored", "--exclude-standard", "--full-name"}
	wanted, err := t.names(ctx, t.copied(), ignored...)
	if err != nil {
		return err
	}
	known, err := t.names(ctx, t.files(), ignored...)
	if err != nil {
		return err
	}
	var list strings.Builder
	for name := range wanted {
		if !known[name] {
			list.WriteString(name + "\x00")
		}
	}
	maps.DeleteFunc(known, func(name string, _ bool) bool { return wanted[name] })
	if err := t.forget(ctx, t.files(), maps.Keys(known)); err != nil {
		return err
	}
	if list.Len() == 0 {
		return nil
	}
	_, err = t.In(ctx, t.files(), strings.NewReader(list.String()), "update-index", "-z", "--add", "--remove", "--stdin")
	return err
}

// names returns the files in an index.
func (t *Tree) names(ctx context.Context, index string, which ...string) (map[string]bool, error) {
	out, err := t.In(ctx, index, nil, append([]string{"ls-files", "-z"}, which...)...)
	all := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			all[name] = true
		}
	}
	return all, err
}

// paths are what of the work tree git is asked for: all but what is left out, and repositories.
func (t *Tree) paths(repositories []string) []string {
	paths := []string{"--", ":/"}
	for _, file := range t.Without {
		if rel, err := filepath.Rel(t.Top, file); err == nil && filepath.IsLocal(rel) {
			repositories = append(slices.Clip(repositories), filepath.ToSlash(rel))
		}
	}
	for _, repository := range repositories {
		paths = append(paths, ":(top,exclude,literal)"+repository)
	}
	return paths
}

func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// Bundle writes what was captured to a file in the shadow, as WorkRef; without what belongs to an earlier state, by the
// name that that was given, "" if there is none. It gives the name of this one.
func (t *Tree) Bundle(ctx context.Context, got Captured, base string, at time.Time) (file, name string, err error) {
	if t.removing != nil {
		t.removing.Lock()
		defer t.removing.Unlock()
	}
	g := got.To
	g.Remotes = t.remotes(ctx)
	if got.Index == "" {
		got.Index = t.emptyTree()
		if g.Head != "" {
			got.Index = g.Head + "^{tree}"
		}
	}
	indexed, err := t.commit(ctx, at, "index", got.Index, g.Head)
	if err != nil {
		return "", "", err
	}
	if name, err = t.commit(ctx, at, "work", got.Work, g.Head, indexed, base); err != nil {
		return "", "", err
	}
	refs := fmt.Sprintf("update %s %s\n", WorkRef, name)
	if t.dir != "" {
		refs += fmt.Sprintf("update %s%s %s\n", bundledRefs, path.Base(t.dir), name) // the next one may rest on it
	}
	if _, err := t.In(ctx, "none", strings.NewReader(refs), "update-ref", "--stdin"); err != nil {
		return "", "", err
	}
	have, err := t.elsewhere(ctx)
	if err != nil {
		return "", "", err
	}
	if base != "" {
		have += "^" + base + "\n"
	}
	file = filepath.Join(t.Dir, t.dir, "work.bundle")
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", "", err
	}
	_, err = t.In(ctx, "none", strings.NewReader(WorkRef+"\n"+have), "bundle", "create", "--quiet", file, "--stdin")
	return file, name, err
}
