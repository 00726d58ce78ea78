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
	"time"

	"github.com/gofrs/flock"

	"claude-supervise/supervisor/text"
)

// What a work tree has other than at a moment is carried into another one by a three-way merge of files: those of the
// moment, those that are there now, and those of the work tree, committed or not, as they are on disk. What git ignores
// is in none of them. Nothing is committed there, and no index, HEAD or branch moves. Nothing that a repository names
// is run (shadow.go).
//
// It is done wholly or not at all. First what is new is put beside the files, in placing. From the ref begun on the new
// files take their places one by one; what cannot be done then is taken back. Who is killed meanwhile leaves the
// ref: the next carry, which may be of the same alone, goes on where that one was.
const (
	placing  = ".claude-supervise-keep"
	begunRef = "refs/carry/begun" // a commit of what is to be; its parents are what was there, and what is carried
	keptRef  = "refs/carry/kept"  // a commit of what was carried last
)

// A Carry carries what one work tree has into another.
type Carry struct {
	Folder string // for what it needs for itself, the same each time; made below one that is there
	Since  *Store // holds the moment, and is only read
	Moment string
	From   string // the work tree; where it is gone:
	Tip    string // the commit in the repository of Into that is in its place
	Into   string // a folder in the other one

	at func() // for tests: called wherever it may be killed; nil otherwise
}

// A Carried is what a carry has done, or would do.
type Carried struct {
	Top     string   // of the work tree that it is carried into
	Put     []string // files that are new there or changed, by path in it
	Drop    []string // files that are removed there
	Resumes bool     // an earlier one was cut short, and is completed
}

// maxNamed is how many files an error names.
const maxNamed = 20

// A CarryError says that nothing was changed, and by which files.
type CarryError struct {
	Files []string // each with the reason
	Top   string
}

func (e *CarryError) Error() string {
	return fmt.Sprintf("it does not fit into %s: %s", e.Top, strings.Join(text.FirstOf(e.Files, maxNamed), ", "))
}

// carrying is a carry under way.
type carrying struct {
	Carry
	store        *Store // in its folder
	tree         *Tree
	ours, theirs string // commits
	merged       string // a tree
	want, was    map[string]TreeEntry
}

// Look returns what Do would do, and changes nothing. Its errors are those of Do.
func (c Carry) Look(ctx context.Context) (Carried, error) {
	k, err := c.open(ctx)
	if err != nil {
		return Carried{}, err
	}
	defer k.close()
	if resumed, err := k.resumed(ctx); err != nil || resumed {
		return k.says(resumed), err
	}
	err = k.plan(ctx)
	return k.says(false), err
}

// Do carries it, wholly or not at all, and blocks for as long as it takes to read what has changed on both sides. A
// *CarryError says why it cannot be. ErrNoMoment: what it was then is not known any more.
func (c Carry) Do(ctx context.Context) (Carried, error) {
	k, err := c.open(ctx)
	if err != nil {
		return Carried{}, err
	}
	defer k.close()
	lock := flock.New(k.tree.Top, flock.SetFlag(os.O_RDONLY))
	if got, err := lock.TryLock(); err == nil && !got {
		return Carried{}, fmt.Errorf("something else is being kept in %s at this moment", k.tree.Top)
	}
	defer func() { _ = lock.Close() }() // which lets it go; not every file system has locks
	root, err := os.OpenRoot(k.tree.Top)
	if err != nil {
		return Carried{}, err
	}
	defer func() { _ = root.Close() }() // every file was closed by itself
	if err := root.RemoveAll(placing); err != nil {
		return Carried{}, err
	}
	resumed, err := k.resumed(ctx)
	if err != nil {
		return Carried{}, err
	}
	done := k.says(resumed)
	if resumed {
		if err := k.apply(ctx, root, true); err != nil {
			return Carried{}, err
		}
		before := k.theirs
		if k.ours, err = k.now(ctx); err == nil {
			k.theirs, err = k.others(ctx)
		}
		if err != nil || k.same(ctx, before, k.theirs) {
			return done, err
		}
	}
	if err := k.plan(ctx); err != nil {
		return Carried{}, err
	}
	if !resumed {
		done = k.says(false)
	}
	if len(k.want) == 0 {
		return done, k.record(ctx, keptRef, k.theirs)
	}
	return done, k.apply(ctx, root, false)
}

func (c Carry) open(ctx context.Context) (*carrying, error) {
	k := &carrying{Carry: c, store: &Store{Folder: c.Folder, Limit: c.Since.Limit}}
	if _, err := c.Since.Moment(ctx, c.Moment); err != nil {
		return nil, err
	}
	var err error
	if k.tree, err = k.store.tree(ctx, c.Into, true); err != nil {
		return nil, err
	}
	borrowed := filepath.Join(k.store.dir(), "objects", "info", "alternates")
	objects, before := filepath.Join(c.Since.dir(), "objects")+"\n", Settings(borrowed)
	if !strings.Contains("\n"+before, "\n"+objects) {
		if err := os.MkdirAll(filepath.Dir(borrowed), 0o700); err != nil {
			return nil, err
		}
		err = os.WriteFile(borrowed, []byte(before+objects), 0o600)
	}
	return k, err
}

// close forgets what is known of the files by their times.
func (k *carrying) close() { _ = os.RemoveAll(filepath.Join(k.store.dir(), treesName)) }

func (k *carrying) reach() {
	if k.at != nil {
		k.at()
	}
}

func (k *carrying) says(resumes bool) Carried {
	c := Carried{Top: k.tree.Top, Resumes: resumes}
	for _, name := range slices.Sorted(maps.Keys(k.want)) {
		if k.want[name].Mode == "" {
			c.Drop = append(c.Drop, name)
		} else {
			c.Put = append(c.Put, name)
		}
	}
	return c
}

// now returns a commit of what is there now.
func (k *carrying) now(ctx context.Context) (string, error) {
	got, err := k.captured(ctx, k.tree)
	switch {
	case err != nil:
		return "", err
	case k.tree.Common != "" && got.Index == "":
		return "", fmt.Errorf("a merge is under way in %s: finish it first, or undo it with git merge --abort", k.tree.Top)
	}
	return k.commit(ctx, "there", got.Work, k.Moment)
}

// others returns a commit of what is carried.
func (k *carrying) others(ctx context.Context) (string, error) {
	if k.From == "" {
		tree, err := k.git(ctx, "rev-parse", "--verify", "--end-of-options", k.Tip+"^{tree}")
		if err != nil {
			return "", err
		}
		return k.commit(ctx, "carried", tree, k.Moment)
	}
	from, err := k.store.tree(ctx, k.From, true)
	if err != nil {
		return "", err
	}
	got, err := k.captured(ctx, from)
	if err != nil {
		return "", err
	}
	return k.commit(ctx, "carried", got.Work, k.Moment)
}

func (k *carrying) captured(ctx context.Context, t *Tree) (Captured, error) {
	got, err := t.Capture(ctx)
	if errors.Is(err, ErrTooLarge) {
		err = fmt.Errorf("more than %d MiB are not committed in %s: commit them, or let git ignore what is not needed",
			k.store.Limit>>20, t.Top)
	}
	return got, err
}

func (k *carrying) commit(ctx context.Context, what, tree string, parents ...string) (string, error) {
	return k.tree.commit(ctx, time.Now(), what, tree, parents...)
}

// git runs git in the store, and returns what it has printed.
func (k *carrying) git(ctx context.Context, args ...string) (string, error) {
	out, err := k.tree.In(ctx, "none", nil, args...)
	return strings.TrimSpace(string(out)), err
}

// same reports whether two commits are of the same files.
func (k *carrying) same(ctx context.Context, a, b string) bool {
	differ, err := k.tree.Differences(ctx, a, b)
	return err == nil && len(differ) == 0
}

func (k *carrying) record(ctx context.Context, ref, commit string) error {
	_, err := k.git(ctx, "update-ref", ref, commit)
	return err
}

// resumed finds what an earlier one that was cut short has left to do. A file that somebody has changed since is none
// of that.
func (k *carrying) resumed(ctx context.Context) (bool, error) {
	begun, err := GitsWord(k.tree.In(ctx, "none", nil, "rev-parse", "--quiet", "--verify", begunRef))
	if err != nil || begun == "" {
		return false, err
	}
	k.ours, k.theirs, k.merged = begun+"^1", begun+"^2", begun+"^{tree}"
	now, err := k.now(ctx)
	if err != nil {
		return false, err
	}
	changed, err := k.tree.Differences(ctx, k.ours, now)
	if err != nil {
		return false, err
	}
	left, err := k.tree.Differences(ctx, now, k.merged)
	if err == nil {
		err = k.differ(ctx)
	}
	maps.DeleteFunc(k.want, func(name string, _ TreeEntry) bool {
		_, remains := left[name]
		_, others := changed[name]
		return !remains || others
	})
	k.ours = now
	return true, err
}

// differ finds what is to be done to have what is merged.
func (k *carrying) differ(ctx context.Context) (err error) {
	if k.want, err = k.tree.Differences(ctx, k.ours, k.merged); err == nil {
		k.was, err = k.tree.Differences(ctx, k.merged, k.ours)
	}
	return err
}

// plan finds what is to be done, and refuses where it cannot be.
func (k *carrying) plan(ctx context.Context) (err error) {
	if k.ours, err = k.now(ctx); err != nil {
		return err
	}
	if k.theirs, err = k.others(ctx); err != nil {
		return err
	}
	conflicts, err := k.merge(ctx)
	if err != nil {
		return err
	}
	kept, err := GitsWord(k.tree.In(ctx, "none", nil, "rev-parse", "--quiet", "--verify", keptRef))
	if err == nil && kept != "" && len(conflicts) > 0 { // since it was carried before, the person has gone on with it
		ours, theirs := k.ours, k.theirs
		if k.ours, err = k.commit(ctx, "there", ours+"^{tree}", kept); err != nil {
			return err
		}
		if k.theirs, err = k.commit(ctx, "carried", theirs+"^{tree}", kept); err != nil {
			return err
		}
		conflicts, err = k.merge(ctx)
	}
	if err == nil {
		err = k.differ(ctx)
	}
	if err != nil {
		return err
	}
	for i := range conflicts {
		conflicts[i] = text.PlainLine(conflicts[i]) + " (both have changed it)"
	}
	if len(conflicts) == 0 {
		conflicts, err = k.inTheWay()
	}
	if err == nil && len(conflicts) > 0 {
		err = &CarryError{Files: conflicts, Top: k.tree.Top}
	}
	return err
}

// merge merges what is there and what is carried, and returns the files that do not fit.
func (k *carrying) merge(ctx context.Context) (conflicts []string, err error) {
	args := []string{"-c", "merge.directoryRenames=false", "merge-tree", "--write-tree", "--name-only", "--no-messages",
		"-z", k.ours, k.theirs}
	cmd, stderr := GitCommand(ctx, k.tree.Top, filepath.Dir(k.tree.Dir), k.tree.Env("none"), args...)
	out, err := cmd.Output()
	if err != nil && !GitSaysNo(err) {
		return nil, fmt.Errorf("%w (git 2.38 or later is needed)", GitFailed(ctx, []string{"merge-tree"}, stderr, err))
	}
	said := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	k.merged, conflicts = said[0], said[1:]
	if err != nil && len(conflicts) == 0 {
		return nil, GitFailed(ctx, []string{"merge-tree"}, stderr, err)
	}
	return conflicts, nil
}

// inTheWay says what of the files on disk keeps what is merged from its place.
func (k *carrying) inTheWay() (problems []string, err error) {
	root, err := os.OpenRoot(k.tree.Top)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read
	gone := func(name string) bool { e, is := k.want[name]; return is && e.Mode == "" }
	for _, name := range slices.Sorted(maps.Keys(k.want)) {
		entry := k.want[name]
		switch {
		case slices.ContainsFunc(strings.Split(name, "/"), IsGitDir):
			problems = append(problems, text.PlainLine(name)+" (git has such files for itself)")
			continue
		case entry.Mode == ModeSubmodule || k.was[name].Mode == ModeSubmodule:
			problems = append(problems, text.PlainLine(name)+" (a submodule)")
			continue
		case entry.Mode == "":
			continue
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if info, err := root.Lstat(dir); err == nil && !info.IsDir() && !gone(dir) {
				problems = append(problems, text.PlainLine(name)+" ("+dir+" is no folder)")
			}
		}
		info, err := root.Lstat(name)
		switch {
		case err != nil:
		case info.IsDir():
			err := fs.WalkDir(root.FS(), name, func(below string, e fs.DirEntry, err error) error {
				if err == nil && !e.IsDir() && !gone(below) {
					err = fs.ErrExist
				}
				return err
			})
			if err != nil {
				problems = append(problems, text.PlainLine(name)+" (a folder with files in it)")
			}
		case k.was[name].Mode == "":
			problems = append(problems, text.PlainLine(name)+" (one that git ignores is there)")
		}
	}
	return problems, nil
}
