package pack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claude-supervise/supervisor/git"
)

// errNotClean means that the folder holds changes of its own, which unpacking would mix with those of the pack file.
// Nothing was changed.
var errNotClean = errors.New("the folder has changes of its own")

// errNotClone means that the folder cannot take the uncommitted work: it is no clone of what the work belongs to, or
// one that lacks a commit. Nothing was changed.
var errNotClone = errors.New("the folder cannot take the uncommitted work")

// A gitWork puts the uncommitted work of a bundle into a clone: as files, with the index as it was. HEAD is moved where
// the clone is at another commit. What was done by an earlier try that was cut short counts as done.
type gitWork struct {
	*git.Shadow
	to      *git.GitManifest
	before  []bundle // those on which these rest
	bundles []bundle // each of what is new since the one before
	brought bool     // their objects are in the clone

	work, index string // commits
	here        string // the clone's HEAD, "" if there is none
	from        string // what is in place where nothing was changed: the same, or "" for nothing
	branch      bool   // HEAD is on a branch of its own, which moves along
	unborn      bool
	put, drop   []string // paths
	want        map[string]git.TreeEntry
	submodules  []string
	files       rootedWriter
	moved       bool
}

// planGit reads bundles and finds what is to be done in a folder; it changes nothing. limit
// bounds the files, in bytes.
func planGit(ctx context.Context, folder, scratch string, bundles []bundle, m *git.GitManifest,
	limit int64) (*gitWork, error) {
	w := &gitWork{to: m, bundles: bundles, work: bundles[len(bundles)-1].ref}
	var err error
	if w.Shadow, err = git.OpenShadow(ctx, folder, scratch); errors.Is(err, git.ErrNoWorkTree) {
		return nil, notClone(m, len(bundles[0].needs) > 0, "it is not a git work tree")
	} else if err != nil {
		return nil, err
	}
	if w.Format != m.Format {
		return nil, notClone(m, true, "its objects are named by "+w.Format)
	}
	if w.here, _, err = w.Head(ctx); err != nil {
		return nil, err
	}
	if err := w.unbundle(ctx, w.Env("none"), limit); err != nil {
		return nil, err
	}
	if err := w.parents(ctx); err != nil {
		return nil, err
	}
	w.unborn, w.moved, w.from = w.here == "", w.here != m.Head, w.here
	return w, w.compare(ctx, limit)
}

func notClone(m *git.GitManifest, history bool, why string) error {
	hint := "unpack in an empty folder or a clone"
	if history {
		hint = "unpack in a clone that has the commit " + m.Head
		for _, name := range slices.Sorted(maps.Keys(m.Remotes)) {
			hint += fmt.Sprintf(", as `git clone %s` makes it", m.Remotes[name])
			break
		}
		hint += " (a shallow one may need: git fetch --unshallow)"
	}
	return fmt.Errorf("%w: %s. Nothing was changed: %s, or take the run without the work with --without-work", errNotClone,
		why, hint)
}

// compare finds what is to be put and dropped, and refuses where the clone has changes of its own. A file or a line of
// the index may be as it is committed here, or already as it is in the pack.
func (w *gitWork) compare(ctx context.Context, limit int64) error {
	now, err := (&git.Tree{Shadow: w.Shadow, Limit: limit}).Capture(ctx)
	if err != nil {
		return orWithoutWork(err)
	}
	if now.Index == "" {
		return fmt.Errorf("%w: a merge is not finished. Nothing was changed: finish or abort it, and unpack again",
			errNotClean)
	}
	if w.want, err = w.Differences(ctx, w.from, w.work); err != nil {
		return err
	}
	onDisk, err := w.Differences(ctx, w.from, now.Work)
	if err != nil {
		return err
	}
	added, err := w.Differences(ctx, w.from, now.Index)
	if err != nil {
		return err
	}
	wantAdded, err := w.Differences(ctx, w.from, w.index)
	if err != nil {
		return err
	}
	known, err := w.known(ctx)
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(onDisk)) {
		if wanted, both := w.want[path]; both && wanted != onDisk[path] || !both && known[path] {
			return notClean(path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(added)) {
		if wanted, both := wantAdded[path]; !both || wanted != added[path] {
			return notClean(path)
		}
	}
	return w.list(ctx, onDisk, known, limit)
}

func notClean(path string) error {
	return fmt.Errorf(
		"%w: %s. Nothing was changed: commit or stash them (git stash --include-untracked), or unpack in another clone",
		errNotClean, path)
}

// known returns the files that are committed here.
func (w *gitWork) known(ctx context.Context) (map[string]bool, error) {
	known := map[string]bool{}
	if w.from == "" {
		return known, nil
	}
	out, err := w.In(ctx, "none", nil, "ls-tree", "-r", "-z", "--name-only", w.from)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(string(out), "\x00") {
		known[name] = true
	}
	return known, nil
}

// list lists what is to be done, and checks that it can be.
func (w *gitWork) list(ctx context.Context, onDisk map[string]git.TreeEntry, known map[string]bool, limit int64) error {
	root, err := os.OpenRoot(w.Top)
	if err != nil {
		return err
	}
	w.files = rootedWriter{root: root}
	var blobs []string
	for _, path := range slices.Sorted(maps.Keys(w.want)) {
		e := w.want[path]
		if err := entryName(path); err != nil {
			return err
		}
		done, changed := onDisk[path]
		switch {
		case changed && done == e:
			continue
		case e.Mode == "":
			w.drop = append(w.drop, path)
			continue
		case e.Mode == git.ModeSubmodule:
			w.submodules = append(w.submodules, path)
			continue
		case e.Mode != "100644" && e.Mode != git.ModeExec && e.Mode != git.ModeLink:
			return notPack("%.100q has the mode %s", path, e.Mode)
		}
		if err := w.ignored(ctx, path, e, known[path] || changed); err != nil {
			return err
		}
		w.put, blobs = append(w.put, path), append(blobs, e.Object)
	}
	for _, path := range w.put {
		if err := w.files.free(path, w.drop); err != nil {
			return err
		}
	}
	return w.sizes(ctx, blobs, limit)
}

// ignored refuses to write over a file that git ignores here, unless it is the same.
func (w *gitWork) ignored(ctx context.Context, path string, e git.TreeEntry, seen bool) error {
	info, err := w.files.root.Lstat(path)
	if seen || err != nil || info.IsDir() {
		return nil // what is in the way of others is looked at by free
	}
	if info.Mode().IsRegular() {
		out, err := w.In(ctx, "none", nil, "hash-object", "--no-filters", "--", path)
		if err == nil && strings.TrimSpace(string(out)) == e.Object {
			return nil
		}
	}
	return notClean(path)
}

// sizes refuses files that are larger than the limit together: what is small in a bundle can be large outside.
func (w *gitWork) sizes(ctx context.Context, blobs []string, limit int64) error {
	out, err := w.In(ctx, "none", strings.NewReader(strings.Join(blobs, "\n")+"\n"), "cat-file",
		"--batch-check=%(objecttype) %(objectsize)")
	if err != nil {
		return err
	}
	sum := int64(0)
	for line := range strings.Lines(string(out)) {
		var kind string
		var size int64
		if _, err := fmt.Sscan(line, &kind, &size); err != nil || kind != "blob" {
			if len(blobs) == 0 {
				return nil
			}
			return notPack("its bundle lacks a file")
		}
		if sum += size; sum > limit || sum < 0 {
			return notPack("its work is larger than %d MiB (--max-size lets more in)", limit>>20)
		}
	}
	return nil
}

// do puts the work in place: objects, files, index, HEAD. Each step that is done stays done if a later one is cut
// short.
func (w *gitWork) do(ctx context.Context, limit int64) error {
	defer func() { _ = w.files.root.Close() }() // every file was closed by itself
	if err := w.unbundle(ctx, []string{"GIT_DIR=" + w.Common}, limit); err != nil {
		return err
	}
	for _, path := range w.drop {
		if err := w.files.drop(path); err != nil {
			return err
		}
	}
	if err := w.write(ctx); err != nil {
		return err
	}
	if err := w.setIndex(ctx); err != nil {
		return err
	}
	return w.setHead(ctx)
}

// write writes the files, out of one git that reads them all.
func (w *gitWork) write(ctx context.Context) error {
	if len(w.put) == 0 {
		return w.files.clear()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	args := []string{"cat-file", "--batch=%(objectsize)"}
	cmd, stderr := git.GitCommand(ctx, w.Top, filepath.Dir(w.Dir), w.Env("none"), args...)
	var list strings.Builder
	for _, path := range w.put {
		list.WriteString(w.want[path].Object + "\n")
	}
	cmd.Stdin = strings.NewReader(list.String())
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return git.GitFailed(ctx, args, stderr, err)
	}
	out := bufio.NewReader(stdout)
	for _, path := range w.put {
		if err := w.one(out, path); err != nil {
			cancel()
			_ = cmd.Wait() // it was told to go
			return fmt.Errorf("put %s in place: %w", path, err)
		}
	}
	if err := cmd.Wait(); err != nil {
		return git.GitFailed(ctx, args, stderr, err)
	}
	return w.files.clear()
}

func (w *gitWork) one(out *bufio.Reader, path string) error {
	var size int64
	line, err := out.ReadString('\n')
	if err != nil {
		return err
	}
	if _, err := fmt.Sscan(line, &size); err != nil {
		return fmt.Errorf("git cat-file printed %.60q", line)
	}
	content := io.LimitReader(out, size)
	if e := w.want[path]; e.Mode == git.ModeLink {
		target, err := io.ReadAll(io.LimitReader(content, maxEntryName+1))
		if err == nil {
			err = linkTarget(path, string(target))
		}
		if err == nil {
			err = w.files.link(path, string(target))
		}
		if err != nil {
			return err
		}
	} else if err := w.files.file(path, content, e.Mode == git.ModeExec); err != nil {
		return err
	}
	_, err = out.ReadByte() // the newline after the content
	return err
}

// setIndex makes the index what it was, and keeps what the clone's own knows of files that stay as they are.
func (w *gitWork) setIndex(ctx context.Context) error {
	if err := w.CopyIndex("final"); err != nil {
		return err
	}
	args := []string{"read-tree", w.index}
	if _, err := os.Stat(filepath.Join(w.Dir, "final")); err == nil {
		args = []string{"read-tree", "-i", "-m", w.index} // the files are in place already
	}
	if _, err := w.In(ctx, "final", nil, args...); err != nil {
		return err
	}
	content, err := os.ReadFile(filepath.Join(w.Dir, "final"))
	if err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(w.Git, "index.lock"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w; another git is at work here, or one was killed: end it, or remove the file", err)
	}
	if err != nil {
		return err
	}
	_, err = lock.Write(content)
	if err = errors.Join(err, lock.Close()); err != nil {
		return errors.Join(err, os.Remove(lock.Name()))
	}
	return os.Rename(lock.Name(), filepath.Join(w.Git, "index"))
}

// setHead moves HEAD to the commit that the work belongs to. A branch that has commits stays where it is.
func (w *gitWork) setHead(ctx context.Context) error {
	if !w.moved || w.to.Head == "" {
		return nil
	}
	args := []string{"update-ref", "-m", "claude-supervise unpack", "--no-deref", "HEAD", w.to.Head}
	if w.unborn || w.branch {
		args = []string{"update-ref", "-m", "claude-supervise unpack", "HEAD", w.to.Head}
	}
	_, err := w.Own(ctx, args...)
	return err
}
