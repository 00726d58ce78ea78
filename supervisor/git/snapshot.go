package git

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// WorkRef is the one ref of the bundle as which the uncommitted work is packed: to a commit of the files as they are
// on disk, those that git ignores aside. Its last parent is a commit of the index, and its first, where anything was
// committed, HEAD; with HEAD come the commits that no remote has. All others must be in the clone where it is unpacked.
const WorkRef = "refs/claude-supervise/work"

// ErrTooLarge means that the uncommitted work is larger than the person lets it be. Nothing was packed.
var ErrTooLarge = fmt.Errorf("the uncommitted work is too large")

// TooLarge says that work is larger than the limit, and which of its files are the largest.
func TooLarge(size, limit int64, of []string) error {
	text := ""
	if len(of) > 0 {
		text = "; the largest: " + strings.Join(of, ", ")
	}
	return fmt.Errorf(
		"%w: %s, and at most %s are packed%s. Nothing was packed: let git ignore or remove what is not needed, "+
			"raise --max-size, or leave the work out with --without-work",
		ErrTooLarge, humanize.IBytes(uint64(size)), humanize.IBytes(uint64(limit)), text)
}

// A snapshot is the state of a work tree, as trees in a shadow.
type snapshot struct {
	Index   string // what was added; "" if an unfinished merge leaves no tree
	Work    string // the files on disk
	nested  []string
	modules []string
}

// Snapshot takes one. Files given by absolute path are left out; max bounds what has changed, in bytes.
func (s *Shadow) Snapshot(ctx context.Context, index string, without []string, limit int64) (snapshot, error) {
	var snap snapshot
	if err := s.CopyIndex(index); err != nil {
		return snap, fmt.Errorf("read the index: %w", err)
	}
	if out, err := s.In(ctx, index, nil, "write-tree"); err == nil {
		snap.Index = strings.TrimSpace(string(out))
	}
	modules, err := s.Gitlinks(ctx, index)
	if err != nil {
		return snap, err
	}
	if err := s.forget(ctx, index, modules); err != nil { // else git would look into them, by their own configuration
		return snap, err
	}
	paths := []string{"--", ":/"}
	for _, file := range without {
		if rel, err := filepath.Rel(s.Top, file); err == nil && filepath.IsLocal(rel) {
			paths = append(paths, ":(top,exclude,literal)"+filepath.ToSlash(rel))
		}
	}
	if err := s.bounded(ctx, index, paths, limit); err != nil {
		return snap, err
	}
	if _, err := s.In(ctx, index, nil, append([]string{"add", "--all"}, paths...)...); err != nil {
		return snap, fmt.Errorf("the uncommitted work cannot be read: %w; --without-work leaves it out", err)
	}
	now, err := s.Gitlinks(ctx, index)
	if err != nil {
		return snap, err
	}
	if err := s.forget(ctx, index, now); err != nil {
		return snap, err
	}
	for path := range now {
		if _, module := modules[path]; !module {
			snap.nested = append(snap.nested, path)
		}
	}
	var links strings.Builder
	for path, object := range modules {
		snap.modules = append(snap.modules, path)
		fmt.Fprintf(&links, "%s %s\t%s\x00", ModeSubmodule, object, path)
	}
	slices.Sort(snap.nested)
	slices.Sort(snap.modules)
	if _, err := s.In(ctx, index, strings.NewReader(links.String()), "update-index", "-z", "--index-info"); err != nil {
		return snap, err
	}
	out, err := s.In(ctx, index, nil, "write-tree")
	snap.Work = strings.TrimSpace(string(out))
	return snap, err
}

// Gitlinks gives the submodules of an index by path, each with its commit.
func (s *Shadow) Gitlinks(ctx context.Context, index string) (map[string]string, error) {
	out, err := s.In(ctx, index, nil, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	links := map[string]string{}
	for line := range bytes.SplitSeq(out, []byte{0}) { // MODE OBJECT STAGE, then the path
		if rest, ok := bytes.CutPrefix(line, []byte(ModeSubmodule+" ")); ok {
			about, path, _ := bytes.Cut(rest, []byte{'\t'})
			object, _, _ := bytes.Cut(about, []byte{' '})
			links[string(path)] = string(object)
		}
	}
	return links, nil
}

// forget takes paths out of an index.
func (s *Shadow) forget(ctx context.Context, index string, paths map[string]string) error {
	var list strings.Builder
	for path := range paths {
		list.WriteString(path + "\x00")
	}
	_, err := s.In(ctx, index, strings.NewReader(list.String()), "update-index", "-z", "--force-remove", "--stdin")
	return err
}

// bounded refuses changes that are larger than a limit, before git reads them.
func (s *Shadow) bounded(ctx context.Context, index string, paths []string, limit int64) error {
	args := append([]string{"ls-files", "-z", "--full-name", "--modified", "--others", "--exclude-standard"}, paths...)
	out, err := s.In(ctx, index, nil, args...)
	if err != nil {
		return err
	}
	var sizes sizes
	for name := range strings.SplitSeq(string(out), "\x00") {
		if info, err := os.Lstat(filepath.Join(s.Top, filepath.FromSlash(name))); err == nil &&
			info.Mode().IsRegular() {
			sizes.add(name, info.Size())
		}
	}
	if sizes.Sum > limit {
		return TooLarge(sizes.Sum, limit, sizes.Largest())
	}
	return nil
}

// sizes adds up files, to say which are the largest.
type sizes struct {
	Sum   int64
	files []struct {
		name string
		size int64
	}
}

func (s *sizes) add(name string, size int64) {
	s.Sum += size
	s.files = append(s.files, struct {
		name string
		size int64
	}{name, size})
}

func (s *sizes) Largest() []string {
	slices.SortFunc(s.files, func(a, b struct {
		name string
		size int64
	}) int {
		return int(min(max(b.size-a.size, -1), 1))
	})
	var names []string
	for _, f := range s.files[:min(3, len(s.files))] {
		names = append(names, fmt.Sprintf("%s (%s)", f.name, humanize.IBytes(uint64(f.size))))
	}
	return names
}

// Bundle writes the uncommitted work of a work tree to a file in the shadow, and says what it belongs to.
func (s *Shadow) Bundle(ctx context.Context, without []string, limit int64, at time.Time) (file string,
	g *GitManifest, told []string, err error) {
	g = &GitManifest{Prefix: s.Prefix, Format: s.Format, Remotes: s.remotes(ctx)}
	if g.Head, g.Branch, err = s.Head(ctx); err != nil {
		return "", nil, nil, err
	}
	snap, err := s.Snapshot(ctx, "index", without, limit)
	if err != nil {
		return "", nil, nil, err
	}
	told = snap.told()
	if snap.Index == "" {
		snap.Index = s.emptyTree()
		if g.Head != "" {
			snap.Index = g.Head + "^{tree}"
		}
	}
	indexed, err := s.commit(ctx, at, "index", snap.Index, g.Head)
	if err != nil {
		return "", nil, nil, err
	}
	worked, err := s.commit(ctx, at, "work", snap.Work, g.Head, indexed)
	if err != nil {
		return "", nil, nil, err
	}
	if _, err := s.In(ctx, "none", nil, "update-ref", WorkRef, worked); err != nil {
		return "", nil, nil, err
	}
	have, err := s.elsewhere(ctx)
	if err != nil {
		return "", nil, nil, err
	}
	file = filepath.Join(s.Dir, "work.bundle")
	if _, err := s.In(ctx, "none", strings.NewReader(WorkRef+"\n"+have), "bundle", "create", "--quiet", file,
		"--stdin"); err != nil {
		return "", nil, nil, err
	}
	info, err := os.Stat(file)
	if err == nil && info.Size() > limit {
		err = TooLarge(info.Size(), limit, []string{"commits that no remote has"})
	}
	return file, g, told, err
}

// told says what of a work tree is not packed.
func (s snapshot) told() []string {
	var told []string
	if len(s.modules) > 0 {
		told = append(told, "changes inside submodules are not packed: "+strings.Join(s.modules, ", "))
	}
	if len(s.nested) > 0 {
		told = append(told, "repositories inside this one are not packed: "+strings.Join(s.nested, ", "))
	}
	if s.Index == "" {
		told = append(told, "of an unfinished merge only the files are packed")
	}
	return told
}

// commit makes a commit of a tree; parents that are "" are none.
func (s *Shadow) commit(ctx context.Context, at time.Time, what, tree string, parents ...string) (string, error) {
	args := []string{"commit-tree", "-m", "claude-supervise: " + what, tree}
	for _, p := range parents {
		if p != "" {
			args = append(args, "-p", p)
		}
	}
	date := fmt.Sprintf("%d +0000", at.Unix())
	env := append(s.Env("none"), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	out, err := RunGit(ctx, s.Top, filepath.Dir(s.Dir), env, nil, args...)
	return strings.TrimSpace(string(out)), err
}

// elsewhere names the commits that are there where a bundle is read, as exclusions for git: what the remotes were last
// seen to have, where a shallow clone was cut off, and what comes along otherwise.
func (s *Shadow) elsewhere(ctx context.Context) (string, error) {
	out, err := s.Own(ctx, "for-each-ref", "--format=%(objectname)", "refs/remotes")
	if err != nil {
		return "", err
	}
	seen := map[string]bool{}
	var list strings.Builder
	known := string(out) + "\n" + Settings(filepath.Join(s.Dir, "shallow")) + "\n" + strings.Join(s.Brought, "\n")
	for _, object := range strings.Fields(known) {
		if IsObjectName(object) && !seen[object] {
			seen[object] = true
			list.WriteString("^" + object + "\n")
		}
	}
	return list.String(), nil
}

// remotes gives the addresses that the work tree can be cloned from.
func (s *Shadow) remotes(ctx context.Context) map[string]string {
	out, err := s.Own(ctx, "config", "--null", "--get-regexp", `^remote\..*\.url$`)
	if err != nil {
		return nil // none
	}
	remotes := map[string]string{}
	for pair := range strings.SplitSeq(string(out), "\x00") {
		key, address, _ := strings.Cut(pair, "\n")
		name := strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".url")
		if address = PublicURL(address); name != "" && address != "" && remotes[name] == "" {
			remotes[name] = address
		}
	}
	return remotes
}

// FolderSize adds up what a folder that is no work tree holds.
func FolderSize(root *os.Root, skip func(string, fs.DirEntry) bool) (sizes, error) {
	var s sizes
	err := fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case skip(at, d) && d.IsDir():
			return fs.SkipDir
		case skip(at, d) || !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err == nil {
			s.add(at, info.Size())
		}
		return err
	})
	return s, err
}
