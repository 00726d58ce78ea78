package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// This file is how the files of a carry take their places.

// apply has what is wanted take its place, and takes it back where it cannot. begun: it was recorded before.
func (k *carrying) apply(ctx context.Context, root *os.Root, begun bool) error {
	names := slices.Sorted(maps.Keys(k.want))
	slices.SortStableFunc(names, func(a, b string) int { // what goes makes room
		return len(k.want[a].Mode) - len(k.want[b].Mode)
	})
	were := make([]fs.FileInfo, len(names))
	for i, name := range names {
		were[i], _ = root.Lstat(name) // nil: it is not there
	}
	if now, err := k.now(ctx); err != nil {
		return err
	} else if !k.same(ctx, now, k.ours) {
		return fmt.Errorf("files in %s are being changed at this moment: try again once nobody works there", k.tree.Top)
	}
	if err := errors.Join(root.RemoveAll(placing), root.Mkdir(placing, 0o700)); err != nil {
		return err
	}
	defer func() { _ = root.RemoveAll(placing) }() // the next one would
	k.reach()
	if err := k.stage(ctx, root, names); err != nil {
		return err
	}
	if !begun {
		plan, err := k.commit(ctx, "begun", k.merged, k.ours, k.theirs)
		if err == nil {
			err = k.record(ctx, begunRef, plan)
		}
		if err != nil {
			return err
		}
	}
	for i, name := range names {
		k.reach()
		if err := k.swap(root, i, name, were[i]); err != nil {
			for i--; i >= 0; i-- {
				err = errors.Join(err, back(root, i, names[i], were[i]))
			}
			_, failed := k.git(context.WithoutCancel(ctx), "update-ref", "-d", begunRef)
			return errors.Join(err, failed)
		}
	}
	k.reach()
	if err := k.record(ctx, keptRef, k.theirs); err != nil {
		return err
	}
	k.reach()
	_, err := k.git(ctx, "update-ref", "-d", begunRef)
	k.reach()
	return err
}

// stage has git put the new files into placing, by their numbers.
func (k *carrying) stage(ctx context.Context, root *os.Root, names []string) error {
	var list strings.Builder
	for i, name := range names {
		if e := k.want[name]; e.Mode != "" {
			fmt.Fprintf(&list, "%s %s\t%s\x00", e.Mode, e.Object, path.Base(staged("new", i)))
		}
	}
	to := *k.tree.Shadow
	to.Top = filepath.Join(k.tree.Top, placing)
	index := filepath.Join(k.tree.dir, "staged")
	_ = os.Remove(filepath.Join(to.Dir, index)) // of an earlier apply
	if _, err := to.In(ctx, index, strings.NewReader(list.String()), "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	if _, err := to.In(ctx, index, nil, "checkout-index", "--all", "--force"); err != nil {
		return fmt.Errorf("the new files cannot be written: %w", err)
	}
	for i, name := range names {
		if mode := k.want[name].Mode; mode == "" || mode == ModeLink {
			continue
		}
		f, err := root.Open(staged("new", i))
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func staged(what string, i int) string { return fmt.Sprintf("%s/%s-%d", placing, what, i) }

// swap has a file take its place, if what is there is still what was.
func (k *carrying) swap(root *os.Root, i int, name string, was fs.FileInfo) error {
	is, err := root.Lstat(name)
	if err == nil && is.IsDir() && was != nil && was.IsDir() {
		was, is = nil, nil // whose files have gone: the folder did with them, or it does not go
	} else if err != nil && was != nil && was.IsDir() {
		was = nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if (is == nil) != (was == nil) || is != nil && !(sameFile(is, was) && is.Mode() == was.Mode()) {
		return fmt.Errorf("%s was changed at this moment", name)
	}
	if is != nil {
		if err := keepOld(root, i, name, is); err != nil {
			return err
		}
	}
	entry := k.want[name]
	if entry.Mode == "" {
		return leave(root, name)
	}
	if err := parents(root, name); err != nil {
		return err
	}
	if is != nil && is.Mode().IsRegular() && entry.Mode != ModeLink { // who may read it stays as it was
		perm := is.Mode().Perm() &^ 0o111
		if entry.Mode == ModeExec {
			perm |= perm >> 2 & 0o111
		}
		if err := root.Chmod(staged("new", i), perm); err != nil {
			return err
		}
	}
	return root.Rename(staged("new", i), name)
}

// keepOld keeps a file until all is done: as another name of it, or as a copy where there are none.
func keepOld(root *os.Root, i int, name string, is fs.FileInfo) error {
	if root.Link(name, staged("old", i)) == nil {
		return nil
	}
	if is.Mode()&fs.ModeSymlink != 0 {
		target, err := root.Readlink(name)
		if err != nil {
			return err
		}
		return root.Symlink(target, staged("old", i))
	}
	from, err := root.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // only read
	to, err := root.OpenFile(staged("old", i), os.O_CREATE|os.O_EXCL|os.O_WRONLY, is.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// back takes back what swap has done.
func back(root *os.Root, i int, name string, was fs.FileInfo) error {
	if was == nil || was.IsDir() {
		return leave(root, name)
	}
	if err := parents(root, name); err != nil {
		return err
	}
	return root.Rename(staged("old", i), name)
}

// leave removes a file, and the folders that it leaves empty.
func leave(root *os.Root, name string) error {
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := path.Dir(name); dir != "." && root.Remove(dir) == nil; dir = path.Dir(dir) {
	}
	return nil
}

// parents makes the folders above a path. A link among them is none.
func parents(root *os.Root, name string) error {
	dir := path.Dir(name)
	if dir == "." {
		return nil
	}
	if err := parents(root, dir); err != nil {
		return err
	}
	if err := root.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	return nil
}
