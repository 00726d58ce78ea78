package permission

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"claude-supervise/supervisor/text"
)

// This file is the one place where a path is followed: what is shown of a call, the rules that are offered for it, and
// the guard of the person's config all ask here. It reads links and opens nothing.

// A target is the file that a call names.
type target struct {
	Path    string // absolute and clean, as it was named
	Real    string // where its links lead, whether or not anything is there; "" if that is not known
	outside bool   // of the run's folder, by either, or perhaps
	plain   bool   // no link is on the way, so that the path says which file it is
}

// Locate finds out what a path names that a tool is given in a folder: from, which is the run's folder or where the
// agent has gone. As Claude Code does, it takes each .. for the name before it, before any link is followed.
func Locate(path, from, folder string) target {
	if !filepath.IsAbs(path) {
		path = filepath.Join(from, path)
	}
	t := target{Path: filepath.Clean(path)}
	if real, known := follow(t.Path); known {
		t.Real = real
	}
	t.plain = t.Real == t.Path
	home, known := follow(folder)
	if !known {
		home = folder
	}
	t.outside = !text.Under(t.Path, folder) && !text.Under(t.Path, home) || t.Real == "" || !text.Under(t.Real, home)
	return t
}

// maxLinks is how many links the kernel follows on the way to one file.
const maxLinks = 40

// follow returns the path, without a link in it, that the kernel would come to: what is not there yet counts as the
// folders and the file that would be made, also behind a link that leads nowhere yet. It is not known where links go
// in a circle or may not be read, nor where one leads of a process (errOfProcess).
func follow(path string) (real string, known bool) {
	real, _, err := walk(path)
	return real, err == nil
}

// errOfProcess is the error of a link such as /proc/self/cwd, which leads elsewhere for each process.
var errOfProcess = errors.New("a link of a process")

// walk is follow; on an error, real is the link that is not followed, and rest the names behind it.
func walk(path string) (real string, rest []string, err error) {
	links := 0
	real, rest = "/", strings.Split(path, "/")
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == "" || name == "." {
			continue
		}
		if name == ".." {
			real = filepath.Dir(real)
			continue
		}
		next := filepath.Join(real, name)
		to, err := os.Readlink(next)
		switch {
		case err == nil && (next == "/proc/self" || next == "/proc/thread-self"):
			real = next
		case err == nil && strings.HasPrefix(real, "/proc/"):
			return next, rest, errOfProcess
		case err == nil && links == maxLinks:
			return next, rest, syscall.ELOOP
		case err == nil:
			links++
			rest = append(strings.Split(to, "/"), rest...)
			if filepath.IsAbs(to) {
				real = "/"
			}
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOTDIR):
			real = next // it is no link
		default:
			return next, rest, err
		}
	}
	return real, nil, nil
}
