package items

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/pattern"

	"claude-supervise/cmd/internal/taskfile"
)

// maxWalked bounds how many files and folders are looked at for a pattern.
const maxWalked = 1_000_000

// Files returns the files below a folder whose path from there fits a pattern, sorted by path. The pattern is that of a
// shell: * and ? stand for anything but a slash, ** for any number of folders, and nothing but a dot for a dot that a
// name begins with. A link counts if it leads to a file below the folder; no folder is entered by one.
func Files(folder, glob string) ([]string, error) { return files(folder, glob, maxItems) }

func files(folder, glob string, most int) ([]string, error) {
	glob = strings.TrimPrefix(glob, "./")
	switch {
	case path.IsAbs(glob), glob == "..", strings.HasPrefix(glob, "../"), strings.Contains(glob, "/../"):
		return nil, errors.New("it leads out of the folder of the run")
	}
	expression, err := pattern.Regexp(glob, pattern.Filenames|pattern.EntireString)
	if err != nil {
		return nil, fmt.Errorf("it is not a pattern: %w", err)
	}
	fits, err := regexp.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("it is not a pattern: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read
	var fitting []string
	walked := 0
	err = fs.WalkDir(root.FS(), base(glob), func(name string, entry fs.DirEntry, err error) error {
		if walked++; walked > maxWalked {
			return fmt.Errorf("there are more than %d files to look at; begin the pattern with a folder", maxWalked)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission): // gone meanwhile, or somebody else's
			return nil
		case err != nil:
			return err
		case entry.IsDir() || !fits.MatchString(name):
			return nil
		}
		if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() { // a link that leads out, a socket
			return nil
		}
		switch {
		case !utf8.ValidString(name):
			return fmt.Errorf("the name of %q is not UTF-8", name)
		case len(fitting) == most:
			return tooMany(most)
		}
		fitting = append(fitting, name)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(fitting) == 0:
		return nil, errors.New("no file fits it")
	}
	return fitting, nil
}

// base is the folder below which all lies that fits a pattern.
func base(glob string) string {
	at := "."
	for dir := range strings.SplitSeq(path.Dir(glob), "/") {
		if dir == "" || pattern.HasMeta(dir, pattern.Filenames) {
			break
		}
		at = path.Join(at, dir)
	}
	return at
}

// LinesOf returns the lines of a file below a folder, as Lines does.
func LinesOf(folder, name string) ([]string, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read
	info, err := root.Stat(name)
	var why *fs.PathError
	switch {
	case !filepath.IsLocal(name):
		return nil, errors.New("it leads out of the folder of the run")
	case errors.As(err, &why):
		return nil, why.Err
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // a pipe would be waited for
		return nil, errors.New("it is not a file")
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return Lines(f)
}

// Of finds what the tasks of a pool are about, in dir: the lines that a command of the person prints (Command), or
// else what a task file states: the names of files by a pattern, or the lines of a file; stdin gives them where that is
// "-". There is one at least. what is how the person or the task file says it, for an error.
func Of(ctx context.Context, dir, command string, each *taskfile.Each, stdin func() ([]string, error)) (found []string,
	what string, err error) {
	switch {
	case command != "":
		found, err = Command(ctx, dir, command, os.Stderr)
		return found, "--each", err
	case each.Files != "":
		found, err = Files(dir, each.Files)
		return found, "each: files: " + each.Files, err
	case each.Lines == "-":
		found, err = stdin()
		return found, "each: lines on stdin", err
	}
	found, err = LinesOf(dir, each.Lines)
	return found, "each: lines: " + each.Lines, err
}
