package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"claude-supervise/supervisor/text"
)

// A folder without git has all that is in it captured, but what some file system takes for .git: repositories inside it
// are folders like others. So it is not git that looks for files there.

func (t *Tree) captureFolder(ctx context.Context) (Captured, error) {
	found, err := listFolder(ctx, t.Top, func(f folderList) bool {
		return t.most > 0 && (len(f.names) > t.most || f.Sum > t.Limit)
	})
	if err != nil {
		return Captured{}, err
	}
	if t.most > 0 && len(found.names) > t.most {
		return Captured{}, fmt.Errorf("%w: more than %d files", ErrTooLarge, t.most)
	}
	if found.Sum > t.Limit {
		return Captured{}, TooLarge(found.Sum, t.Limit, found.Largest())
	}
	if !t.begun {
		if t.known, err = t.names(ctx, t.files()); err != nil {
			return Captured{}, err
		}
	}
	gone := t.known
	maps.DeleteFunc(gone, func(name string, _ bool) bool { return found.names[name] })
	if err := t.forget(ctx, t.files(), maps.Keys(gone)); err != nil {
		return Captured{}, err
	}
	list := strings.Join(slices.Sorted(maps.Keys(found.names)), "\x00")
	if _, err := t.In(ctx, t.files(), strings.NewReader(list), "-c", "core.looseCompression=0", "update-index", "-z",
		"--add", "--remove", "--replace", "--stdin"); err != nil {
		return Captured{}, err
	}
	t.known = found.names
	out, err := t.In(ctx, t.files(), nil, "write-tree")
	return Captured{Work: strings.TrimSpace(string(out)), Empty: found.empty, Told: found.told}, err
}

type folderList struct {
	sizes
	names map[string]bool // files and symlinks
	empty []string        // folders
	told  []string
}

// MaxPlainFiles bounds the files of a folder without git that is kept at moments.
const MaxPlainFiles = 20_000

// listFolder lists what is in a folder, until enough. What is removed meanwhile is not in it.
func listFolder(ctx context.Context, folder string, enough func(folderList) bool) (folderList, error) {
	found := folderList{names: map[string]bool{}}
	holds := map[string]bool{} // whether a folder holds anything
	err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		at, outside := filepath.Rel(folder, file)
		switch {
		case at == "." || outside != nil || ctx.Err() != nil:
			return errors.Join(err, outside, context.Cause(ctx))
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case IsGitDir(path.Base(at)) && d.IsDir():
			return fs.SkipDir
		case IsGitDir(path.Base(at)):
			return nil
		case d.IsDir():
			holds[path.Dir(at)], holds[at] = true, false
			return nil
		case !d.Type().IsRegular() && d.Type() != fs.ModeSymlink:
			found.told = append(found.told, "not packed: "+at+" (neither file nor folder)")
			return nil
		}
		if info, err := d.Info(); err == nil {
			holds[path.Dir(at)], found.names[at] = true, true
			if found.add(at, info.Size()); enough(found) {
				return fs.SkipAll
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	for name, full := range holds {
		if !full && utf8.ValidString(name) {
			found.empty = append(found.empty, name)
		} else if !full {
			found.told = append(found.told, "not packed: "+text.Line(name, text.MaxNamed)+
				" (an empty folder whose name is no text)")
		}
	}
	slices.Sort(found.empty)
	return found, err
}

// IsGitDir reports whether some file system takes a name for .git: those of macOS and Windows fold cases, drop what is
// invisible or stands at the end, and have short names.
func IsGitDir(name string) bool {
	name = strings.ToLower(strings.Map(func(r rune) rune {
		if strings.ContainsRune(invisible, r) {
			return -1
		}
		return r
	}, name))
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	return name == ".git" || name == "git~1"
}

// invisible are the characters that HFS+ leaves out when it compares names.
const invisible = "\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u206a\u206b\u206c\u206d\u206e\u206f\ufeff"
